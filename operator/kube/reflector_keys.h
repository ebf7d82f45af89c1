#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "operator/api/meta.h"

namespace weft::kube {

// The keys that a sink was told of, and which of them the current list has shown.
// Cost           about 100 bytes a key.
// Thread-safety  none.
class KnownKeys {
 public:
  void BeginList() { ++list_; }
  void Add(const api::ObjectKey& key) { lists_[Joined(key)] = list_; }
  void Remove(const api::ObjectKey& key) { lists_.erase(Joined(key)); }
  bool Contains(const api::ObjectKey& key) const { return lists_.contains(Joined(key)); }
  // Removes and returns the keys that the list has not shown, in order.
  std::vector<api::ObjectKey> EndList();

 private:
  static std::string Joined(const api::ObjectKey& key) { return key.space + "/" + key.name; }

  std::uint32_t list_ = 0;
  std::unordered_map<std::string, std::uint32_t> lists_;  // by key: the last list that showed it
};

}  // namespace weft::kube
