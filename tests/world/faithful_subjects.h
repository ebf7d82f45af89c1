#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "operator/kube/resource.h"

namespace weft::world {

// A kind that scripts write: a valid object, and patches that may or may not be valid.
struct Subject {
  kube::Resource resource;
  nlohmann::json object;                 // without metadata
  std::vector<nlohmann::json> patches;   // merge patches of the object
  std::vector<nlohmann::json> statuses;  // merge patches of the status subresource
  // Paths whose change makes the object invalid, with the value: dry runs only.
  std::vector<std::pair<std::string, nlohmann::json>> wrong;
  int weight = 1;
};

const std::vector<Subject>& Subjects();
// Merge patches of metadata that any kind may get.
const std::vector<nlohmann::json>& MetadataPatches();
// JSON patches that any kind may get.
const std::vector<nlohmann::json>& JsonPatches();

}  // namespace weft::world
