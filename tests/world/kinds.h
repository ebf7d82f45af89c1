#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/world/fields.h"
#include "tests/world/schema.h"

namespace weft::world {

// What the API server knows of a kind.
struct Kind {
  std::string group, version, plural, kind;
  bool namespaced = true;
  bool status = false;            // has the subresource "status"
  bool generation = false;        // counts changes of the spec
  bool unconditional = true;      // may be replaced without naming a resourceVersion
  bool create_on_update = false;  // PUT creates
  bool returns_deleted = false;   // DELETE answers with the object
  bool custom = false;            // of a CustomResourceDefinition
  std::shared_ptr<const Schema> schema = nullptr;  // null: fields are not checked
  std::shared_ptr<const Shape> shape = nullptr;    // null: has no server-side apply
  std::string resource = "";                       // "pods", "placements.weft.dev"

  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
};

// PodGroups are not among them.
std::vector<Kind> BuiltInKinds();
Kind PodGroupKind();
// The kind of a CustomResourceDefinition, in its first served version.
Kind KindOf(const nlohmann::json& definition);

}  // namespace weft::world
