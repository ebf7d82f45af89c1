#include "operator/life/waiting.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "operator/api/conditions.h"
#include "operator/cluster/gang_spec.h"
#include "operator/cluster/placement_pods.h"
#include "operator/life/kueue_quota_verdict.h"

namespace weft::life {
namespace {

template <typename List>
auto ByName(const List& list) {
  std::map<std::string, const typename List::value_type*> by_name;
  for (const auto& one : list) by_name.emplace(one.meta.key.name, &one);
  return by_name;
}

template <typename Kind>
const Kind* Find(const std::map<std::string, const Kind*>& by_name, const std::string& name) {
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

class Queues {
 public:
  Queues(const api::Inputs& inputs, const std::vector<const fabric::FabricSpec*>& fabrics)
      : fabrics_(fabrics),
        named_(fabrics.empty() ? std::vector<std::string>()
                               : fabrics.front()->accelerator_resources),
        checks_(ByName(inputs.admission_checks)),
        flavors_(ByName(inputs.resource_flavors)) {
    std::erase_if(checks_,
                  [](const auto& one) { return one.second->controller != api::kCheckController; });
    for (const api::Placement& placement : inputs.placements) {
      const api::OwnerReference* owner = api::ControllingWorkload(placement.meta);
      if (owner != nullptr) placements_[owner->uid].push_back(&placement);
    }
  }

  // Nothing if it does not wait for Weft.
  std::optional<WaitingWorkload> Wait(const api::Workload& workload) const {
    if (workload.meta.deleting || api::ControllingJob(workload.meta)) return std::nullopt;
    if (cluster::HasCondition(workload.conditions, "Finished")) return std::nullopt;
    const CheckView view = ViewOf(workload);
    if (view.checks.empty()) return std::nullopt;
    WaitingWorkload waiting;
    waiting.workload = &workload;
    Count(workload.pod_sets, waiting);
    if (waiting.accelerators == 0 && workload.unreadable.empty()) return std::nullopt;
    const QueueVerdict verdict = JudgeWorkload(
        workload, [this](const std::string& check) { return checks_.contains(check); });
    if (verdict.plan) {
      CheckStep step = NextCheckStep(view, {});
      if (auto* ask = std::get_if<RequestNodes>(&step)) {
        waiting.asked = std::move(ask->placements);
      } else if (verdict.start || HasNodes(view, step)) {
        return std::nullopt;
      }
    }
    waiting.reason = verdict.reason;
    waiting.message =
        (workload.queue.empty() ? "" : "queue " + workload.queue + ": ") + verdict.message;
    waiting.fabric_name = view.checks.front()->parameters.name;
    waiting.waited_seconds = workload.waited_seconds;
    return waiting;
  }

 private:
  CheckView ViewOf(const api::Workload& workload) const {
    CheckView view;
    view.workload = &workload;
    for (const api::AdmissionCheckState& entry : workload.checks) {
      if (const auto* check = Find(checks_, entry.name)) view.checks.push_back(check);
    }
    const auto owned = placements_.find(workload.meta.uid);
    if (owned != placements_.end()) view.placements = owned->second;
    view.in_use = [](const api::Placement&) { return true; };  // nothing is deleted here
    view.flavor = [this](const std::string& name) { return Find(flavors_, name); };
    view.fabrics = [this] { return fabrics_; };
    view.refusal = [](const std::string&) { return std::nullopt; };
    return view;
  }

  void Count(const std::vector<api::PodSet>& sets, WaitingWorkload& waiting) const {
    for (const api::PodSet& set : sets) {
      const auto accelerator = cluster::AcceleratorOf(set.pod.requests, named_);
      if (!accelerator) continue;
      waiting.workers += set.count;
      waiting.accelerators += std::int64_t{set.count} * accelerator->per_worker;
    }
  }

  // Whether Weft has chosen the nodes, and the Workload waits for others.
  static bool HasNodes(const CheckView& view, const CheckStep& step) {
    if (const auto* answer = std::get_if<AnswerCheck>(&step))
      return answer->state == api::CheckState::kReady;
    return AllReady(view);
  }

  const std::vector<const fabric::FabricSpec*>& fabrics_;
  const std::vector<std::string> named_;                      // the same for all fabrics
  std::map<std::string, const api::AdmissionCheck*> checks_;  // of Weft, by name
  std::map<std::string, const api::ResourceFlavor*> flavors_;
  std::map<std::string, std::vector<const api::Placement*>> placements_;  // by Workload's uid
};

}  // namespace

std::vector<WaitingWorkload> WaitingWorkloads(
    const api::Inputs& inputs, const std::vector<const fabric::FabricSpec*>& fabrics) {
  const Queues queues(inputs, fabrics);
  std::vector<WaitingWorkload> all;
  for (const api::Workload& workload : inputs.workloads) {
    if (auto waiting = queues.Wait(workload)) all.push_back(*std::move(waiting));
  }
  return all;
}

void AddAsked(const std::vector<WaitingWorkload>& waiting, api::Inputs& inputs) {
  std::map<api::ObjectKey, std::size_t> known;
  for (std::size_t i = 0; i < inputs.placements.size(); ++i) {
    known.emplace(inputs.placements[i].meta.key, i);
  }
  for (const WaitingWorkload& one : waiting) {
    for (const api::Placement& asked : one.asked) {
      const auto [found, fresh] = known.emplace(asked.meta.key, inputs.placements.size());
      if (fresh) {
        inputs.order.push_back({false, inputs.placements.size()});
        inputs.placements.push_back(asked);
      } else if (inputs.placements[found->second].meta.deleting) {
        continue;
      }
      api::Placement& input = inputs.placements.Edit(found->second);
      input.proposal = asked.proposal;
      if (one.waited_seconds) input.wait.waited_seconds = one.waited_seconds;
    }
  }
}

}  // namespace weft::life
