#include "operator/life/kueue_quota_patches.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/api/json_reader.h"
#include "operator/base/check.h"
#include "operator/base/short_text.h"
#include "operator/cluster/placement_pods.h"

namespace weft::life {
namespace {

using Json = nlohmann::json;
using api::FindCondition;
using cluster::HasCondition;

// Kueue's limit of a condition's message.
constexpr std::size_t kWorkloadMessageBytes = 32'000;

// The Workload's conditions as read, to be changed.
class WorkloadConditions {
 public:
  WorkloadConditions(const api::Workload& workload, UnixSeconds now)
      : generation_(workload.meta.generation), now_(now) {
    if (workload.conditions_json) all_ = *workload.conditions_json;
  }

  // The transition time changes only if the status does.
  void Put(const std::string& type, bool is, const std::string& reason, std::string message) {
    const char* status = is ? "True" : "False";
    auto found = std::find_if(all_.begin(), all_.end(), [&](const Json& one) {
      return one.is_object() && one.value("type", "") == type;
    });
    if (found == all_.end()) found = all_.insert(all_.end(), Json::object());
    const std::string since =
        found->value("status", "") == status ? found->value("lastTransitionTime", "") : "";
    *found = {{"type", type},
              {"status", status},
              {"reason", reason},
              {"message", Shorten(std::move(message), kWorkloadMessageBytes)},
              {"observedGeneration", generation_},
              {"lastTransitionTime", since.empty() ? FormatTime(now_) : since}};
  }

  void PutWaitForStart() {
    Put("PodsReady", false, "WaitForStart", "Not all pods are ready or succeeded");
  }

  Json Take() { return std::move(all_); }

 private:
  std::int64_t generation_;
  UnixSeconds now_;
  Json all_ = Json::array();
};

// Whether its condition PodsReady is about pods of an admission.
bool SpeaksOfAdmission(const api::Workload& workload) {
  const api::Condition* said = FindCondition(workload.conditions, "PodsReady");
  return said != nullptr && (said->status == "True" || said->reason != "WaitForStart");
}

WriteWorkload OfStatus(const api::Workload& workload, Json status, std::string for_what) {
  return {&workload, true, api::MakeRaw({{"status", std::move(status)}}), std::move(for_what)};
}

WriteWorkload OfSpec(const api::Workload& workload, Json spec, std::string for_what) {
  return {&workload, false, api::MakeRaw({{"spec", std::move(spec)}}), std::move(for_what)};
}

}  // namespace

WriteWorkload ReleaseQuota(const api::Workload& workload, UnixSeconds now) {
  WorkloadConditions conditions(workload, now);
  WEFT_CHECK(HasCondition(workload.conditions, "Evicted"));
  const api::Condition& evicted = *FindCondition(workload.conditions, "Evicted");
  const bool at_once = evicted.reason == "Preempted" || evicted.reason == "NodeFailures";
  // When spec.active is true again, Kueue queues only what says exactly this: not, for example,
  // DeactivatedDueToAdmissionCheck.
  const bool inactive = evicted.reason.starts_with(api::kDeactivated);
  const std::string reason = inactive ? std::string(api::kDeactivated) : evicted.reason;
  conditions.Put("Requeued", at_once, reason, evicted.message);
  conditions.Put("QuotaReserved", false, "Pending", evicted.message);
  Json status = {{"admission", nullptr}};
  const api::Condition* admitted = FindCondition(workload.conditions, "Admitted");
  if (admitted != nullptr && admitted->status == "True") {
    conditions.Put("Admitted", false, "NoReservation", "The workload has no reservation");
    const UnixSeconds since = ParseTime(admitted->last_transition_time).value_or(now);
    status["accumulatedPastExecutionTimeSeconds"] =
        workload.past_seconds + std::max<UnixSeconds>(0, now - since);
  }
  if (SpeaksOfAdmission(workload)) conditions.PutWaitForStart();
  status["conditions"] = conditions.Take();
  return OfStatus(workload, std::move(status), "quota given back: " + evicted.reason);
}

std::optional<WriteWorkload> ForgetPodsReady(const api::Workload& workload, UnixSeconds now) {
  if (!SpeaksOfAdmission(workload) || HasCondition(workload.conditions, "Finished")) {
    return std::nullopt;
  }
  WorkloadConditions conditions(workload, now);
  conditions.PutWaitForStart();
  return OfStatus(workload, {{"conditions", conditions.Take()}},
                  "PodsReady of an earlier admission");
}

std::optional<WriteWorkload> PatchPodsReady(const api::Workload& workload, bool ready,
                                            UnixSeconds now) {
  const api::Condition* said = FindCondition(workload.conditions, "PodsReady");
  const bool was = said != nullptr && said->status == "True";
  if (was == ready) return std::nullopt;
  const bool again = said != nullptr && said->reason == "WaitForRecovery";
  WorkloadConditions conditions(workload, now);
  if (ready) {
    conditions.Put("PodsReady", true, again ? "Recovered" : "Started",
                   "All pods are ready or succeeded");
  } else {
    conditions.Put("PodsReady", false, "WaitForRecovery", "At least one pod is not ready");
  }
  return OfStatus(workload, {{"conditions", conditions.Take()}},
                  std::string("PodsReady=") + (ready ? "True" : "False"));
}

WriteWorkload PatchFinished(const api::Workload& workload, bool succeeded, const std::string& why,
                            UnixSeconds now) {
  WorkloadConditions conditions(workload, now);
  const char* reason = succeeded ? "Succeeded" : "Failed";
  conditions.Put("Finished", true, reason, why);
  return OfStatus(workload, {{"conditions", conditions.Take()}}, std::string("Finished ") + reason);
}

WriteWorkload RemoveWorkloadFinalizer(const api::Workload& workload) {
  std::vector<std::string> finalizers = workload.meta.finalizers;
  std::erase(finalizers, api::kWorkloadFinalizer);
  return {&workload, false, api::MakeRaw({{"metadata", {{"finalizers", finalizers}}}}),
          "finalizer removed"};
}

WriteWorkload MoveToQueue(const api::Workload& workload, const std::string& queue) {
  return OfSpec(workload, {{"queueName", queue}}, "queue " + queue);
}

WriteWorkload Deactivate(const api::Workload& workload) {
  return OfSpec(workload, {{"active", false}}, "deactivated");
}

}  // namespace weft::life
