#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/meta.h"
#include "operator/kube/transport.h"

namespace weft::world {

// Which objects a list or watch asks for, by its query.
class Selector {
 public:
  // Nothing if a selector cannot be read.
  static std::optional<Selector> Of(const kube::Request& request);

  bool empty() const { return labels_.empty() && fields_.empty(); }
  bool Matches(const nlohmann::json& object) const;
  // The name that metadata.name must have; "" if any.
  std::string Name() const;
  // The part of it that names a pod's node, by which the API server finds pods without looking at
  // all of them.
  Selector OfNode() const;
  // A field that no selector may name for this kind; "" if there is none.
  std::string BadField(const std::string& resource) const;

 private:
  struct Requirement {
    enum class Kind : std::uint8_t { kIn, kNotIn, kExists, kAbsent };
    std::string key;
    Kind kind = Kind::kIn;
    std::vector<std::string> values;
  };
  static std::optional<Requirement> RequirementOf(const std::string& text);
  static bool Matches(const Requirement& requirement, const nlohmann::json* value);

  std::vector<Requirement> labels_, fields_;
};

}  // namespace weft::world
