#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "operator/api/placement.h"
#include "operator/run/executor.h"

namespace weft::controllers {

// A log of decisions for watchers: Placements that got nodes or lost them, in order. It holds only
// the last change of each Placement, and of deleted Placements only the latest `kept`. A watcher
// that reads late misses the changes in between.
// Cost           O(log placements) per change. If more than `kept` Placements are gone, the oldest
//                are forgotten.
// Thread-safety  all calls may run at once.
class PlacementLog {
 public:
  static constexpr std::size_t kKept = 8'192;
  explicit PlacementLog(std::size_t kept = kKept, run::Executor& executor = run::SystemExecutor())
      : kept_(kept), changed_(executor.NewCondition()) {}

  // A Placement without nodes counts as gone. A state older than the logged one changes nothing.
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
  // The last change of each Placement after `number`; waits at most `patience` for one. Nothing if
  // some of these changes are forgotten, or the log never had that number.
  std::optional<std::vector<Change>> After(std::uint64_t number,
                                           std::chrono::milliseconds patience) const;

 private:
  void Append(const api::ObjectKey& key, std::shared_ptr<const api::Placement> placement);
  void DropOldestGone();

  const std::size_t kept_;
  mutable std::mutex mutex_;
  const std::unique_ptr<run::Condition> changed_;
  std::map<std::uint64_t, Change> changes_;         // by number
  std::map<api::ObjectKey, std::uint64_t> latest_;  // number of each Placement's change
  std::set<std::uint64_t> gone_;                    // numbers of changes whose Placement is gone
  std::uint64_t number_ = 0;
  std::uint64_t forgotten_ = 0;  // number of the last forgotten change
};

}  // namespace weft::controllers
