#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/world/kueue.h"
#include "tests/world/kueue_jobs.h"
#include "tests/world/kueue_laws.h"

namespace weft::world {

// Everything of Kueue in a world: the models, queues, who submits to them,
// what goes wrong, and laws.
class KueueCluster {
 public:
  struct Options {
    std::vector<std::string> spaces;  // each with a LocalQueue of its own ClusterQueue
    std::int64_t nodes = 64;          // of 8 GPUs
    std::function<std::int64_t()> now_seconds;
    std::function<void(std::chrono::seconds)> break_watches;
    std::uint64_t seed = 1;
  };
  KueueCluster(Fibers& fibers, ApiServer& server, Laws& laws, Options options);

  void MakeQueues();
  void OnChange(const Change& change);
  // Kueue's webhooks.
  std::optional<kube::Response> Admit(const ApiServer::Attempt& attempt) const;
  // What has to do with time.
  void Tick(bool hard) { laws_.Tick(hard || !kueue_.works()); }

  // Puts some of the TrainingJobs in a queue. What has a number is the same whichever others of the
  // day are left out.
  void Dress(Json& training_job, std::size_t number);
  // The same with Jobs.
  void DressJob(Json& job, std::size_t number);

  // TrainingJobs that wait for nodes with labels that no flavor of their queue has.
  std::set<std::string> OldAssignments() const;

  // One random fault of this seed's part; what it did, "" for nothing.
  std::string Strike(std::size_t number);
  // etcd is as it was before.
  void OnRestore();
  // Ends what lasts, and whoever deactivated something takes it back.
  void EndAll();
  // After the evening.
  void LookAtEvening(Laws& laws) const;

 private:
  using Fault = std::pair<const char*, std::string (KueueCluster::*)()>;
  // kueue_faults.cc
  void ChooseFaults();
  std::string PreemptOne();
  std::string Deactivate();
  std::string DeleteWorkload();
  std::string ChangeQuota();
  std::string ChangeFlavor();
  std::string WidenFlavor();
  std::string SpoilJob();
  std::string RemakeWorkload();
  void OnceThereIs(std::function<bool(const Json&)> is, std::function<void(const Json&)> act,
                   int tries = 900);
  std::shared_ptr<const Json> JobOfWorkload(const Json& workload) const;
  void Spoil(const api::ObjectKey& workload, const Json& job);
  std::string StopQueue();
  std::string Silence();
  std::string Restart();
  std::string DeleteJob();
  std::string DeleteJobsPod();
  void RestoreFlavor();
  void SetQuota(const std::string& space, std::int64_t gpus);
  void Activate(const Json& workload);
  void ActivateAll();

  void MakeLocalQueue(const std::string& space);
  Json QueueOf(const std::string& space, std::int64_t gpus) const;
  std::shared_ptr<const Json> AnyWorkload(const std::function<bool(const Json&)>& is);
  std::chrono::seconds Some(std::uint64_t least, std::uint64_t most);
  std::uint64_t Below(std::uint64_t count) { return chance_.Below(count); }

  Fibers& fibers_;
  Actor admin_, user_;
  const Options options_;
  SplitMix64 chance_;
  Kueue kueue_;
  KueueJobs jobs_;
  KueueLaws laws_;
  std::vector<Fault> chosen_;
};

}  // namespace weft::world
