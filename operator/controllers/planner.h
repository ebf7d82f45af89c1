#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operator/controllers/api_writer.h"
#include "operator/controllers/fabric_cache.h"
#include "operator/controllers/log.h"
#include "operator/controllers/store.h"
#include "operator/decide/plan.h"
#include "operator/life/next_step.h"
#include "operator/metrics/counters.h"

namespace weft::controllers {

// Places the pending workloads in the operator's order and commits each placement: creates the
// Placement and writes its nodes by compare-and-swap. One thread plans and commits, so that no two
// plans ever count on the same nodes.
//
// A pass takes all pending workloads and starts only when all commits of the last pass have been
// answered; the store has their claims by then. Passes without anything new wait for the cluster to
// change or a wait to end, and are spaced by several times what one takes.
// Thread-safety  all calls may run at once.
class Planner {
 public:
  struct Options {
    std::function<UnixSeconds()> now;
    std::string space;  // namespace of the Placements that are planned, "" all
    std::function<void(const api::ObjectKey& job)> on_answer;  // a refusal that reads differently
    std::size_t commits_at_once = 8;
    std::int64_t reserve_seconds = 600;           // a job's wait until nodes are reserved for it
    std::int64_t least_pause_milliseconds = 200;  // between passes that nobody asked for
    int pause_times = 4;                          // as long as the last pass took
    // The same refusal in other words ("... for another 9 min") is told this seldom.
    std::int64_t reword_seconds = 60;
    metrics::Counters* counters = nullptr;  // outlives the planner; null: nothing is counted
  };
  Planner(Store& store, FabricCache& cache, ApiWriter& writer, Log& log, Options options);

  // The job asks for nodes for its next attempt.
  void Ask(const api::TrainingJob& job);
  // The job no longer asks.
  void Forget(const std::string& uid);
  // The job's attempt on these nodes (by worker) is over: the next one should keep them.
  void Remember(const std::string& uid, const std::vector<std::string>& nodes);
  std::optional<life::PlanRefusal> RefusalOf(const api::TrainingJob& job) const;
  // An input of the plan has changed.
  void OnCapacity();

  // Plans until Stop.
  void Run();
  // One pass over all pending workloads, for a caller without threads.
  void Pass();
  void Stop();

 private:
  struct Refusal {
    std::int64_t generation = 0;
    life::PlanRefusal text;
    UnixSeconds told = 0;
  };

  bool AwaitWork();
  std::vector<std::string> PreviousOf(const std::string& uid) const;
  std::set<std::string> Asking() const;
  void ForgetAllBut(const std::set<std::string>& asked, const std::set<std::string>& known);
  std::optional<Store::Picture> Collect();
  void Answer(const decide::Cluster& cluster, const decide::PlanEntry& entry);
  Status Commit(const decide::Cluster& cluster, const decide::PlanEntry& entry);
  Result<api::Placement> CreateOf(const api::TrainingJob& job, const nlohmann::json& placement);
  void Refuse(const api::TrainingJob& job, const decide::Refused& refused);
  bool IsNews(const api::ObjectMeta& meta, const std::vector<api::ExcludedNode>& excluded,
              const decide::Refused& refused);
  void LookAt(UnixSeconds time);  // under the lock
  void LookAtLater(UnixSeconds time);
  void Count(const char* result, const std::string& reason) const;
  void RefusePlacement(const api::Placement& placement, const decide::Refused& refused);

  Store& store_;
  FabricCache& cache_;
  ApiWriter& writer_;
  Log& log_;
  const Options options_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  bool capacity_changed_ = false;
  bool asked_anew_ = false;
  std::optional<UnixSeconds> next_look_;  // an answer may differ then by the clock alone
  std::set<std::string> asked_;           // uids of jobs
  // Nodes of the last attempt, by uid of the job. Lost with the lead: the next leader plans a
  // restart that it did not see begin as if it were a start.
  std::map<std::string, std::vector<std::string>> previous_;
  std::map<std::string, Refusal> refusals_;  // by uid
  std::int64_t last_pass_milliseconds_ = 0;
};

}  // namespace weft::controllers
