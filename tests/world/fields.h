#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace weft::world {

// A type as server-side apply sees it: which of its parts have an owner of their own.
struct Shape {
  enum class Form : std::uint8_t {
    kAny,     // not declared: an object is a map, everything else a leaf
    kLeaf,    // one value, also an atomic list or object
    kFields,  // an object with declared fields
    kMap,     // an object with any keys
    kSet,     // a list of different values
    kKeyed    // a list whose items are told apart by `keys`
  };
  Form form = Form::kAny;
  std::map<std::string, Shape> fields = {};
  std::shared_ptr<const Shape> element = nullptr;  // of other keys, or of a list's items
  std::vector<std::string> keys = {};
};

// The shape of an openAPIV3Schema; its `metadata` is that of all objects.
Shape ShapeOf(const nlohmann::json& openapi);
// The shape of a ConfigMap.
Shape ConfigMapShape();

// The path of a part. An element is its kind and its text: "f" a declared field, "m" a key of a
// map, "k" the keys of an item as JSON, "v" a value of a set.
using FieldPath = std::vector<std::string>;
using FieldSet = std::set<FieldPath>;

// ".spec.levels[name=\"leaf\"]", as in the causes of a conflict.
std::string TextOf(const FieldPath& path);

// The parts that a configuration sets.
FieldSet FieldsOf(const Shape& shape, const nlohmann::json& config);

struct Comparison {
  FieldSet added, changed, removed;
};
Comparison Compare(const Shape& shape, const nlohmann::json& before, const nlohmann::json& after);

// The object with the configuration in it.
nlohmann::json Merged(const Shape& shape, const nlohmann::json& live, const nlohmann::json& config);
// The object without these parts.
nlohmann::json Without(const Shape& shape, const nlohmann::json& object, const FieldSet& parts);

// Which manager owns which parts of an object.
using Owners = std::map<std::string, FieldSet>;

// What server-side apply makes of an object (structured-merge-diff, which kube-apiserver uses).
struct Applied {
  nlohmann::json object;
  Owners owners;
  FieldSet conflicts;  // parts of other managers that would change
};
Applied Apply(const Shape& shape, const nlohmann::json& live, const nlohmann::json& config,
              const Owners& owners, const std::string& manager);
// What becomes of the owners when a manager updates the object without applying.
void TakeUpdate(const Shape& shape, const nlohmann::json& before, const nlohmann::json& after,
                const std::string& manager, Owners& owners);

}  // namespace weft::world
