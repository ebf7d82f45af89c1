#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "operator/api/deletion.h"
#include "operator/api/meta.h"
#include "operator/base/check.h"
#include "operator/base/seeded_bug.h"
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
// any order: an older state never replaces a newer one, a late answer does not restore an object
// that is gone, and late news of a deletion does not remove the next object of that name.
// Thread-safety  none; the store locks.
template <typename T>
class ObjectTable {
 public:
  using Object = std::shared_ptr<const T>;

  void SetListed(bool listed) { listed_ = listed; }
  bool listed() const { return listed_; }  // completely, and still served

  Object Find(const api::ObjectKey& key) const { return objects_.Find(key); }
  typename SnapshotMap<T>::Snapshot Take() const { return objects_.Take(); }

  // Returns the previous object, and whether the new one was stored.
  std::pair<Object, bool> Put(Object object) {
    const api::ObjectMeta& meta = object->meta;
    const std::uint64_t version = VersionOf(meta.resource_version);
    const Object before = objects_.Find(meta.key);
    if (IsGone(meta, version) || (before && IsOlder(version, before->meta))) {
      return {before, false};
    }
    const Object replaced = objects_.Put(std::move(object));
    WEFT_CHECK(replaced == before);  // the indexes forget what was there
    return {before, true};
  }

  // Removes and returns the object that the deletion is about; null if it is not there any more.
  Object Remove(const api::Deletion& deletion) {
    const std::uint64_t version = VersionOf(deletion.version);
    Object object = objects_.Find(deletion.key);
    if (object && !IsAbout(deletion, version, object->meta)) object = nullptr;
    Gone gone{version == 0 ? deletion.uid : "", version};
    if (object) {
      WEFT_CHECK(objects_.Erase(deletion.key) == object);
      if (version == 0) gone.uid = object->meta.uid;
      gone.version = std::max(version, VersionOf(object->meta.resource_version));
    }
    RecordDeletion(deletion.key, gone);
    return object;
  }

 private:
  // What is known to be gone of a name.
  struct Gone {
    std::string uid;            // all states of this object; "": none
    std::uint64_t version = 0;  // and all states up to this version
    std::uint64_t turn = 0;     // number of this deletion
  };

  // All versions of one kind are ordered, whichever object they are of.
  static bool IsOlder(std::uint64_t version, const api::ObjectMeta& than) {
    return version != 0 && version < VersionOf(than.resource_version);
  }

  bool IsGone(const api::ObjectMeta& meta, std::uint64_t version) const {
    const auto found = gone_.find(meta.key);
    if (found == gone_.end()) return false;
    const Gone& gone = found->second;
    return (version != 0 && version <= gone.version) || (!gone.uid.empty() && gone.uid == meta.uid);
  }

  static bool IsAbout(const api::Deletion& deletion, std::uint64_t version,
                      const api::ObjectMeta& held) {
    if (Seeded(Bug::kLateDeletion)) return true;
    const std::uint64_t held_version = VersionOf(held.resource_version);
    if (version != 0 && held_version != 0) return held_version <= version;
    return deletion.uid.empty() || held.uid.empty() || deletion.uid == held.uid;
  }

  // Answers come within seconds, so the last few thousand deleted objects are enough. For a name
  // that was deleted twice only the last turn counts.
  void RecordDeletion(const api::ObjectKey& key, const Gone& gone) {
    constexpr std::size_t kRemembered = 65'536;
    Gone& last = gone_[key];
    if (!gone.uid.empty()) last.uid = gone.uid;
    last.version = std::max(last.version, gone.version);
    last.turn = ++turns_;
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
  bool listed_ = false;
};

}  // namespace weft::watch
