#pragma once

#include <charconv>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "operator/api/meta.h"

namespace weft::controllers {

// resourceVersion as a number; versions of one resource are ordered (KEP-5504). 0 where it is none.
inline std::uint64_t VersionOf(const std::string& resource_version) {
  std::uint64_t version = 0;
  const char* const end = resource_version.data() + resource_version.size();
  const auto [stop, error] = std::from_chars(resource_version.data(), end, version);
  return error == std::errc() && stop == end ? version : 0;
}

// The objects of one kind by key. Takes what the watch says and what our own writes were answered
// with, whichever comes first: an older state never replaces a newer one, and an object that the
// watch saw go does not come back with a late answer.
// Thread-safety  none; the store locks.
template <typename T>
class Table {
 public:
  using Object = std::shared_ptr<const T>;

  Object Find(const api::ObjectKey& key) const {
    const auto found = objects_.find(key);
    return found == objects_.end() ? nullptr : found->second;
  }

  // What stood there before, and whether it was replaced.
  std::pair<Object, bool> Put(Object object) {
    const api::ObjectKey& key = object->meta.key;
    const std::uint64_t version = VersionOf(object->meta.resource_version);
    if (const auto gone = gone_.find(key);
        gone != gone_.end() && gone->second == object->meta.uid) {
      return {nullptr, false};
    }
    Object& place = objects_[key];
    if (place && place->meta.uid == object->meta.uid && version != 0 &&
        version < VersionOf(place->meta.resource_version)) {
      return {place, false};
    }
    return {std::exchange(place, std::move(object)), true};
  }

  Object Remove(const api::ObjectKey& key) {
    const auto found = objects_.find(key);
    if (found == objects_.end()) return nullptr;
    Object object = std::move(found->second);
    objects_.erase(found);
    Forget(key, object->meta.uid);
    return object;
  }

  // Keys of what is held in a version up to that one.
  std::vector<api::ObjectKey> UpTo(std::uint64_t version) const {
    std::vector<api::ObjectKey> keys;
    for (const auto& [key, object] : objects_) {
      if (VersionOf(object->meta.resource_version) <= version) keys.push_back(key);
    }
    return keys;
  }

  const std::map<api::ObjectKey, Object>& objects() const { return objects_; }

 private:
  // Answers come within seconds; the last few thousand objects that went are enough.
  void Forget(const api::ObjectKey& key, const std::string& uid) {
    constexpr std::size_t kRemembered = 65'536;
    gone_[key] = uid;
    order_.push_back(key);
    if (order_.size() <= kRemembered) return;
    gone_.erase(order_.front());
    order_.pop_front();
  }

  std::map<api::ObjectKey, Object> objects_;
  std::map<api::ObjectKey, std::string> gone_;  // uid of what went
  std::deque<api::ObjectKey> order_;
};

}  // namespace weft::controllers
