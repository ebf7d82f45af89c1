#include "tests/world/kueue_status.h"

#include <algorithm>

#include "operator/base/timestamp.h"

namespace weft::world {
namespace {

Json* FindCondition(Json& object, const char* type) {
  for (Json& one : object["status"]["conditions"]) {
    if (TextAt(one, {"type"}) == type) return &one;
  }
  return nullptr;
}

}  // namespace

bool IsAdmissible(const Json& workload) {
  return !IsTrue(workload, "QuotaReserved") && !IsTrue(workload, "Finished") &&
         At(workload, {"spec", "active"}) != Json(false);
}

bool IsOver(const Json& job) { return IsTrue(job, "Complete") || IsTrue(job, "Failed"); }

std::int64_t TimeAt(const Json& object, std::initializer_list<const char*> path) {
  return ParseTime(TextAt(object, path)).value_or(0);
}

bool WorkloadStatus::active() const { return At(object_, {"spec", "active"}) != Json(false); }

bool WorkloadStatus::HasCheck(const char* state) const {
  const Json& checks = At(object_, {"status", "admissionChecks"});
  return std::any_of(checks.begin(), checks.end(),
                     [&](const Json& one) { return TextAt(one, {"state"}) == state; });
}

void WorkloadStatus::Set(const char* type, bool is, const std::string& reason,
                         const std::string& message) {
  const char* status = is ? "True" : "False";
  Json* found = FindCondition(object_, type);
  if (found == nullptr) {
    Json& all = object_["status"]["conditions"];
    if (!all.is_array()) all = Json::array();
    found = &all.emplace_back(Json::object());
  }
  if (TextAt(*found, {"status"}) != status) (*found)["lastTransitionTime"] = FormatTime(now_);
  (*found)["type"] = type;
  (*found)["status"] = status;
  (*found)["reason"] = reason;
  (*found)["message"] = message;
  (*found)["observedGeneration"] = NumberAt(object_, {"metadata", "generation"});
}

void WorkloadStatus::Remove(const char* type) {
  Json left = Json::array();
  for (const Json& one : At(object_, {"status", "conditions"})) {
    if (TextAt(one, {"type"}) != type) left.push_back(one);
  }
  object_["status"]["conditions"] = std::move(left);
}

bool WorkloadStatus::SyncChecks(const std::vector<std::string>& names) {
  const Json before = At(object_, {"status", "admissionChecks"});
  Json checks = Json::array();
  for (const std::string& name : names) {
    const auto known = std::find_if(before.begin(), before.end(),
                                    [&](const Json& one) { return TextAt(one, {"name"}) == name; });
    checks.push_back(known != before.end() ? *known
                                           : Json{{"name", name},
                                                  {"state", "Pending"},
                                                  {"message", ""},
                                                  {"lastTransitionTime", FormatTime(now_)}});
  }
  if (checks.size() == before.size() && (before == checks || before.is_null())) return false;
  object_["status"]["admissionChecks"] = std::move(checks);
  return true;
}

void WorkloadStatus::SyncAdmitted() {
  const bool has_quota = HasQuota(), admitted = IsAdmitted();
  if (ConditionOf(object_, "QuotaReserved").is_null() &&
      ConditionOf(object_, "Admitted").is_null()) {
    return;
  }
  const Json& checks = At(object_, {"status", "admissionChecks"});
  const bool ready = std::all_of(checks.begin(), checks.end(),
                                 [](const Json& one) { return TextAt(one, {"state"}) == "Ready"; });
  const bool is = has_quota && ready;
  if (admitted && !is) {
    const std::int64_t since = TimeAt(ConditionOf(object_, "Admitted"), {"lastTransitionTime"});
    const std::int64_t past = NumberAt(object_, {"status", "accumulatedPastExecutionTimeSeconds"});
    status()["accumulatedPastExecutionTimeSeconds"] = past + now_ - since;
  }
  if (is) return Set("Admitted", true, "Admitted", "The workload is admitted");
  if (!has_quota) return Set("Admitted", false, "NoReservation", "The workload has no reservation");
  Set("Admitted", false, "UnsatisfiedAdmissionChecks", "The workload has not all checks ready");
}

void WorkloadStatus::Reserve(const Json& admission) {
  status()["admission"] = admission;
  status().erase("resourceRequests");
  Set("QuotaReserved", true, "QuotaReserved",
      "Quota reserved in ClusterQueue " + TextAt(admission, {"clusterQueue"}));
  for (const char* type : {"Evicted", "Preempted"}) {
    if (!IsTrue(object_, type)) continue;
    const std::string was = TextAt(ConditionOf(object_, type), {"message"});
    Set(type, false, "QuotaReserved", "Previously: " + was);
  }
}

void WorkloadStatus::Unset(const std::string& reason, const std::string& message) {
  Set("QuotaReserved", false, reason, message);
  status().erase("admission");
  SyncAdmitted();
}

void WorkloadStatus::Evict(const std::string& reason, const std::string& message) {
  Set("Evicted", true, reason, message);
  if (At(object_, {"status", "admissionChecks"}).empty()) return;
  for (Json& check : status()["admissionChecks"]) {
    const std::string state = TextAt(check, {"state"});
    if (state == "Pending") continue;
    Json reset = {{"name", check["name"]},
                  {"state", "Pending"},
                  {"message", "Reset to Pending after eviction. Previously: " + state},
                  {"lastTransitionTime", FormatTime(now_)}};
    if (check.contains("requeueAfterSeconds")) {
      reset["requeueAfterSeconds"] = check["requeueAfterSeconds"];
    }
    // Kueue leaves it out of its apply patch, but whoever answered owns it: it stays.
    if (check.contains("podSetUpdates")) reset["podSetUpdates"] = check["podSetUpdates"];
    if (state == "Retry") reset["retryCount"] = NumberAt(check, {"retryCount"}) + 1;
    check = std::move(reset);
  }
}

void WorkloadStatus::SetRequeueAt(std::int64_t at, bool counts) {
  Json& state = status()["requeueState"];
  if (RequeueAt() < at) state["requeueAt"] = FormatTime(at);
  if (counts) state["count"] = NumberAt(state, {"count"}) + 1;
}

void WorkloadStatus::ClearRequeueAt() {
  if (At(object_, {"status", "requeueState"}).is_object()) {
    status()["requeueState"].erase("requeueAt");
  }
}

void WorkloadStatus::ClearRequeueState() { status().erase("requeueState"); }

std::int64_t WorkloadStatus::RequeueAt() const {
  return TimeAt(object_, {"status", "requeueState", "requeueAt"});
}

std::int64_t WorkloadStatus::RetryAt() const {
  std::int64_t latest = 0;
  for (const Json& check : At(object_, {"status", "admissionChecks"})) {
    if (TextAt(check, {"state"}) != "Retry" || !check.contains("requeueAfterSeconds")) continue;
    latest = std::max(
        latest, TimeAt(check, {"lastTransitionTime"}) + NumberAt(check, {"requeueAfterSeconds"}));
  }
  return latest;
}

Json WorkloadStatus::PatchOf(const Json& before) const {
  const Json& was = At(before, {"status"});
  const Json& is = At(object_, {"status"});
  Json patch = Json::object();
  for (const auto& [name, value] : is.items()) {
    if (At(was, {name.c_str()}) != value) patch[name] = value;
  }
  for (const auto& [name, value] : was.items()) {
    if (!is.contains(name)) patch[name] = nullptr;
  }
  // A merge patch removes a member of an object only where it says so.
  const Json& requeue = At(was, {"requeueState"});
  if (patch.contains("requeueState") && patch["requeueState"].is_object()) {
    for (const auto& [name, value] : requeue.items()) {
      if (!patch["requeueState"].contains(name)) patch["requeueState"][name] = nullptr;
    }
  }
  if (patch.empty()) return nullptr;
  // As a strict patch: what others wrote meanwhile stays.
  return {{"metadata", {{"resourceVersion", TextAt(before, {"metadata", "resourceVersion"})}}},
          {"status", std::move(patch)}};
}

}  // namespace weft::world
