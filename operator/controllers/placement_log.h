#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "operator/api/kinds.h"

namespace weft::controllers {

// What was decided, change by change, for those who follow it: Placements that have nodes, and
// those that have them no longer.
// Cost           a change is O(log placements); the oldest of more than `kept` are forgotten.
// Thread-safety  all calls may run at once.
class PlacementLog {
 public:
  explicit PlacementLog(std::size_t kept = 8'192) : kept_(kept) {}

  // One without nodes counts as gone; an older state of what is held changes nothing.
  void Put(std::shared_ptr<const api::Placement> placement);
  void Remove(const api::ObjectKey& key);

  // Everything that has nodes, by key, and the number of the last change in it.
  struct Standing {
    std::vector<std::shared_ptr<const api::Placement>> placements;
    std::uint64_t number = 0;
  };
  Standing All() const;

  struct Change {
    std::uint64_t number = 0;  // ascending by one
    api::ObjectKey key;
    std::shared_ptr<const api::Placement> placement;  // null: gone
  };
  // What came after `number`; waits for the first for at most so long. Nothing where some of it is
  // forgotten, or the number was never given.
  std::optional<std::vector<Change>> After(std::uint64_t number,
                                           std::chrono::milliseconds patience) const;

 private:
  void Append(const api::ObjectKey& key, std::shared_ptr<const api::Placement> placement);

  const std::size_t kept_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::map<api::ObjectKey, std::shared_ptr<const api::Placement>> standing_;
  std::deque<Change> changes_;
  std::uint64_t number_ = 0;
};

}  // namespace weft::controllers
