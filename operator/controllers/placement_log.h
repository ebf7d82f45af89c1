#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "operator/api/kinds.h"

namespace weft::controllers {

// A log of decisions in order, for watchers: Placements that got nodes, and Placements that lost
// them. Only the last change of each Placement is held, so that the log holds at most all
// Placements and `kept` keys of deleted ones; late watchers miss changes in between.
// Cost           a change is O(log placements). Of more than `kept` that are gone the first are
//                forgotten.
// Thread-safety  all calls may run at once.
class PlacementLog {
 public:
  explicit PlacementLog(std::size_t kept = 8'192) : kept_(kept) {}

  // A Placement without nodes counts as gone; an older state than the logged one changes nothing.
  void Put(std::shared_ptr<const api::Placement> placement);
  void Remove(const api::ObjectKey& key);

  // All Placements with nodes, by key, and the number of the last change in the log.
  struct Standing {
    std::vector<std::shared_ptr<const api::Placement>> placements;
    std::uint64_t number = 0;
  };
  Standing All() const;

  struct Change {
    std::uint64_t number = 0;  // ascending
    api::ObjectKey key;
    std::shared_ptr<const api::Placement> placement;  // null: gone
  };
  // Changes after `number`, the last one of each Placement; waits at most `seconds` for the first.
  // Nothing if some of them are forgotten, or the number was never given.
  std::optional<std::vector<Change>> After(std::uint64_t number,
                                           std::chrono::milliseconds patience) const;

 private:
  void Append(const api::ObjectKey& key, std::shared_ptr<const api::Placement> placement);
  void Forget();

  const std::size_t kept_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::map<std::uint64_t, Change> changes_;         // by number
  std::map<api::ObjectKey, std::uint64_t> latest_;  // number of each Placement's change
  std::set<std::uint64_t> gone_;                    // of those, the ones without a Placement
  std::uint64_t number_ = 0;
  std::uint64_t forgotten_ = 0;  // the last that is
};

}  // namespace weft::controllers
