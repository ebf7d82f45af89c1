#include "tests/world/job_controller.h"

#include <algorithm>

#include "operator/base/timestamp.h"
#include "tests/world/kueue_status.h"

namespace weft::world {
namespace {

constexpr const char* kTracking = "batch.kubernetes.io/job-tracking";
constexpr const char* kIndex = "batch.kubernetes.io/job-completion-index";
constexpr const char* kJobName = "batch.kubernetes.io/job-name";
constexpr const char* kControllerUid = "batch.kubernetes.io/controller-uid";
constexpr std::chrono::seconds kPodBackoff{10};

bool IsTracked(const Json& pod) {
  const Json& all = At(pod, {"metadata", "finalizers"});
  return std::find(all.begin(), all.end(), Json(kTracking)) != all.end();
}

std::int64_t IndexOf(const Json& pod) { return NumberAt(pod, {"metadata", "labels", kIndex}); }

// "0-3,5"
std::set<std::int64_t> ReadIndexes(const std::string& text) {
  std::set<std::int64_t> all;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    const std::size_t dash = part.find('-');
    const std::int64_t first = std::stoll(part);
    const std::int64_t last = dash == std::string::npos ? first : std::stoll(part.substr(dash + 1));
    for (std::int64_t i = first; i <= last; ++i) all.insert(i);
    begin = end + 1;
  }
  return all;
}

std::string WriteIndexes(const std::set<std::int64_t>& all) {
  std::string text;
  for (auto at = all.begin(); at != all.end();) {
    const std::int64_t first = *at;
    std::int64_t last = first;
    while (++at != all.end() && *at == last + 1) last = *at;
    text += (text.empty() ? "" : ",") + std::to_string(first);
    if (last > first) text += (last == first + 1 ? "," : "-") + std::to_string(last);
  }
  return text;
}

bool IsSuspended(const Json& job) { return At(job, {"spec", "suspend"}) == Json(true); }

// Nobody will run it any more. One that is deleted before it was bound never ran.
bool IsTerminal(const Json& pod) {
  return HasEnded(pod) || (IsDeleting(pod) && TextAt(pod, {"spec", "nodeName"}).empty());
}

bool IsIgnored(const Json& job, const Json& pod) {
  if (!IsTrue(pod, "DisruptionTarget")) return false;
  for (const Json& rule : At(job, {"spec", "podFailurePolicy", "rules"})) {
    if (TextAt(rule, {"action"}) == "Ignore") return true;
  }
  return false;
}

void SetJobCondition(Json& status, const char* type, bool is, const char* reason,
                     std::int64_t now) {
  Json& all = status["conditions"];
  if (!all.is_array()) all = Json::array();
  for (Json& one : all) {
    if (TextAt(one, {"type"}) != type) continue;
    if (TextAt(one, {"status"}) == (is ? "True" : "False")) return;
    one["status"] = is ? "True" : "False";
    one["reason"] = reason;
    one["lastTransitionTime"] = FormatTime(now);
    return;
  }
  if (!is) return;
  all.push_back({{"type", type},
                 {"status", "True"},
                 {"reason", reason},
                 {"message", reason},
                 {"lastTransitionTime", FormatTime(now)}});
}

}  // namespace

JobController::JobController(Fibers& fibers, ApiServer& server,
                             std::function<std::int64_t()> now_seconds, std::uint64_t seed)
    : fibers_(fibers),
      api_(server, "job-controller"),
      now_seconds_(std::move(now_seconds)),
      chance_(seed) {}

void JobController::OnChange(const Change& change) {
  const Millis delay(5 + chance_.Below(200));
  if (change.resource == "jobs.batch") return SyncSoon(change.key, delay);
  if (change.resource != "pods") return;
  const std::string job = LabelOf(*change.object, kJobName);
  if (!job.empty()) SyncSoon({change.key.space, job}, delay);
}

void JobController::SyncSoon(const api::ObjectKey& key, Instant::duration delay) {
  if (!due_.insert(key).second) return;
  fibers_.After(delay, [this, key] {
    due_.erase(key);
    Sync(key);
  });
}

// uid "": of any Job of this name.
JobController::Pods JobController::PodsOf(const api::ObjectKey& key, const std::string& uid) const {
  Pods pods;
  const auto& all = const_cast<Actor&>(api_).server().All("pods");
  for (auto at = all.lower_bound({key.space, key.name + "-"});
       at != all.end() && at->first.space == key.space &&
       at->first.name.compare(0, key.name.size(), key.name) == 0;
       ++at) {
    const Json& pod = *at->second;
    if (LabelOf(pod, kJobName) != key.name) continue;
    if (uid.empty() || LabelOf(pod, kControllerUid) == uid) pods.push_back(at->second);
  }
  return pods;
}

void JobController::Release(const Json& pod) {
  Json left = Json::array();
  for (const Json& one : At(pod, {"metadata", "finalizers"})) {
    if (one != Json(kTracking)) left.push_back(one);
  }
  api_.Patch(kube::kPods, KeyOf(pod), {{"metadata", {{"finalizers", left}}}});
}

JobController::Counts JobController::Count(const Json& job, const Pods& pods) const {
  Counts counts;
  counts.succeeded = ReadIndexes(TextAt(job, {"status", "completedIndexes"}));
  for (const auto& pod : pods) {
    if (IsTerminal(*pod)) {
      if (!IsTracked(*pod)) continue;
      if (TextAt(*pod, {"status", "phase"}) == "Succeeded") {
        counts.succeeded.insert(IndexOf(*pod));
      } else if (!IsIgnored(job, *pod) && !IsSuspended(job)) {
        ++counts.failed;
      }
      continue;
    }
    counts.present.insert(IndexOf(*pod));
    if (!IsDeleting(*pod)) ++counts.active;
    if (!IsDeleting(*pod) && IsTrue(*pod, "Ready")) ++counts.ready;
  }
  return counts;
}

void JobController::Write(const Json& job, const Json& status) {
  Json patch = Json::object();
  const Json& was = At(job, {"status"});
  for (const auto& [name, value] : status.items()) {
    if (At(was, {name.c_str()}) != value) patch[name] = value;
  }
  for (const auto& [name, value] : was.items()) {
    if (!status.contains(name)) patch[name] = nullptr;
  }
  if (!patch.empty()) api_.Patch(kJobs, KeyOf(job), {{"status", patch}}, "status");
}

void JobController::Sync(const api::ObjectKey& key) {
  const auto job = api_.Find(kJobs, key);
  if (!job || IsDeleting(*job)) {
    for (const auto& pod : PodsOf(key, "")) {
      const bool orphan = !job || LabelOf(*pod, kControllerUid) == UidOf(*job);
      if (orphan && IsTracked(*pod) && (IsDeleting(*pod) || HasEnded(*pod) || !job)) Release(*pod);
    }
    return;
  }
  const Pods pods = PodsOf(key, UidOf(*job));
  if (IsOver(*job)) {
    for (const auto& pod : pods) {
      if (IsTracked(*pod) && IsTerminal(*pod)) Release(*pod);
    }
    return;
  }
  const Counts counts = Count(*job, pods);
  Json status = At(*job, {"status"});
  if (!status.is_object()) status = Json::object();
  status["active"] = counts.active;
  status["ready"] = counts.ready;
  status["succeeded"] = counts.succeeded.size();
  status["completedIndexes"] = WriteIndexes(counts.succeeded);
  status["failed"] = NumberAt(*job, {"status", "failed"}) + counts.failed;
  if (counts.failed > 0) wait_[key] = fibers_.now() + kPodBackoff;
  const std::int64_t limit =
      At(*job, {"spec", "backoffLimit"}).is_null() ? 6 : NumberAt(*job, {"spec", "backoffLimit"});
  const auto wanted = static_cast<std::size_t>(NumberAt(*job, {"spec", "completions"}));
  const bool complete = counts.succeeded.size() >= wanted;
  if (complete || NumberAt(status, {"failed"}) > limit) {
    Finish(*job, pods, std::move(status), complete);
  } else if (IsSuspended(*job)) {
    Suspend(*job, pods, std::move(status));
  } else {
    if (!status.contains("startTime")) status["startTime"] = FormatTime(now_seconds_());
    SetJobCondition(status, "Suspended", false, "JobResumed", now_seconds_());
    Write(*job, status);
    CreateMissing(*job, counts);
  }
  // Counted: they may go.
  for (const auto& pod : pods) {
    if (IsTracked(*pod) && IsTerminal(*pod)) Release(*pod);
  }
}

void JobController::Finish(const Json& job, const Pods& pods, Json status, bool complete) {
  for (const auto& pod : pods) {
    if (!IsTerminal(*pod) && !IsDeleting(*pod)) api_.Delete(kube::kPods, KeyOf(*pod));
  }
  status["active"] = 0;
  status["ready"] = 0;
  if (complete) status["completionTime"] = FormatTime(now_seconds_());
  SetJobCondition(status, complete ? "Complete" : "Failed", true,
                  complete ? "CompletionsReached" : "BackoffLimitExceeded", now_seconds_());
  Write(job, status);
}

void JobController::Suspend(const Json& job, const Pods& pods, Json status) {
  for (const auto& pod : pods) {
    if (!IsTerminal(*pod) && !IsDeleting(*pod)) api_.Delete(kube::kPods, KeyOf(*pod));
  }
  status["active"] = 0;
  status["ready"] = 0;
  status.erase("startTime");
  SetJobCondition(status, "Suspended", true, "JobSuspended", now_seconds_());
  Write(job, status);
}

void JobController::CreateMissing(const Json& job, const Counts& counts) {
  const api::ObjectKey key = KeyOf(job);
  if (const auto wait = wait_.find(key); wait != wait_.end()) {
    if (wait->second > fibers_.now()) return SyncSoon(key, wait->second - fibers_.now());
    wait_.erase(wait);
  }
  const std::int64_t completions = NumberAt(job, {"spec", "completions"});
  const std::string uid = UidOf(job);
  for (std::int64_t i = 0; i < completions; ++i) {
    if (counts.succeeded.contains(i) || counts.present.contains(i)) continue;
    Json pod = At(job, {"spec", "template"});
    const std::string index = std::to_string(i);
    std::string suffix;
    for (int digit = 0; digit < 5; ++digit)
      suffix += "bcdfghjklmnpqrstvwxz2456789"[chance_.Below(27)];
    pod["apiVersion"] = "v1";
    pod["kind"] = "Pod";
    Json& meta = pod["metadata"];
    meta["name"] = key.name + "-" + index + "-" + suffix;
    meta["namespace"] = key.space;
    meta["finalizers"] = {kTracking};
    meta["annotations"][kIndex] = index;
    for (const auto& [name, value] : std::map<std::string, std::string>{
             {kIndex, index}, {kJobName, key.name}, {kControllerUid, uid}}) {
      meta["labels"][name] = value;
    }
    meta["ownerReferences"] = {{{"apiVersion", "batch/v1"},
                                {"kind", "Job"},
                                {"name", key.name},
                                {"uid", uid},
                                {"controller", true},
                                {"blockOwnerDeletion", true}}};
    if (api_.Create(kube::kPods, pod) / 100 != 2) return SyncSoon(key, kPodBackoff);
  }
}

}  // namespace weft::world
