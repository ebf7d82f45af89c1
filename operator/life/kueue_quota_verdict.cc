#include "operator/life/kueue_quota_verdict.h"

#include <algorithm>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/cluster/placement_pods.h"

namespace weft::life {
namespace {

using cluster::HasCondition;

std::string SaidBy(const api::Workload& workload, const char* type, const char* otherwise) {
  const api::Condition* condition = api::FindCondition(workload.conditions, type);
  return condition == nullptr || condition->message.empty() ? otherwise : condition->message;
}

// "the AdmissionChecks capacity (Pending: no node yet), budget (Pending)"
std::string ChecksText(const api::Workload& workload) {
  std::string text;
  for (const api::AdmissionCheckState& check : workload.checks) {
    if (check.state == api::CheckState::kReady) continue;
    text += (text.empty() ? "" : ", ") + check.name + " (" +
            std::string(api::CheckStateName(check.state)) +
            (check.message.empty() ? "" : ": " + check.message) + ")";
  }
  return text.empty() ? "its admission" : "the AdmissionChecks " + text;
}

QueueVerdict No(std::string_view reason, std::string message) {
  return {false, false, reason, std::move(message)};
}

}  // namespace

QueueVerdict JudgeWorkload(const api::Workload& workload,
                           const std::function<bool(const std::string& check)>& is_ours) {
  const std::string name = "Workload " + workload.meta.key.name;
  if (workload.meta.deleting) return No(api::kQueued, name + " is being deleted");
  if (!workload.unreadable.empty()) {
    return No(api::kQueued, name + " cannot be read: " + workload.unreadable);
  }
  if (HasCondition(workload.conditions, "Finished")) {
    return No(api::kWorkloadFinished, name + " was finished by another (" +
                                          SaidBy(workload, "Finished", "no message") +
                                          "); delete it to queue the job again");
  }
  if (!workload.active) {
    return No(api::kDeactivated,
              name + " is not active: " + SaidBy(workload, "Evicted", "its spec.active is false") +
                  "; set its spec.active to true");
  }
  const bool reserved = HasCondition(workload.conditions, "QuotaReserved");
  if (reserved && HasCondition(workload.conditions, "Evicted")) {
    return No(api::kQueueEvicted, "evicted: " + SaidBy(workload, "Evicted", "no message"));
  }
  if (reserved && HasCondition(workload.conditions, "Admitted")) {
    return {true, true, "Admitted", "admitted to ClusterQueue " + workload.cluster_queue};
  }
  if (reserved) {
    const bool awaits_us =
        std::any_of(workload.checks.begin(), workload.checks.end(), [&](const auto& check) {
          return is_ours(check.name) && (check.state == api::CheckState::kPending ||
                                         check.state == api::CheckState::kReady);
        });
    return {awaits_us, false, api::kAdmissionPending,
            "ClusterQueue " + workload.cluster_queue + " has reserved quota; waits for " +
                ChecksText(workload)};
  }
  return No(api::kQuotaPending, SaidBy(workload, "QuotaReserved", "waits for quota"));
}

}  // namespace weft::life
