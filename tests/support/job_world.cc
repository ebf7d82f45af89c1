#include "tests/support/job_world.h"

#include <algorithm>
#include <set>
#include <utility>
#include <variant>

#include "operator/api/conditions.h"
#include "operator/cluster/placement_pods.h"
#include "operator/life/accept.h"
#include "operator/life/attempt.h"
#include "operator/life/attempt_labels.h"
#include "operator/life/exclusion.h"
#include "operator/life/made_for.h"
#include "operator/life/next_step.h"
#include "operator/life/start_telling.h"

namespace weft::testing {

JobWorld::JobWorld(std::uint32_t workers) {
  job.meta.key = {"team-a", "llama"};
  job.meta.uid = "5d3f1c0e-0000-4000-8000-000000000001";
  job.meta.generation = 1;
  job.replicas = workers;
  job.framework.type = api::FrameworkType::kTorch;
  for (std::uint32_t i = 0; i < 2 * workers + 8; ++i) fleet.push_back("n" + std::to_string(i));
}

std::optional<life::Wait> JobWorld::Settle(int most) {
  for (int i = 0; i < most; ++i) {
    const life::JobStep step = life::NextStep(View(), options);
    if (const auto* wait = std::get_if<life::Wait>(&step)) return *wait;
    std::visit([&](const auto& one) { Do(one); }, step);
  }
  return std::nullopt;
}

bool JobWorld::RunFor(std::int64_t seconds, std::int64_t tick, const std::function<void()>& each) {
  const UnixSeconds end = now + seconds;
  while (now < end) {
    const auto wait = Settle();
    if (!wait) return false;
    each();
    const std::int64_t pause = std::min(wait->seconds.value_or(tick), tick);
    now += std::clamp<std::int64_t>(pause, 1, end - now);
  }
  return true;
}

life::JobView JobWorld::View() const {
  life::JobView view;
  view.job = &job;
  for (const auto& placement : placements) view.placements.push_back(placement.get());
  for (const auto& pod : pods) view.pods.push_back(pod.get());
  view.service = service;
  view.node_state = [this](const std::string& name) {
    const auto found = nodes.find(name);
    return found == nodes.end() ? life::NodeState{} : found->second;
  };
  if (refused_) view.refusal = Refusal{"InsufficientCapacity", no_room};
  view.now = now;
  start_differs_ = life::StartDiffersSince(view, options, start_differs_);
  view.start_differs = start_differs_;
  view.counted = counted_;
  view.tried = tried_;
  view.created = created_;
  view.seen = seen;
  view.succeeded = succeeded;
  if (valid_of_ == job.meta.generation) view.valid = "the job is valid";
  view.queue = queue;
  return view;
}

void JobWorld::Store(const life::JobStatus& next) {
  ++counts.status;
  if (on_status) on_status(next);
  job.attempt = next.attempt;
  job.placement_name = next.placement_name;
  job.conditions = next.conditions;
  job.record = next.record;
  counted_ = now;
}

void JobWorld::Do(const life::AddFinalizer&) {
  ++counts.objects;
  job.meta.finalizers.push_back(life::kFinalizer);
}

void JobWorld::Do(const life::RemoveFinalizer&) {
  ++counts.objects;
  std::erase(job.meta.finalizers, life::kFinalizer);
}

void JobWorld::Do(const life::DryRun&) {
  ++counts.trials;
  tried_ = now;
  valid_of_ = not_admitted.empty() ? job.meta.generation : 0;
  if (not_admitted.empty()) return;
  const life::JobStatus next = life::AfterTrialRefused(View(), not_admitted);
  if (next != status()) Store(next);
}

// Of the planner nothing but that it looks again when there is room.
void JobWorld::Do(const life::RequestPlacement&) {
  const std::vector<std::string> excluded = life::ExcludedAt(job.record.excluded, now);
  const std::set<std::string> out(excluded.begin(), excluded.end());
  auto placement = std::make_unique<api::Placement>();
  for (const std::string& node : fleet) {
    if (placement->nodes.size() == job.replicas) break;
    if (!out.contains(node)) placement->nodes.push_back(node);
  }
  refused_ = !room || placement->nodes.size() < job.replicas;
  if (refused_) return;
  const std::int64_t attempt = job.attempt + 1;
  placement->meta.key = {"team-a", "llama-" + std::to_string(attempt)};
  placement->meta.labels.Set(cluster::kAttemptLabel, std::to_string(attempt));
  placement->meta.annotations.Set(life::kMadeForAnnotation, life::MadeFor(job));
  placement->workers = job.replicas;
  placement->accelerator = job.accelerator;
  placement->parallelism = job.parallelism;
  placement->topology = job.topology;
  placement->conditions = of_placement;
  counts.objects += 2;  // created, then its nodes
  placements.push_back(std::move(placement));
}

void JobWorld::Do(const life::DeleteService&) {
  ++counts.objects;
  service = false;
}

void JobWorld::Do(const life::CreateService&) {
  ++counts.objects;
  created_ = now;
  service = true;
}

void JobWorld::Do(const life::CreatePods& step) {
  for (const WorkerIndex worker : step.workers) {
    if (pods.size() >= quota) {
      ++counts.refused;
      valid_of_ = 0;
      return Store(life::AfterCreateRefused(View(), options, "exceeded quota: pods"));
    }
    Create(step.attempt, worker.Raw());
  }
  created_ = now;
}

void JobWorld::Create(std::int64_t attempt, std::uint32_t worker) {
  ++counts.pods_created;
  auto pod = std::make_unique<api::Pod>();
  const std::string number = std::to_string(attempt), index = std::to_string(worker);
  pod->meta.key = {"team-a", "llama-" + number + "-" + index};
  pod->meta.labels.Set(cluster::kAttemptLabel, number);
  pod->meta.labels.Set(cluster::kWorkerIndexLabel, index);
  pod->meta.creation_timestamp = FormatTime(now);
  pod->phase = api::PodPhase::kPending;
  const std::string node = NodeOf(attempt, worker);
  if (on_created) {
    on_created(*pod, node);
  } else {
    pod->node_name = node;
    pod->phase = api::PodPhase::kRunning;
    pod->ready = true;
  }
  pods.push_back(std::move(pod));
}

std::string JobWorld::NodeOf(std::int64_t attempt, std::uint32_t worker) const {
  for (const auto& placement : placements) {
    const bool named = job.placement_name.empty() || placement->meta.key.name == job.placement_name;
    if (named && life::AttemptLabel(placement->meta) == attempt) return placement->nodes.at(worker);
  }
  return "";
}

void JobWorld::Do(const life::DeletePods& step) {
  const std::set<const api::Pod*> doomed(step.pods.begin(), step.pods.end());
  counts.pods_deleted += static_cast<int>(doomed.size());
  for (const auto& pod : pods) {
    const auto node = nodes.find(pod->node_name);
    const bool away = node != nodes.end() && node->second.faults.empty();
    if (!doomed.contains(pod.get()) || !away) continue;
    pod->meta.deleting = true;  // no kubelet confirms it
    pod->meta.deletion_timestamp = FormatTime(now + 30);
  }
  std::erase_if(pods,
                [&](const auto& pod) { return doomed.contains(pod.get()) && !pod->meta.deleting; });
}

void JobWorld::Do(const life::DeletePlacements& step) {
  counts.objects += static_cast<int>(step.placements.size()) + (service ? 1 : 0);
  service = false;  // of that attempt
  const std::set<const api::Placement*> doomed(step.placements.begin(), step.placements.end());
  std::erase_if(placements, [&](const auto& one) { return doomed.contains(one.get()); });
}

void JobWorld::Do(const life::DeleteFiles& step) {
  ++counts.objects;
  for (const auto& one : placements) {
    if (one.get() != step.placement) continue;
    api::PutCondition(one->conditions, {api::kFilesDeleted, "True", "JobFinished", "", ""}, now);
  }
}

void JobWorld::Do(const life::DeleteJob&) {
  ++counts.objects;
  job.meta.deleting = true;
}

void JobWorld::Do(const life::WriteStatus& step) { Store(step.status); }

void JobWorld::Do(const life::Wait&) {}

}  // namespace weft::testing
