#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "operator/api/inputs.h"
#include "operator/api/placement.h"
#include "operator/api/pod.h"
#include "operator/api/training_job.h"
#include "operator/base/worker_index.h"

namespace weft::cluster {

inline constexpr const char* kAttemptLabel = "weft.dev/attempt";
inline constexpr const char* kJobUidLabel = "weft.dev/job-uid";
inline constexpr const char* kWorkerIndexLabel = "weft.dev/worker-index";

// The attempt of a TrainingJob that a Placement represents.
struct Attempt {
  const api::TrainingJob* job = nullptr;  // null: no job owns the Placement, or the job is missing
  std::string job_name;                   // by owner or name; "" if no job owns the Placement
  std::string job_uid;                    // "" if it comes from a file
  std::optional<std::int64_t> number;     // of the attempt, by label or name
};

// Which pods belong to which Placement, and which Placement to which TrainingJob. Points into the
// inputs.
class PlacementPods {
 public:
  explicit PlacementPods(const api::Inputs& inputs);

  Attempt AttemptOf(const api::Placement& placement) const;
  // The Placement with nodes of the job's current attempt, or of the next one if it exists already.
  const api::Placement* CurrentPlacement(const api::TrainingJob& job) const;
  // The Placement's pods, as indices into inputs.pods: the pods of its job and attempt, or those
  // that its podSelector matches.
  // Cost  for a podSelector of one of the inputs' Placements: O(pods with the rarest of its
  //       matchLabels).
  std::vector<std::size_t> PodsOf(const api::Placement& placement) const;
  // Pods that the job controls. `uid`: the job's uid, or "" for any job of that name.
  std::vector<std::size_t> PodsOfJob(const api::ObjectKey& job, const std::string& uid) const;
  // The pod's worker index, by label; nothing if no label gives it.
  std::optional<WorkerIndex> WorkerOf(const api::Placement& placement, const api::Pod& pod) const;

 private:
  // By value of a label.
  using PodsByValue = std::map<std::string, std::vector<std::size_t>, std::less<>>;

  // All that the selector may match: the pods with the rarest of its labels.
  const std::vector<std::size_t>& PodsToMatch(const std::string& space,
                                              const fabric::LabelSelector& selector) const;

  const api::Inputs& inputs_;
  std::map<api::ObjectKey, const api::TrainingJob*> jobs_;
  std::map<api::ObjectKey, std::vector<const api::Placement*>> placements_of_job_;
  // Index of each pod, and the uid of the job that the pod names.
  std::map<api::ObjectKey, std::vector<std::pair<std::size_t, std::string>>> pods_of_job_;
  std::map<std::string, std::vector<std::size_t>> pods_in_space_;
  // By namespace and key; only keys of labels in the podSelectors of the namespace's Placements.
  std::map<std::string, std::map<std::string, PodsByValue>> labelled_;
};

// The pod's worker index by spec.workerIndexLabels, else by weft.dev/worker-index; nothing if no
// label gives it or the Placement has no such worker.
std::optional<WorkerIndex> WorkerIndexOf(const api::Placement& placement, const api::Pod& pod);

bool HasCondition(const std::vector<api::Condition>& conditions, const std::string& type);
// Whether the job is Complete or Failed.
bool IsFinished(const api::TrainingJob& job);

}  // namespace weft::cluster
