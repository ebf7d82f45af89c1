#include "operator/cluster/worker_order.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/json_member.h"
#include "operator/api/json_reader.h"
#include "operator/api/kueue.h"
#include "operator/base/natural_order.h"
#include "operator/cluster/completed_indexes.h"
#include "operator/cluster/placement_pods.h"
#include "operator/cluster/pod_labels.h"
#include "operator/cluster/text.h"

namespace weft::cluster {
namespace {

Error Wrong(const std::string& pod, const std::string& why) {
  return {ErrorKind::kInvalid, "pod " + pod + " " + why};
}

Result<std::vector<WorkerPod>> ByLabels(const api::Placement& placement,
                                        const std::vector<const api::Pod*>& pods,
                                        ByWorker<const api::Pod*> taken) {
  std::vector<WorkerPod> assigned;
  for (const api::Pod* pod : pods) {
    const std::string& name = pod->meta.key.name;
    const auto worker = WorkerIndexOf(placement, *pod);
    if (!worker) {
      return Wrong(name, "is not one of workers 0 to " + std::to_string(placement.workers - 1) +
                             " by its workerIndexLabels");
    }
    if (const api::Pod* other = taken[*worker]) {
      return Wrong(name, "and pod " + other->meta.key.name + " are both worker " +
                             std::to_string(worker->Raw()) + " by their workerIndexLabels");
    }
    taken[*worker] = pod;
    assigned.push_back({pod, *worker});
  }
  std::sort(assigned.begin(), assigned.end(),
            [](const WorkerPod& a, const WorkerPod& b) { return a.worker < b.worker; });
  return assigned;
}

Result<std::vector<WorkerPod>> ByNames(const std::vector<const api::Pod*>& pods,
                                       const ByWorker<const api::Pod*>& taken) {
  std::vector<WorkerPod> assigned;
  WorkerIndex worker;
  for (const api::Pod* pod : pods) {
    while (worker < taken.EndIndex() && taken[worker] != nullptr) ++worker;
    if (worker == taken.EndIndex()) {
      return Wrong(pod->meta.key.name,
                   "is one too many for " +
                       CountText(static_cast<std::int64_t>(taken.size()), "worker") +
                       ": narrow podSelector");
    }
    assigned.push_back({pod, worker++});
  }
  return assigned;
}

// Kueue names the index label of a Job even if it is not Indexed: its pods are then alike, and any
// order of them will do.
bool LackIndex(const api::Placement& placement, const std::vector<const api::Pod*>& pods) {
  if (!api::ControllingWorkload(placement.meta)) return false;
  const std::string& key = placement.worker_index_labels.back().key;
  return std::none_of(pods.begin(), pods.end(), [&](const api::Pod* pod) {
    return pod->meta.labels.contains(key) || pod->meta.annotations.contains(key);
  });
}

// Stands for one that has succeeded and is gone.
const api::Pod& GonePod() {
  static const api::Pod gone = [] {
    api::Pod pod;
    pod.meta.key.name = "(gone)";
    pod.phase = api::PodPhase::kSucceeded;
    return pod;
  }();
  return gone;
}

// The workers that have succeeded in the Job of the waiting pods. A pod that waits or runs as one
// of them shows that this one is needed after all.
ByWorker<bool> Remembered(const api::Placement& placement, std::size_t workers,
                          const std::vector<const api::Pod*>& pods,
                          const std::vector<const api::Pod*>& waiting) {
  const Completed completed = CompletedOf(placement);
  const api::OwnerReference* job = JobOf(waiting);
  ByWorker<bool> remembered(workers, false);
  if (job == nullptr || job->uid != completed.job) return remembered;
  remembered = ParseIndexes(completed.indexes, static_cast<std::uint32_t>(workers));
  for (const api::Pod* pod : pods) {
    auto worker = MarkedWorker(*pod, workers);
    if (HasGate(*pod) && !placement.worker_index_labels.empty()) {
      worker = WorkerIndexOf(placement, *pod);
    }
    if (worker && *worker < remembered.EndIndex() && !pod->HasEnded()) remembered[*worker] = false;
  }
  return remembered;
}

}  // namespace

Result<std::vector<WorkerPod>> AssignWorkers(const api::Placement& placement,
                                             std::vector<const api::Pod*> pods,
                                             const ByWorker<const api::Pod*>& taken) {
  std::sort(pods.begin(), pods.end(), [](const api::Pod* a, const api::Pod* b) {
    return NaturalLess(a->meta.key.name, b->meta.key.name);
  });
  if (placement.worker_index_labels.empty() || LackIndex(placement, pods)) {
    return ByNames(pods, taken);
  }
  return ByLabels(placement, pods, taken);
}

std::optional<WorkerIndex> MarkedWorker(const api::Pod& pod, std::size_t workers) {
  const std::string_view text = pod.meta.annotations.At(kWorkerIndexLabel).value_or("");
  std::uint32_t worker = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), worker);
  const bool whole = error == std::errc() && stop == text.data() + text.size();
  if (!whole || worker >= workers) return std::nullopt;
  return WorkerIndex(worker);
}

Completed CompletedOf(const api::Placement& placement) {
  if (!placement.raw) return {};
  const auto status = placement.raw->find("status");
  if (status == placement.raw->end() || !status->is_object()) return {};
  return {api::TextAt(*status, "completedJob"), api::TextAt(*status, "completedIndexes")};
}

Completed CompletedOf(const nlohmann::json& job, std::uint32_t workers) {
  api::Decoding decoding(job, "Job", api::Reading::kServed);
  const api::Field root = decoding.Root();
  Completed completed{root["metadata"]["uid"].Str(), ""};
  if (root["spec"]["completionMode"].Str() != "Indexed") return completed;
  if (root["spec"]["completions"].Int() != workers) return completed;
  completed.indexes = IndexesText(ParseIndexes(root["status"]["completedIndexes"].Str(), workers));
  return completed;
}

const api::OwnerReference* JobOf(const std::vector<const api::Pod*>& pods) {
  const api::OwnerReference* job = nullptr;
  for (const api::Pod* pod : pods) {
    const api::OwnerReference* owner = ControllerOf(*pod);
    if (owner == nullptr || owner->kind != "Job" || GroupOf(*owner) != "batch") return nullptr;
    if (job != nullptr && job->uid != owner->uid) return nullptr;
    job = owner;
  }
  return job;
}

ByWorker<const api::Pod*> DoneWorkers(const api::Placement& placement, std::size_t workers,
                                      const std::vector<const api::Pod*>& pods,
                                      const std::vector<const api::Pod*>& waiting,
                                      std::size_t running) {
  const auto attempt = [](const api::Pod& pod) { return pod.meta.labels.At(kJobSetAttempt); };
  ByWorker<const api::Pod*> done(workers, nullptr);
  std::size_t needed = waiting.size() + running;
  for (const api::Pod* pod : pods) {
    const auto worker = MarkedWorker(*pod, workers);
    if (!worker || pod->phase != api::PodPhase::kSucceeded || done[*worker] != nullptr) continue;
    if (!waiting.empty() && attempt(*pod) != attempt(*waiting.front())) continue;
    done[*worker] = pod;
    ++needed;
  }
  const ByWorker<bool> remembered = Remembered(placement, workers, pods, waiting);
  for (const WorkerIndex worker : remembered.Indices()) {
    if (!remembered[worker] || done[worker] != nullptr) continue;
    done[worker] = &GonePod();
    ++needed;
  }
  if (needed > workers) std::fill(done.begin(), done.end(), nullptr);
  return done;
}

bool IsGated(const api::Pod& pod) {
  return pod.scheduling_gates == std::vector<std::string>{api::kGate};
}

bool HasGate(const api::Pod& pod) {
  const auto& gates = pod.scheduling_gates;
  return std::find(gates.begin(), gates.end(), api::kGate) != gates.end();
}

}  // namespace weft::cluster
