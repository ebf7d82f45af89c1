#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "operator/api/kinds.h"

namespace weft::decide {

inline constexpr const char* kAttemptLabel = "weft.dev/attempt";
inline constexpr const char* kWorkerIndexLabel = "weft.dev/worker-index";

// A Placement beside the TrainingJob that it is an attempt of.
struct Attempt {
  const api::TrainingJob* job = nullptr;  // null: a Placement of its own, or its job is not here
  std::string job_name;                   // by owner or name; "" for a Placement of its own
  std::string job_uid;                    // "" where it is from a file
  std::optional<std::int64_t> number;     // by label or name
};

// Which pods belong to which Placement, and which Placement to which TrainingJob. Points into the
// inputs.
class PlacementPods {
 public:
  explicit PlacementPods(const api::Inputs& inputs);

  Attempt AttemptOf(const api::Placement& placement) const;
  // The Placement with nodes of the job's current attempt, or of the next one if it exists already.
  const api::Placement* CurrentPlacement(const api::TrainingJob& job) const;
  // Pods of the Placement: of its job and attempt, or those that its podSelector matches. By index
  // into inputs.pods.
  std::vector<std::size_t> PodsOf(const api::Placement& placement) const;
  // Pods that the job controls. `uid`: the job's uid, or "" for any job of that name.
  std::vector<std::size_t> PodsOfJob(const api::ObjectKey& job, const std::string& uid) const;
  // The worker that the pod is, by label; none where the labels do not say.
  std::optional<std::uint32_t> WorkerOf(const api::Placement& placement, const api::Pod& pod) const;

 private:
  const api::Inputs& inputs_;
  std::map<api::ObjectKey, const api::TrainingJob*> jobs_;
  std::map<api::ObjectKey, std::vector<const api::Placement*>> placements_of_job_;
  // With the uid of the job that each names.
  std::map<api::ObjectKey, std::vector<std::pair<std::size_t, std::string>>> pods_of_job_;
  std::map<std::string, std::vector<std::size_t>> pods_in_space_;
};

// The worker that the pod is by spec.workerIndexLabels, else by weft.dev/worker-index; none where
// they do not say, or name none that the Placement has.
std::optional<std::uint32_t> WorkerIndexOf(const api::Placement& placement, const api::Pod& pod);

bool HasCondition(const std::vector<api::Condition>& conditions, const std::string& type);
// Complete or Failed.
bool IsFinished(const api::TrainingJob& job);

}  // namespace weft::decide
