#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "operator/base/worker_index.h"
#include "operator/life/job_step.h"
#include "operator/life/job_view.h"

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
  ByWorker<bool> seen, succeeded;  // of life::JobView
  life::LifeOptions options;
  // Those that are not well. Their kubelets confirm no end of a pod, but for nodes with `faults`.
  std::map<std::string, life::NodeState> nodes;

  // How the cluster answers.
  bool room = true;
  std::string no_room = "24 nvidia.com/gpu short";
  std::string not_admitted;                  // the words of admission about worker 0, on trial
  std::size_t quota = ~std::size_t{0};       // pods that may exist at once
  std::vector<api::Condition> of_placement;  // what the planner says of its next answer
  // A scheduler and kubelets meet a new pod that is pinned to a node; default: bound and ready.
  std::function<void(api::Pod&, const std::string&)> on_created;
  std::function<void(const life::JobStatus&)> on_status;
  // Kueue, for a job in one of its queues: what the job knows of it, and the steps that concern it.
  std::optional<life::QueueView> queue;
  std::function<void(const life::JobStep&)> on_queue = [](const life::JobStep&) { std::abort(); };

  // What was written. A create that admission refuses counts, but for pods no create or delete.
  struct Counts {
    int status = 0, objects = 0, trials = 0, refused = 0;
    int pods_created = 0, pods_deleted = 0;
    int writes() const { return status + objects + trials + refused; }
  } counts;

  life::JobStatus status() const { return life::StatusOf(job); }
  life::JobView View() const;
  void Store(const life::JobStatus& next);

  // Steps until nothing is left to do, at most so many; what the last one waits for. Nothing where
  // it does not come to rest.
  std::optional<life::Wait> Settle(int most = 200);
  // For so long, waking when a wait ends or every `tick` seconds; `each` sees every moment.
  // False where it does not come to rest.
  bool RunFor(
      std::int64_t seconds, std::int64_t tick, const std::function<void()>& each = [] {});

 private:
  void Do(const life::AddFinalizer& step);
  void Do(const life::RemoveFinalizer& step);
  void Do(const life::DryRun& step);
  void Do(const life::RequestPlacement& step);
  void Do(const life::CreateService& step);
  void Do(const life::DeleteService& step);
  void Do(const life::CreatePods& step);
  void Do(const life::DeletePods& step);
  void Do(const life::DeletePlacements& step);
  void Do(const life::DeleteFiles& step);
  void Do(const life::DeleteJob& step);
  void Do(const life::WriteStatus& step);
  void Do(const life::Wait& step);
  // The steps of a job in a queue of Kueue.
  template <typename Step>
  void Do(const Step& step) {
    on_queue(step);
  }

  void Create(std::int64_t attempt, std::uint32_t worker);
  std::string NodeOf(std::int64_t attempt, std::uint32_t worker) const;

  bool refused_ = false;
  UnixSeconds tried_ = 0, counted_ = 0, created_ = 0;
  mutable UnixSeconds start_differs_ = 0;
  std::int64_t valid_of_ = 0;  // the generation that was found valid
};

}  // namespace weft::testing
