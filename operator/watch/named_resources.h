#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "operator/fabric/node_facts.h"

namespace weft::watch {

// The accelerator resources that Weft does not know by name: those of the operator's settings, and
// those that objects name, with the number of objects that name each.
class NamedResources {
 public:
  explicit NamedResources(std::vector<std::string> settings) : settings_(std::move(settings)) {}

  // Whether the set of names changes. Null: the object is new, or is gone.
  template <typename T>
  bool Change(const T* before, const T* now) {
    const bool added = now != nullptr && Add(now->accelerator.resource_name);
    return (before != nullptr && Remove(before->accelerator.resource_name)) || added;
  }

  const std::vector<std::string>& settings() const { return settings_; }
  // Those that objects name.
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& [name, objects] : objects_) names.push_back(name);
    return names;
  }

 private:
  bool Add(const std::string& name) {
    return !fabric::IsAcceleratorResource(name) && ++objects_[name] == 1;
  }
  bool Remove(const std::string& name) {
    const auto found = objects_.find(name);
    if (found == objects_.end() || --found->second > 0) return false;
    objects_.erase(found);
    return true;
  }

  std::vector<std::string> settings_;
  std::map<std::string, std::size_t> objects_;
};

}  // namespace weft::watch
