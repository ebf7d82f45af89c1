#include "operator/cluster/placement_pods.h"

#include <algorithm>
#include <charconv>

#include "operator/base/units.h"
#include "operator/cluster/gang_members.h"
#include "operator/cluster/job_owner.h"
#include "operator/cluster/pod_labels.h"

namespace weft::cluster {
namespace {

std::optional<std::int64_t> ParseNumber(std::string_view text) {
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || stop != text.data() + text.size() || value < 0) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::int64_t> LabelNumber(const TextMap& labels, std::string_view key) {
  const auto found = labels.find(key);
  return found == labels.end() ? std::nullopt : ParseNumber(found->second);
}

// What the label counts as on the pod, before its stride.
std::optional<std::int64_t> NumberOf(const api::IndexLabel& label, const api::Pod& pod) {
  if (label.values.empty()) return FindNumber(pod, label.key);
  const auto value = label.values.find(FindLabel(pod, label.key).value_or(""));
  return value == label.values.end() ? std::nullopt : std::optional(value->second);
}

}  // namespace

bool HasCondition(const std::vector<api::Condition>& conditions, const std::string& type) {
  return std::any_of(conditions.begin(), conditions.end(), [&](const api::Condition& condition) {
    return condition.type == type && condition.status == "True";
  });
}

bool IsFinished(const api::TrainingJob& job) {
  return HasCondition(job.conditions, "Complete") || HasCondition(job.conditions, "Failed");
}

PlacementPods::PlacementPods(const api::Inputs& inputs) : inputs_(inputs) {
  for (const api::TrainingJob& job : inputs.jobs) jobs_[job.meta.key] = &job;
  for (const api::Placement& placement : inputs.placements) {
    const Attempt attempt = AttemptOf(placement);
    if (attempt.job != nullptr) placements_of_job_[attempt.job->meta.key].push_back(&placement);
    if (!placement.pod_selector) continue;
    for (const auto& [key, value] : placement.pod_selector->match_labels) {
      labelled_[placement.meta.key.space][key];
    }
  }
  for (std::size_t p = 0; p < inputs.pods.size(); ++p) {
    const api::ObjectMeta& meta = inputs.pods[p].meta;
    pods_in_space_[meta.key.space].push_back(p);
    if (const auto keys = labelled_.find(meta.key.space); keys != labelled_.end()) {
      for (auto& [key, pods] : keys->second) {
        if (const auto value = meta.labels.At(key)) pods[std::string(*value)].push_back(p);
      }
    }
    if (auto owner = JobOwnerOf(meta)) {
      pods_of_job_[{meta.key.space, owner->name}].push_back({p, std::move(owner->uid)});
    }
  }
}

// The owner names the job. For a Placement from a file, so does its name "<job>-<attempt>", if the
// inputs have such a job.
Attempt PlacementPods::AttemptOf(const api::Placement& placement) const {
  Attempt attempt;
  const std::string& name = placement.meta.key.name;
  const std::size_t dash = name.rfind('-');
  if (dash != name.npos) attempt.number = ParseNumber(std::string_view(name).substr(dash + 1));
  if (auto owner = JobOwnerOf(placement.meta)) {
    attempt.job_name = std::move(owner->name);
    attempt.job_uid = std::move(owner->uid);
    if (const auto number = LabelNumber(placement.meta.labels, kAttemptLabel)) {
      attempt.number = number;
    }
  } else if (placement.meta.uid.empty() && attempt.number && !placement.nodes.empty() &&
             !placement.pod_selector) {
    const std::string job = name.substr(0, dash);
    if (jobs_.contains({placement.meta.key.space, job})) attempt.job_name = job;
  }
  if (attempt.job_name.empty()) return {};
  const auto job = jobs_.find({placement.meta.key.space, attempt.job_name});
  const JobOwner owner{attempt.job_name, attempt.job_uid};
  if (job != jobs_.end() && owner.Is(job->second->meta.uid)) attempt.job = job->second;
  return attempt;
}

const api::Placement* PlacementPods::CurrentPlacement(const api::TrainingJob& job) const {
  const auto found = placements_of_job_.find(job.meta.key);
  if (found == placements_of_job_.end()) return nullptr;
  for (const api::Placement* placement : found->second) {
    if (placement->nodes.empty() || placement->meta.deleting) continue;
    if (AttemptOf(*placement).number.value_or(job.attempt) >= job.attempt) return placement;
  }
  return nullptr;
}

std::vector<std::size_t> PlacementPods::PodsOfJob(const api::ObjectKey& job,
                                                  const std::string& uid) const {
  std::vector<std::size_t> pods;
  const auto found = pods_of_job_.find(job);
  if (found == pods_of_job_.end()) return pods;
  for (const auto& [p, owner] : found->second) {
    if (JobOwner{"", owner}.Is(uid)) pods.push_back(p);
  }
  return pods;
}

const std::vector<std::size_t>& PlacementPods::PodsToMatch(
    const std::string& space, const fabric::LabelSelector& selector) const {
  static const std::vector<std::size_t> kNone;
  const auto all = pods_in_space_.find(space);
  if (all == pods_in_space_.end()) return kNone;
  const std::vector<std::size_t>* fewest = &all->second;
  const auto keys = labelled_.find(space);
  if (keys == labelled_.end()) return *fewest;
  for (const auto& [key, value] : selector.match_labels) {
    const auto known = keys->second.find(key);
    if (known == keys->second.end()) continue;
    const auto pods = known->second.find(value);
    if (pods == known->second.end()) return kNone;
    if (pods->second.size() < fewest->size()) fewest = &pods->second;
  }
  return *fewest;
}

std::vector<std::size_t> PlacementPods::PodsOf(const api::Placement& placement) const {
  std::vector<std::size_t> pods;
  const std::string& space = placement.meta.key.space;
  if (placement.pod_selector) {
    for (const std::size_t p : PodsToMatch(space, *placement.pod_selector)) {
      if (Selects(placement, inputs_.pods[p])) pods.push_back(p);
    }
    KeepPresent(placement, pods, [&](std::size_t p) -> const api::Pod& { return inputs_.pods[p]; });
    return pods;
  }
  const Attempt attempt = AttemptOf(placement);
  if (attempt.job_name.empty()) return pods;
  for (const std::size_t p : PodsOfJob({space, attempt.job_name}, attempt.job_uid)) {
    const auto number = LabelNumber(inputs_.pods[p].meta.labels, kAttemptLabel);
    if (!number || !attempt.number || *number == *attempt.number) pods.push_back(p);
  }
  return pods;
}

std::optional<WorkerIndex> PlacementPods::WorkerOf(const api::Placement& placement,
                                                   const api::Pod& pod) const {
  return WorkerIndexOf(placement, pod);
}

std::optional<WorkerIndex> WorkerIndexOf(const api::Placement& placement, const api::Pod& pod) {
  std::optional<std::int64_t> index;
  if (placement.worker_index_labels.empty()) {
    index = FindNumber(pod, kWorkerIndexLabel);
  } else {
    index = 0;
    for (const api::IndexLabel& label : placement.worker_index_labels) {
      const auto number = NumberOf(label, pod);
      if (!number) return std::nullopt;
      index = SaturatingAdd(*index, SaturatingMultiply(*number, label.stride));
    }
  }
  if (!index || *index >= placement.workers) return std::nullopt;
  return WorkerIndex(static_cast<std::uint32_t>(*index));
}

}  // namespace weft::cluster
