#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/world/cause.h"

namespace weft::world {

// The schema of a CustomResourceDefinition: what the API server drops, adds and refuses. Validation
// rules (x-kubernetes-validations) are left out.
class Schema {
 public:
  // `openapi`: openAPIV3Schema. Aborts if it is not a structural schema.
  explicit Schema(const nlohmann::json& openapi);
  ~Schema();

  // Drops fields that the schema does not name, and fills in defaults. The names of dropped fields
  // are added to `unknown`.
  void PruneAndDefault(nlohmann::json& object, std::vector<std::string>& unknown) const;
  void Check(const nlohmann::json& object, Causes& causes) const;

  struct Node;

 private:
  std::unique_ptr<Node> root_;
  bool has_rules_ = false;
};

}  // namespace weft::world
