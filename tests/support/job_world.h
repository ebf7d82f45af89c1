#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "operator/decide/next_step.h"

namespace weft::testing {

// One TrainingJob in a cluster that a test bends: carries out the steps of its life as an API
// server, a planner, a scheduler and kubelets would, on a clock of its own.
class JobWorld {
 public:
  explicit JobWorld(std::uint32_t workers);

  api::TrainingJob job;
  std::vector<std::string> fleet;  // the planner takes the first that are not left out
  std::vector<std::unique_ptr<api::Pod>> pods;
  std::vector<std::unique_ptr<api::Placement>> placements;
  UnixSeconds now = 1'800'000'000;
  bool service = false;
  decide::LifeOptions options;
  std::map<std::string, decide::NodeState> nodes;  // those that are not well

  // How the cluster answers.
  bool room = true;
  std::string no_room = "24 nvidia.com/gpu short";
  std::string not_admitted;             // the words of admission about worker 0, on trial
  std::size_t quota = ~std::size_t{0};  // pods that may exist at once
  // A scheduler and kubelets meet a new pod that is pinned to a node; default: bound and ready.
  std::function<void(api::Pod&, const std::string&)> on_created;
  std::function<void(const decide::JobStatus&)> on_status;

  // What was written. A create that admission refuses counts, but for pods no create or delete.
  struct Counts {
    int status = 0, objects = 0, trials = 0, refused = 0;
    int pods_created = 0, pods_deleted = 0;
    int writes() const { return status + objects + trials + refused; }
  } counts;

  decide::JobStatus status() const { return decide::StatusOf(job); }
  decide::JobView View() const;
  void Store(const decide::JobStatus& next);

  // Steps until nothing is left to do, at most so many; what the last one waits for. Nothing where
  // it does not come to rest.
  std::optional<decide::Wait> Settle(int most = 200);
  // For so long, waking when a wait ends or every `tick` seconds; `each` sees every moment.
  // False where it does not come to rest.
  bool RunFor(
      std::int64_t seconds, std::int64_t tick, const std::function<void()>& each = [] {});

 private:
  void Do(const decide::AddFinalizer& step);
  void Do(const decide::RemoveFinalizer& step);
  void Do(const decide::DryRun& step);
  void Do(const decide::AskPlanner& step);
  void Do(const decide::CreateService& step);
  void Do(const decide::CreatePods& step);
  void Do(const decide::DeletePods& step);
  void Do(const decide::DeletePlacements& step);
  void Do(const decide::DeleteJob& step);
  void Do(const decide::WriteStatus& step);
  void Do(const decide::Wait& step);

  void Create(std::int64_t attempt, std::uint32_t worker);
  std::string NodeOf(std::int64_t attempt, std::uint32_t worker) const;

  bool refused_ = false;
  UnixSeconds tried_ = 0, counted_ = 0, created_ = 0;
  std::int64_t valid_of_ = 0;  // the generation that was found valid
};

}  // namespace weft::testing
