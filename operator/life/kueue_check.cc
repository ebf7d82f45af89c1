#include "operator/life/kueue_check.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/api/encode.h"
#include "operator/api/gang_annotations.h"
#include "operator/api/json_text.h"
#include "operator/base/check.h"
#include "operator/base/phrases.h"
#include "operator/base/seeded_bug.h"
#include "operator/base/short_hash.h"
#include "operator/base/short_text.h"
#include "operator/cluster/gang_spec.h"
#include "operator/cluster/placement_pods.h"
#include "operator/life/attempt_labels.h"
#include "operator/life/kueue_check_crash.h"

namespace weft::life {
namespace {

using api::CheckState;
using api::Workload;
using cluster::HasCondition;

constexpr std::size_t kLabelBytes = 63;

std::string ReservedAt(const Workload& workload) {
  const api::Condition* reserved = api::FindCondition(workload.conditions, "QuotaReserved");
  return reserved ? reserved->last_transition_time : "";
}

bool IsReserved(const Workload& workload) {
  return workload.active && !workload.meta.deleting &&
         HasCondition(workload.conditions, "QuotaReserved") &&
         !HasCondition(workload.conditions, "Evicted") &&
         !HasCondition(workload.conditions, "Finished");
}

std::vector<api::IndexLabel> IndexLabelsOf(const api::PodSet& set) {
  std::vector<api::IndexLabel> labels;
  if (set.index_label.empty()) return labels;
  if (!set.group_label.empty() && set.groups > 1 && set.count % set.groups == 0) {
    labels.push_back({set.group_label, set.count / set.groups});
  }
  labels.push_back({set.index_label, 1});
  return labels;
}

class CheckDecision {
 public:
  CheckDecision(const CheckView& view, const CheckOptions& options)
      : view_(view), options_(options), workload_(*view.workload) {
    for (const api::AdmissionCheckState& entry : workload_.checks) {
      const bool ours = std::any_of(view.checks.begin(), view.checks.end(), [&](const auto* check) {
        return check->meta.key.name == entry.name;
      });
      (ours ? ours_ : others_).push_back(&entry);
    }
  }

  CheckStep Next() {
    if (ours_.empty()) return Wait{};
    if (!workload_.unreadable.empty()) {
      return WriteAnswer(CheckState::kPending,
                         "the Workload cannot be read: " + workload_.unreadable);
    }
    if (!IsReserved(workload_)) return Withdraw();
    if (AllReady(view_)) return api::ControllingJob(workload_.meta) ? RecheckJob() : Recheck();
    return IsOpen() ? Decide() : Drop({});
  }

 private:
  bool IsAdmitted() const { return HasCondition(workload_.conditions, "Admitted"); }

  // Whether no check of ours is Retry or Rejected, which Kueue has to act on.
  bool IsOpen() const {
    return std::none_of(ours_.begin(), ours_.end(), [](const api::AdmissionCheckState* one) {
      return one->state == CheckState::kRetry || one->state == CheckState::kRejected;
    });
  }

  // Writes the answer, unless it stands there already.
  CheckStep WriteAnswer(CheckState state, std::string message, Wait otherwise = {}) const {
    return WriteAnswer({{}, state, std::move(message), {}}, otherwise);
  }
  CheckStep WriteAnswer(AnswerCheck answer, Wait otherwise = {}) const {
    for (const api::AdmissionCheckState* one : ours_) answer.checks.push_back(one->name);
    if (answer.state == CheckState::kPending)
      answer.message = AppendCrash(ours_, std::move(answer.message));
    answer.message = Shorten(std::move(answer.message), kCheckMessageBytes);
    const bool said =
        std::all_of(ours_.begin(), ours_.end(), [&](const api::AdmissionCheckState* one) {
          return one->state == answer.state && one->message == answer.message;
        });
    if (said) return otherwise;
    return answer;
  }

  // Without a reservation no Placement is wanted.
  CheckStep Withdraw() const {
    CheckStep dropped = Drop({});
    if (!std::holds_alternative<Wait>(dropped)) return dropped;
    const bool lost = !HasCondition(workload_.conditions, "QuotaReserved") &&
                      !HasCondition(workload_.conditions, "Finished") && !workload_.meta.deleting;
    const bool stale = std::any_of(
        ours_.begin(), ours_.end(),
        [](const api::AdmissionCheckState* one) { return one->state == CheckState::kReady; });
    if (lost && stale) return WriteAnswer(CheckState::kPending, "the quota reservation was lost");
    return dropped;
  }

  // Deletes Placements whose names are not in `wanted`, once their pods are gone.
  CheckStep Drop(const std::set<std::string>& wanted) const {
    DropPlacements drop;
    for (const api::Placement* placement : view_.placements) {
      if (placement->meta.deleting || wanted.contains(placement->meta.key.name)) continue;
      if (!view_.in_use(*placement)) drop.placements.push_back(placement);
    }
    if (drop.placements.empty()) return Wait{};
    return drop;
  }

  const api::Placement* Find(const std::string& name) const {
    for (const api::Placement* placement : view_.placements) {
      if (placement->meta.key.name == name) return placement;
    }
    return nullptr;
  }
  static bool HasNodes(const api::Placement* placement) {
    return placement != nullptr && !placement->nodes.empty() && !placement->meta.deleting;
  }

  // A name stays in the pods' label, so an admitted Workload keeps the Placements of its answer.
  std::string NameOf(const api::PodSet& set) const {
    if (!IsAdmitted()) return CheckedPlacementName(workload_, set.name);
    for (const api::AdmissionCheckState* one : ours_) {
      const auto labels = one->labels.find(set.name);
      if (labels == one->labels.end()) continue;
      if (const auto name = labels->second.At(api::kPlacementLabel)) return std::string(*name);
    }
    return "";
  }

  // Fabrics, which cost more, are asked only for requests without a resource that Weft knows.
  std::optional<api::Accelerator> AcceleratorOf(const fabric::Resources& requests) const {
    auto known = cluster::AcceleratorOf(requests);
    if (known || !view_.fabrics) return known;
    const std::vector<const fabric::FabricSpec*> fabrics = view_.fabrics();
    if (fabrics.empty()) return std::nullopt;
    return cluster::AcceleratorOf(requests, fabrics.front()->accelerator_resources);
  }

  // Every Placement that the Workload needs now.
  // Errors  kInvalid for an annotation, kNotFound for a flavor, which may still come.
  Result<std::vector<api::Placement>> Wanted() const {
    std::vector<api::Placement> wanted;
    for (const api::PodSet& set : workload_.pod_sets) {
      const auto accelerator = AcceleratorOf(set.pod.requests);
      if (!accelerator || set.count == 0) continue;
      const std::string name = NameOf(set);
      if (name.empty()) continue;  // admitted before Weft answered
      Result<api::Placement> placement = PlacementOf(set, *accelerator, name);
      if (!placement) return placement.error();
      wanted.push_back(*std::move(placement));
    }
    return wanted;
  }

  Result<api::Placement> PlacementOf(const api::PodSet& set, const api::Accelerator& accelerator,
                                     const std::string& name) const {
    api::Placement placement;
    placement.proposal = {set.pod, set.name, Reservation(), workload_.priority, set.claims,
                          set.priority_class_name};
    placement.place = workload_.place + ": pod set " + set.name;
    placement.meta.key = {workload_.meta.key.space, name};
    placement.meta.creation_timestamp = ReservedAt(workload_);
    placement.meta.owners = {{std::string(api::kKueueGroup) + "/" + api::kKueueVersion, "Workload",
                              workload_.meta.key.name, workload_.meta.uid, true}};
    placement.meta.labels.Set(kPodSetLabel, set.name);
    placement.conditions = CrashConditions(ours_);
    if (!workload_.queue.empty()) placement.meta.labels.Set(api::kQueueNameLabel, workload_.queue);
    placement.workers = set.count;
    WEFT_CHECK(!view_.checks.empty());  // ours_ are entries of these
    for (const api::AdmissionCheck* check : view_.checks) {
      const std::string& fabric = check->parameters.name;
      if (placement.fabric_name.empty()) placement.fabric_name = fabric;
      if (!fabric.empty() && fabric != placement.fabric_name) {
        return Invalid("the queue's AdmissionChecks of Weft name the Fabrics " +
                       placement.fabric_name + " and " + fabric + "; a Workload gets nodes of one");
      }
    }
    placement.accelerator = accelerator;
    placement.pod_selector.emplace();
    placement.pod_selector->match_labels[api::kPlacementLabel] = name;
    placement.worker_index_labels = IndexLabelsOf(set);
    placement.meta.annotations.Set(api::kPodRequestsAnnotation,
                                   api::JsonText(api::EncodeResources(set.pod.requests)));
    if (Status resolved = Annotate(set, placement); !resolved) return resolved.error();
    if (Status applied = ApplyFlavors(set, placement.proposal->pod); !applied) {
      return applied.error();
    }
    return placement;
  }

  // Model, parallelism and topology, by annotations of the pod template.
  Status Annotate(const api::PodSet& set, api::Placement& placement) const {
    const Result<api::GangAnnotations> asked = api::DecodeGangAnnotations(set.annotations);
    Status status = asked ? Status() : asked.error();
    if (asked) {
      std::vector<const fabric::FabricSpec*> fabrics;
      const bool by_key =
          !asked->required_key.empty() || !asked->preferred_key.empty() || !asked->slices.empty();
      if (by_key) fabrics = view_.fabrics();
      status = cluster::Resolve(*asked, fabrics, placement);
    }
    if (status) return {};
    return Error{ErrorKind::kInvalid, "pod set " + set.name + ": " + status.error().message};
  }

  // Adds the node labels and tolerations of the pod set's flavors, so that its pods get only nodes
  // that the quota is for.
  Status ApplyFlavors(const api::PodSet& set, rules::PodRequirements& pod) const {
    for (const std::string& one : set.flavors) {
      const api::ResourceFlavor* flavor = view_.flavor(one);
      if (flavor == nullptr) {
        return Error{ErrorKind::kNotFound, "ResourceFlavor " + one + " does not exist"};
      }
      if (!flavor->topology_name.empty()) {
        return Error{ErrorKind::kNotFound,
                     "ResourceFlavor " + one +
                         " has topologyName, with which Kueue itself chooses "
                         "the nodes; use a flavor without it in queues with this check"};
      }
      for (const auto& [key, value] : flavor->node_labels) {
        const auto [own, fresh] = pod.node_selector.emplace(key, value);
        if (!fresh && own->second != value) {
          return Invalid("pod set " + set.name + ": ResourceFlavor " + one + " sets nodeSelector " +
                         key + " to " + value + ", which is " + own->second +
                         " already; correct the template or the flavor");
        }
      }
      auto& tolerations = pod.tolerations;
      tolerations.insert(tolerations.end(), flavor->tolerations.begin(), flavor->tolerations.end());
    }
    return {};
  }

  std::string Reservation() const { return ReservationOf(workload_); }

  // A label with another value would make Kueue give the Workload up for ever when it starts.
  std::string Conflict(const api::Placement& wanted) const {
    const std::string& name = wanted.meta.key.name;
    const std::string start = "pod set " + wanted.proposal->pod_set + ": the label ";
    for (const api::PodSet& set : workload_.pod_sets) {
      if (set.name != wanted.proposal->pod_set) continue;
      const auto label = set.labels.At(api::kPlacementLabel);
      if (label && *label != name) {
        return start + api::kPlacementLabel + " must not be set in the pod template: Weft sets it";
      }
    }
    for (const api::AdmissionCheckState* other : others_) {
      const auto labels = other->labels.find(wanted.proposal->pod_set);
      if (labels == other->labels.end()) continue;
      const auto label = labels->second.At(api::kPlacementLabel);
      if (label && *label != name) {
        return start + api::kPlacementLabel + " is also set by the admission check " + other->name;
      }
    }
    return "";
  }

  // Ready: the answer stands as long as its Placements do.
  CheckStep Recheck() const {
    const Result<std::vector<api::Placement>> wanted = Wanted();
    if (!wanted) return Wait{};
    std::set<std::string> names;
    std::vector<api::Placement> missing;
    for (const api::Placement& one : *wanted) {
      names.insert(one.meta.key.name);
      if (!HasNodes(Find(one.meta.key.name))) missing.push_back(one);
    }
    CheckStep dropped = Drop(names);
    if (!std::holds_alternative<Wait>(dropped)) return dropped;
    if (!IsAdmitted() && (!missing.empty() || !Answers(*wanted))) {
      return WriteAnswer(CheckState::kPending,
                         "the nodes of an earlier answer are not held any more");
    }
    if (missing.empty() || RefusedForCrash(ours_, options_.version)) return Wait{};
    return RequestNodes{Reservation(), std::move(missing), 0};
  }

  CheckStep DecideJob() const {
    if (const api::Placement* placement = view_.job.placement) {
      const api::Condition* placed = api::FindCondition(placement->conditions, "Placed");
      return WriteAnswer(
          CheckState::kReady,
          CountText(static_cast<std::int64_t>(placement->nodes.size()), "worker") + " on " +
              (placed ? placed->message : "nodes of Placement " + placement->meta.key.name));
    }
    if (view_.job.refusal) return WaitOrGiveUp(*view_.job.refusal);
    return Wait{};
  }

  CheckStep RecheckJob() const {
    if (IsAdmitted() || view_.job.placement != nullptr) return Wait{};
    return WriteAnswer(CheckState::kPending,
                       "the nodes of an earlier answer are not held any more");
  }

  // Whether the answer that stands names these Placements.
  bool Answers(const std::vector<api::Placement>& wanted) const {
    WEFT_CHECK(!ours_.empty());
    return std::all_of(wanted.begin(), wanted.end(), [&](const api::Placement& one) {
      const auto labels = ours_.front()->labels.find(one.proposal->pod_set);
      return labels != ours_.front()->labels.end() &&
             labels->second.At(api::kPlacementLabel) == one.meta.key.name;
    });
  }

  // Pending, with a reservation.
  CheckStep Decide() const {
    if (IsAdmitted())
      return WriteAnswer(CheckState::kReady,
                         "the Workload was admitted before this check was added");
    if (api::ControllingJob(workload_.meta)) return DecideJob();
    Result<std::vector<api::Placement>> wanted = Wanted();
    if (!wanted) {
      const bool invalid = wanted.error().kind == ErrorKind::kInvalid;
      return WaitOrGiveUp({"Invalid", wanted.error().message, !invalid});
    }
    std::set<std::string> names;
    std::vector<api::Placement> missing;
    for (const api::Placement& one : *wanted) {
      if (const std::string why = Conflict(one); !why.empty())
        return WriteAnswer(CheckState::kRejected, why);
      names.insert(one.meta.key.name);
      if (!HasNodes(Find(one.meta.key.name))) missing.push_back(one);
    }
    CheckStep dropped = Drop(names);
    if (!std::holds_alternative<Wait>(dropped)) return dropped;
    if (missing.empty()) return Admit(*wanted);
    if (const auto refusal = view_.refusal(Reservation())) {
      CheckStep told = WaitOrGiveUp(*refusal);
      if (!std::holds_alternative<Wait>(told)) return told;
    }
    return RequestNodes{Reservation(), std::move(missing), HoldLeft().value_or(0)};
  }

  CheckStep Admit(const std::vector<api::Placement>& wanted) const {
    AnswerCheck answer{{}, CheckState::kReady, "no pod set requests an accelerator", {}};
    if (!wanted.empty()) answer.message.clear();
    for (const api::Placement& one : wanted) {
      const std::string& name = one.meta.key.name;
      answer.placements[one.proposal->pod_set] = name;
      WEFT_CHECK(HasNodes(Find(name)));  // none is missing
      const api::Condition* placed = api::FindCondition(Find(name)->conditions, "Placed");
      answer.message += (answer.message.empty() ? "" : "; ") + one.proposal->pod_set + ": " +
                        CountText(static_cast<std::int64_t>(one.workers), "worker") + " on " +
                        (placed ? placed->message : "nodes of Placement " + name);
    }
    for (const api::PodSet& set : workload_.pod_sets) {
      const std::string ignored = api::IgnoredAnnotation(set.annotations);
      if (!ignored.empty()) answer.message += "; pod set " + set.name + ": " + ignored;
    }
    return WriteAnswer(std::move(answer));
  }

  // Seconds left until the quota must be given back. Nothing while another check is not Ready:
  // nodes may be on their way.
  std::optional<std::int64_t> HoldLeft() const {
    if (!WaitsForWeft(view_)) return std::nullopt;
    UnixSeconds since = view_.waits_since;
    if (Seeded(Bug::kKueuesClock)) since = ParseTime(ReservedAt(workload_)).value_or(since);
    return std::min(since + options_.hold_seconds - view_.now, options_.hold_seconds);
  }

  CheckStep WaitOrGiveUp(const Refusal& refusal) const {
    const auto left = HoldLeft();
    if (!left) return WriteAnswer(CheckState::kPending, refusal.message);
    if (!refusal.ever) return WriteAnswer(CheckState::kRejected, refusal.message);
    if (*left > 0) return WriteAnswer(CheckState::kPending, refusal.message, Wait{*left});
    return WriteAnswer(CheckState::kRetry, refusal.message);
  }

  const CheckView& view_;
  const CheckOptions& options_;
  const Workload& workload_;
  std::vector<const api::AdmissionCheckState*> ours_, others_;
};

}  // namespace

std::string ReservationOf(const Workload& workload) {
  return workload.meta.uid + kReservationMark + ReservedAt(workload);
}

std::string CheckedPlacementName(const api::Workload& workload, const std::string& pod_set) {
  const std::string hash =
      ShortHash(workload.meta.uid + "/" + pod_set + "/" + ReservedAt(workload));
  std::string name = workload.meta.key.name;
  if (workload.pod_sets.size() > 1) name += "-" + pod_set;
  WEFT_CHECK(hash.size() + 1 < kLabelBytes);
  name.resize(std::min(name.size(), kLabelBytes - 1 - hash.size()));
  while (!name.empty() && !std::isalnum(static_cast<unsigned char>(name.back()))) name.pop_back();
  return name + "-" + hash;
}

std::uint32_t SucceededPods(const api::Workload& workload, const api::ObjectMeta& placement) {
  const api::OwnerReference* owner = api::ControllingWorkload(placement);
  if (owner == nullptr || owner->uid != workload.meta.uid) return 0;
  const auto name = placement.labels.At(kPodSetLabel);
  for (const api::PodSet& set : workload.pod_sets) {
    if (name == set.name) return set.succeeded;
  }
  return 0;
}

bool WaitsForWeft(const CheckView& view) {
  const auto& entries = view.workload->checks;
  return IsReserved(*view.workload) &&
         std::all_of(entries.begin(), entries.end(), [&](const api::AdmissionCheckState& one) {
           return one.state == CheckState::kReady ||
                  std::any_of(view.checks.begin(), view.checks.end(),
                              [&](const auto* ours) { return ours->meta.key.name == one.name; });
         });
}

CheckStep NextCheckStep(const CheckView& view, const CheckOptions& options) {
  return CheckDecision(view, options).Next();
}

bool StillAsks(const CheckStep& step) {
  return std::holds_alternative<RequestNodes>(step) || std::holds_alternative<AnswerCheck>(step);
}

bool AllReady(const CheckView& view) {
  const auto& entries = view.workload->checks;
  return std::all_of(view.checks.begin(), view.checks.end(), [&](const auto* check) {
    return std::any_of(entries.begin(), entries.end(), [&](const api::AdmissionCheckState& entry) {
      return entry.name == check->meta.key.name && entry.state == api::CheckState::kReady;
    });
  });
}

const api::Placement* CurrentPlacement(
    const api::TrainingJob& job,
    std::span<const std::shared_ptr<const api::Placement>> placements) {
  const bool placed = cluster::HasCondition(job.conditions, "Placed");
  const api::Placement* of = nullptr;
  for (const auto& placement : placements) {
    if (placement->nodes.empty() || placement->meta.deleting) continue;
    const std::int64_t attempt = AttemptLabel(placement->meta).value_or(0);
    if (attempt > job.attempt || (placed && attempt == job.attempt)) of = placement.get();
  }
  return of;
}

nlohmann::ordered_json PatchOf(const api::Workload& workload, const AnswerCheck& answer,
                               UnixSeconds now) {
  using Json = nlohmann::ordered_json;
  WEFT_CHECK(workload.checks_json != nullptr && !answer.checks.empty());
  Json entries = Json::array();
  for (const nlohmann::json& before : *workload.checks_json) {
    Json entry = Json(before);
    const std::string name = before.value("name", "");
    if (std::find(answer.checks.begin(), answer.checks.end(), name) == answer.checks.end()) {
      entries.push_back(std::move(entry));
      continue;
    }
    for (const char* key : {"requeueAfterSeconds", "podSetUpdates"}) entry.erase(key);
    const std::string_view state = api::CheckStateName(answer.state);
    if (before.value("state", "") != state) entry["lastTransitionTime"] = FormatTime(now);
    entry["state"] = state;
    entry["message"] = answer.message;
    for (const auto& [set, placement] : answer.placements) {
      entry["podSetUpdates"].push_back(
          {{"name", set}, {"labels", {{api::kPlacementLabel, placement}}}});
    }
    entries.push_back(std::move(entry));
  }
  // One list, which a merge patch replaces whole.
  return {{"status", {{"admissionChecks", std::move(entries)}}}};
}

api::Condition ActiveCondition(const api::AdmissionCheck& check,
                               const std::function<bool(const std::string&)>& has_fabric) {
  const auto inactive = [](std::string why) {
    return api::Condition{"Active", "False", "InvalidParameters", std::move(why), ""};
  };
  const auto& [group, kind, name] = check.parameters;
  if (check.parameters.empty()) {
    return {"Active", "True", "Active", "Weft places the Workloads of this check", ""};
  }
  if (group != api::kGroup || kind != "Fabric") {
    return inactive("spec.parameters must have apiGroup weft.dev and kind Fabric, not " + group +
                    " and " + kind);
  }
  if (!has_fabric(name)) return inactive("spec.parameters: Fabric " + name + " does not exist");
  return {"Active", "True", "Active", "Weft places the Workloads of this check on Fabric " + name,
          ""};
}

}  // namespace weft::life
