#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "operator/api/meta.h"
#include "operator/base/check.h"

namespace weft::watch {

template <typename T>
const api::ObjectKey& KeyOf(const T& object) {
  return object.meta.key;
}

// Objects in the order of their keys, in blocks. A snapshot is a list of blocks, and a block that a
// snapshot shares is never changed: a writer copies the block first. So a reader of a hundred
// thousand objects does not block writers.
//
// Shapes  every block has 1 to kMost objects; keys ascend through all blocks.
// Cost    Find O(log n). Put, Erase O(log n + kMost + n / kMost). Take O(n / kMost); after a Take,
//         the first change of each block O(kMost) more.
// Thread-safety  none; the store locks. A Snapshot is independent of the map.
template <typename T>
class SnapshotMap {
 public:
  using Object = std::shared_ptr<const T>;
  static constexpr std::size_t kMost = 256;

 private:
  struct Block {
    std::uint64_t epoch = 0;  // the map's epoch when the block was made
    std::vector<Object> objects;
  };
  using Blocks = std::vector<std::shared_ptr<Block>>;

  static bool Before(const Object& object, const api::ObjectKey& key) {
    return KeyOf(*object) < key;
  }
  // The only block that may have the key.
  static std::size_t BlockOf(const Blocks& blocks, const api::ObjectKey& key) {
    const auto behind = std::upper_bound(blocks.begin(), blocks.end(), key,
                                         [](const api::ObjectKey& one, const auto& block) {
                                           return one < KeyOf(*block->objects.front());
                                         });
    return behind == blocks.begin() ? 0 : static_cast<std::size_t>(behind - blocks.begin()) - 1;
  }
  static Object FindIn(const Blocks& blocks, const api::ObjectKey& key) {
    if (blocks.empty()) return nullptr;
    const std::vector<Object>& objects = blocks[BlockOf(blocks, key)]->objects;
    const auto found = std::lower_bound(objects.begin(), objects.end(), key, Before);
    return found != objects.end() && KeyOf(**found) == key ? *found : nullptr;
  }

 public:
  SnapshotMap() = default;
  SnapshotMap(const SnapshotMap&) = delete;
  SnapshotMap& operator=(const SnapshotMap&) = delete;

  // All objects as they were at one moment.
  class Snapshot {
   public:
    Snapshot() = default;
    std::size_t size() const { return size_; }
    Object Find(const api::ObjectKey& key) const { return FindIn(blocks_, key); }
    // Calls `use` for every object, in order.
    template <typename Use>
    void Each(const Use& use) const {
      for (const auto& block : blocks_) {
        for (const Object& object : block->objects) use(object);
      }
    }
    // Calls `use` for every object of one namespace, in order.
    template <typename Use>
    void EachIn(const std::string& space, const Use& use) const {
      const api::ObjectKey first{space, ""};
      for (std::size_t b = BlockOf(blocks_, first); b < blocks_.size(); ++b) {
        const std::vector<Object>& objects = blocks_[b]->objects;
        auto object = std::lower_bound(objects.begin(), objects.end(), first, Before);
        for (; object != objects.end(); ++object) {
          if (KeyOf(**object).space != space) return;
          use(*object);
        }
      }
    }

   private:
    friend class SnapshotMap;
    Blocks blocks_;
    std::size_t size_ = 0;
  };

  Snapshot Take() const {
    ++epoch_;
    Snapshot snapshot;
    snapshot.blocks_ = blocks_;
    snapshot.size_ = size_;
    return snapshot;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Object Find(const api::ObjectKey& key) const { return FindIn(blocks_, key); }

  // Returns the replaced object.
  Object Put(Object object) {
    WEFT_CHECK(object != nullptr);
    const api::ObjectKey key = KeyOf(*object);
    if (blocks_.empty()) {
      Insert(0, {std::move(object)});
      ++size_;
      return nullptr;
    }
    const std::size_t b = BlockOf(blocks_, key);
    std::vector<Object>& objects = Own(b);
    const auto place = std::lower_bound(objects.begin(), objects.end(), key, Before);
    if (place != objects.end() && KeyOf(**place) == key) {
      return std::exchange(*place, std::move(object));
    }
    ++size_;
    const bool last = place == objects.end();
    if (objects.size() < kMost) {
      objects.insert(place, std::move(object));
    } else if (last) {  // lists arrive in order: fill blocks
      Insert(b + 1, {std::move(object)});
    } else {
      objects.insert(place, std::move(object));
      const auto half = objects.begin() + kMost / 2;
      std::vector<Object> upper(std::make_move_iterator(half),
                                std::make_move_iterator(objects.end()));
      objects.erase(half, objects.end());
      Insert(b + 1, std::move(upper));
    }
    WEFT_DCHECK(Ascends(b) && (b + 1 == blocks_.size() || Ascends(b + 1)));
    return nullptr;
  }

  // Returns the removed object.
  Object Erase(const api::ObjectKey& key) {
    if (Find(key) == nullptr) return nullptr;
    const std::size_t b = BlockOf(blocks_, key);
    std::vector<Object>& objects = Own(b);
    const auto place = std::lower_bound(objects.begin(), objects.end(), key, Before);
    WEFT_CHECK(place != objects.end() && KeyOf(**place) == key && size_ > 0);  // Find saw it
    Object object = std::move(*place);
    objects.erase(place);
    --size_;
    if (objects.empty()) {
      Remove(b);
    } else if (b + 1 < blocks_.size() &&
               objects.size() + blocks_[b + 1]->objects.size() <= kMost / 2) {
      const std::vector<Object>& next = blocks_[b + 1]->objects;
      objects.insert(objects.end(), next.begin(), next.end());
      Remove(b + 1);
    }
    return object;
  }

 private:
  std::shared_ptr<Block> Make(std::vector<Object> objects) const {
    return std::make_shared<Block>(Block{epoch_, std::move(objects)});
  }
  // The block's objects; first copies them if a snapshot shares them.
  std::vector<Object>& Own(std::size_t b) {
    WEFT_CHECK(b < blocks_.size() && blocks_[b]->epoch <= epoch_);
    if (blocks_[b]->epoch != epoch_) blocks_[b] = Make(blocks_[b]->objects);
    return blocks_[b]->objects;
  }
  // Whether the keys ascend in the block and to the next one.
  bool Ascends(std::size_t b) const {
    const std::vector<Object>& objects = blocks_[b]->objects;
    for (std::size_t i = 1; i < objects.size(); ++i) {
      if (!(KeyOf(*objects[i - 1]) < KeyOf(*objects[i]))) return false;
    }
    if (b + 1 == blocks_.size()) return true;
    return KeyOf(*objects.back()) < KeyOf(*blocks_[b + 1]->objects.front());
  }
  void Insert(std::size_t b, std::vector<Object> objects) {
    WEFT_CHECK(!objects.empty() && b <= blocks_.size());  // no block is empty
    blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(b), Make(std::move(objects)));
  }
  void Remove(std::size_t b) { blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(b)); }

  Blocks blocks_;
  std::size_t size_ = 0;
  mutable std::uint64_t epoch_ = 0;  // number of snapshots taken
};

}  // namespace weft::watch
