#pragma once

#include <charconv>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "operator/api/meta.h"
#include "operator/base/check.h"
#include "operator/watch/snapshot_map.h"

namespace weft::watch {

// A resourceVersion as a number; versions of one resource are ordered (KEP-5504). 0 if it is not a
// number.
inline std::uint64_t VersionOf(const std::string& resource_version) {
  std::uint64_t version = 0;
  const char* const end = resource_version.data() + resource_version.size();
  const auto [stop, error] = std::from_chars(resource_version.data(), end, version);
  return error == std::errc() && stop == end ? version : 0;
}

// The objects of one kind by key. They come from the watch and from answers to our own writes, in
// any order: an older state never replaces a newer one, and a late answer does not restore an
// object that the watch reported as deleted.
// Thread-safety  none; the store locks.
template <typename T>
class ObjectTable {
 public:
  using Object = std::shared_ptr<const T>;

  Object Find(const api::ObjectKey& key) const { return objects_.Find(key); }
  typename SnapshotMap<T>::Snapshot Take() const { return objects_.Take(); }

  // Returns the previous object, and whether the new one was stored.
  std::pair<Object, bool> Put(Object object) {
    const api::ObjectMeta& meta = object->meta;
    if (const auto gone = gone_.find(meta.key);
        gone != gone_.end() && !meta.uid.empty() && gone->second.uid == meta.uid) {
      return {nullptr, false};
    }
    const std::uint64_t version = VersionOf(meta.resource_version);
    const Object before = objects_.Find(meta.key);
    if (before && before->meta.uid == meta.uid && version != 0 &&
        version < VersionOf(before->meta.resource_version)) {
      return {before, false};
    }
    const Object replaced = objects_.Put(std::move(object));
    WEFT_CHECK(replaced == before);  // the indexes forget what was there
    return {before, true};
  }

  Object Remove(const api::ObjectKey& key) {
    Object object = objects_.Erase(key);
    if (object) RecordDeletion(key, object->meta.uid);
    return object;
  }

 private:
  struct Gone {
    std::string uid;
    std::uint64_t turn = 0;  // number of this deletion
  };

  // Answers come within seconds, so the last few thousand deleted objects are enough. For a name
  // that was deleted twice only the last turn counts.
  void RecordDeletion(const api::ObjectKey& key, const std::string& uid) {
    constexpr std::size_t kRemembered = 65'536;
    gone_[key] = {uid, ++turns_};
    order_.emplace_back(turns_, key);
    if (order_.size() <= kRemembered) return;
    const auto& [turn, oldest] = order_.front();
    const auto found = gone_.find(oldest);
    if (found != gone_.end() && found->second.turn == turn) gone_.erase(found);
    WEFT_CHECK(gone_.size() <= order_.size());  // each has a turn, so none stays for ever
    order_.pop_front();
  }

  SnapshotMap<T> objects_;
  std::map<api::ObjectKey, Gone> gone_;
  std::deque<std::pair<std::uint64_t, api::ObjectKey>> order_;
  std::uint64_t turns_ = 0;
};

}  // namespace weft::watch
