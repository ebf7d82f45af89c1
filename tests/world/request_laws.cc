// The laws of what an operator asks of the API server.

#include <algorithm>

#include "tests/world/laws.h"
#include "tests/world/pod_groups.h"

namespace weft::world {
namespace {

// What was decided under the Lease may still be on its way: a request takes up to 4.2 s
// (Faults::SlowRequests).
constexpr std::chrono::seconds kOnItsWay{5};
constexpr std::chrono::seconds kHot{10};
constexpr std::size_t kMostInHot = 25;
// What was refused for good is asked for again after 1, 2, 4 s and more; what happens to its object
// meanwhile may shorten a pause to a second (work_queue.h). Most refusals of one body in each span:
constexpr std::pair<std::chrono::seconds, std::size_t> kMostRefusals[] = {
    {std::chrono::seconds(2), 4}, {std::chrono::seconds(60), 15}, {std::chrono::seconds(600), 40}};
// What fails is tried again after 5, 10, 20, ... ms; from the ninth time on no event makes that
// less than a second.
constexpr std::size_t kManyFailures = 9;
constexpr std::chrono::milliseconds kLeastPause{990};

// A refused write is told at once, one that fails after ten seconds (life/unanswered.h), of which a
// slow request may hide four. That is written before the same is asked for again after a pause.
constexpr std::chrono::seconds kRefusedFor{14}, kPause{5};
// A service takes a minute, other writes less, until they are tried again; else another begins.
constexpr std::chrono::seconds kRow{90};

bool IsRefusal(int status) { return status == 400 || status == 403 || status == 422; }

bool IsOurs(const std::string& resource) {
  static const std::set<std::string> kOurs = {
      "trainingjobs.weft.dev", "placements.weft.dev", "pods", "services", "configmaps", "secrets",
      kPodGroupResource};
  return kOurs.contains(resource);
}

// uid and resourceVersion that the request says the object must have.
std::pair<std::string, std::string> Preconditions(const kube::Request& request, const Json& body) {
  if (body.is_array()) {
    std::pair<std::string, std::string> found;
    for (const Json& one : body) {
      if (TextAt(one, {"op"}) != "test") continue;
      if (TextAt(one, {"path"}) == "/metadata/uid") found.first = TextAt(one, {"value"});
      if (TextAt(one, {"path"}) == "/metadata/resourceVersion") {
        found.second = TextAt(one, {"value"});
      }
    }
    return found;
  }
  if (request.method == kube::Method::kDelete || request.path.ends_with("/eviction")) {
    const Json& how = body.contains("deleteOptions") ? body.at("deleteOptions") : body;
    return {TextAt(how, {"preconditions", "uid"}),
            TextAt(how, {"preconditions", "resourceVersion"})};
  }
  return {TextAt(body, {"metadata", "uid"}), TextAt(body, {"metadata", "resourceVersion"})};
}

std::string Told(const Sent& sent) {
  return sent.machine + " " + kube::NameOf(sent.request.method) + " " + sent.request.path + " (" +
         std::to_string(sent.answer.status) + ")";
}

}  // namespace

bool Mentions(const Json& job, const std::string& words) {
  const Json& all = At(job, {"status", "conditions"});
  return std::any_of(all.begin(), all.end(), [&](const Json& one) {
    const bool quotes = !words.empty() && TextAt(one, {"message"}).find(words) != words.npos;
    return quotes || TextAt(one, {"reason"}) == "NotWritten";
  });
}

// Of all namespaces. A process begins to work when it has read every kind.
void Laws::NoteRead(const std::string& machine, const std::string& resource) {
  Reader& reader = readers_[machine];
  if (reader.kinds.insert(resource).second) reader.since = fibers_.now();
}

void Laws::OnSent(const Sent& sent) {
  const kube::Request& request = sent.request;
  const auto version = request.query.find("resourceVersion");
  if (version != request.query.end() && version->second == "0") {
    Break("I16", Told(sent) + " reads at resourceVersion=0");
  }
  LookAtRefusal(sent);
  const std::string resource = ResourceOf(request.path);
  if (request.method == kube::Method::kGet) {
    const bool all = request.path.find("/namespaces/") == std::string::npos;
    if (all && sent.answer.status < 400) NoteRead(sent.machine, resource);
    return;
  }
  if (resource == "leases.coordination.k8s.io") return;
  if (holder_ != sent.machine) {
    const auto held = held_.find(sent.machine);
    if (held == held_.end() || fibers_.now() - held->second > kOnItsWay) {
      Break("I7", Told(sent) + " without the Lease, which is " +
                      (holder_.empty() ? "nobody" : holder_) + "'s");
    }
  }
  LookAtRate(sent, resource);
  LookAtSecret(sent, resource);
  if (IsOurs(resource)) LookAtWrite(sent, resource);
}

// The chart's rights and policies let the operator do all that it asks for. Other refusals are
// faults.
void Laws::LookAtRefusal(const Sent& sent) {
  if (sent.answer.status != 403 && sent.answer.status != 422) return;
  const std::string message = TextAt(Json::parse(sent.answer.body), {"message"});
  const bool by_rights = message.find(" is forbidden: User \"") != std::string::npos;
  const bool by_policy = message.find("ValidatingAdmissionPolicy '") != std::string::npos;
  // What a policy says to the author of a job, who reads it in a condition.
  const bool of_author = message.find(" denied request: a job whose ") != std::string::npos;
  if (by_rights || (by_policy && !of_author)) Break("I24", Told(sent) + ": " + message);
}

// Only the spec of a pod, or of the Workload that Kueue admits for them, has the environment of the
// job's template.
void Laws::LookAtSecret(const Sent& sent, const std::string& resource) {
  const std::string& body = sent.request.body;
  if (options_.canary.empty() || body.find(options_.canary) == body.npos) return;
  Json told = Json::parse(body);
  if (resource == "pods" || resource == "workloads.kueue.x-k8s.io") told.erase("spec");
  if (told.dump().find(options_.canary) == std::string::npos) return;
  Break("I17", Told(sent) + " tells a secret");
}

void Laws::LookAtWrite(const Sent& sent, const std::string& resource) {
  const kube::Request& request = sent.request;
  const Json body = request.body.empty() ? Json::object() : Json::parse(request.body);
  const auto [uid, version] = Preconditions(request, body);
  if (sent.answer.status / 100 != 2 || !untold_.empty()) {
    LookAtUntold(sent, resource, JobOfWrite(body, uid));
  }
  const bool evicts = request.path.ends_with("/eviction");
  // A Secret is never read; its name has the uid of its Placement.
  const bool names_uid = !uid.empty() || resource == "secrets";
  if ((request.method == kube::Method::kDelete || evicts) && !names_uid) {
    Break("I8", Told(sent) + " without the uid that it means");
  }
  if (request.method == kube::Method::kPatch || request.method == kube::Method::kPut) {
    if (uid.empty() && version.empty()) {
      Break("I8", Told(sent) + " without the uid or version that it means");
    }
    const bool of_job = resource == "trainingjobs.weft.dev";
    if (of_job && request.path.ends_with("/status") && version.empty()) {
      Break("I8", Told(sent) + " writes a status whatever the job has become");
    }
    if (of_job && body.is_object() && body.contains("spec")) {
      Break("I9", Told(sent) + " writes a spec");
    }
    if (resource == "placements.weft.dev" && !At(body, {"status", "nodes"}).empty() &&
        version.empty()) {
      Break("I2b", Told(sent) + " writes nodes whatever the Placement has become");
    }
  }
  if (request.method == kube::Method::kPost && !evicts) {
    bool owned = false;
    if (request.query.contains("dryRun")) {
      const auto job = cluster_.jobs.find(JobOf(body));
      if (job != cluster_.jobs.end()) tried_[job->first].insert(GenerationOf(*job->second));
      NoteTrial(sent, body);
    }
    for (const Json& owner : At(body, {"metadata", "ownerReferences"})) {
      const std::string kind = TextAt(owner, {"kind"});
      owned |= kind == "TrainingJob" || kind == "Placement" || kind == "Workload" || kind == "Job";
    }
    const bool learned = TextAt(body, {"metadata", "name"}) == "weft-learned-steps";
    // The operator deletes it itself (life::IsOfJob).
    owned |=
        resource == "services" && !TextAt(body, {"metadata", "labels", "weft.dev/job-uid"}).empty();
    if (!owned && !learned) Break("I9", Told(sent) + " creates what nobody owns");
  }
}

// The TrainingJob that the body is for, or whose object has the uid; else "".
std::string Laws::JobOfWrite(const Json& body, const std::string& uid) const {
  if (cluster_.jobs.contains(uid)) return uid;
  const auto of = [](const Json& object) { return LabelOf(object, "weft.dev/job-uid"); };
  const auto placement = cluster_.placements.find(uid);
  if (placement != cluster_.placements.end()) return of(*placement->second);
  for (const auto& [job, pods] : cluster_.pods_of_job) {
    if (pods.contains(uid)) return job;
  }
  for (const auto& [key, service] : cluster_.services) {
    if (UidOf(*service) == uid) return of(*service);
  }
  return body.is_object() ? of(body) : "";
}

void Laws::ForgetUntold(const std::string& job, bool refused) {
  std::erase_if(untold_, [&](const auto& one) {
    return std::get<0>(one.first) == job && (refused || !one.second.refused);
  });
}

// While the same write of a job is refused, or fails, a condition tells it. Excused: a process
// whose write of the job's status is not taken either; a job that is suspended; and PodGroups,
// without which the attempt goes on, as an event tells.
void Laws::LookAtUntold(const Sent& sent, const std::string& resource, const std::string& uid) {
  const auto found = cluster_.jobs.find(uid);
  if (found == cluster_.jobs.end() || resource == kPodGroupResource) return;
  const int status = sent.answer.status;
  const bool done = status / 100 == 2;
  if (resource == "trainingjobs.weft.dev" && sent.request.path.ends_with("/status")) {
    if (!done) ForgetUntold(uid, true);
    return;
  }
  if (sent.request.query.contains("dryRun") || status == 404) return;
  // A Service under its name may be somebody else's; other objects that exist are its own. After
  // that, and after what is taken, the operator counts failures anew.
  const bool conflict = status == 409 && resource != "services";
  if (done || conflict) ForgetUntold(uid, false);
  if (conflict) return;
  const Json& job = *found->second;
  const std::string what = kube::NameOf(sent.request.method) + (" " + resource) + " in attempt " +
                           std::to_string(NumberAt(job, {"status", "attempt"}));
  const bool excused = IsTrue(job, "Complete") || IsTrue(job, "Failed") || IsDeleting(job) ||
                       IsTrue(job, "Suspended") ||
                       TextAt(ConditionOf(job, "Accepted"), {"reason"}) == "Invalid";
  const Json answer = Json::parse(done ? "{}" : sent.answer.body, nullptr, false);
  const std::string words = TextAt(answer, {"message"});
  const std::tuple key{uid, sent.machine, what};
  if (done || excused || Mentions(job, words)) {
    untold_.erase(key);
    return;
  }
  const Instant now = fibers_.now();
  Untold& row = untold_.try_emplace(key, Untold{now, now, false}).first->second;
  row.refused = IsRefusal(status) || status == 409;
  if (now - row.last > kRow) row.first = now;
  const bool untold = row.last - row.first > kRefusedFor && now - row.last > kPause;
  row.last = now;
  if (!untold) return;
  untold_.erase(key);
  Break("I29", api::Show(KeyOf(job)) +
                   " does not say that a write of it is refused: " + Told(sent) + " " + words);
}

// Whether the same thing is refused too often. Another body asks for something else: its object has
// changed.
bool Laws::IsRefusedTooOften(const std::string& what, const std::string& body) {
  Refused& row = refused_[what];
  if (std::exchange(row.body, body) != body) row.times.clear();
  row.times.push_back(fibers_.now());
  return std::any_of(std::begin(kMostRefusals), std::end(kMostRefusals), [&](const auto& most) {
    const auto since =
        std::lower_bound(row.times.begin(), row.times.end(), fibers_.now() - most.first);
    return static_cast<std::size_t>(row.times.end() - since) > most.second;
  });
}

// Nothing is asked for again and again: every retry waits longer than the last.
void Laws::LookAtRate(const Sent& sent, const std::string& resource) {
  if (resource == "events.events.k8s.io") return;
  std::string what =
      sent.machine + " " + kube::NameOf(sent.request.method) + " " + sent.request.path;
  if (sent.request.query.contains("dryRun")) what += " (dry run)";
  if (sent.request.method == kube::Method::kPost && !sent.request.path.ends_with("/eviction")) {
    const Json body = Json::parse(sent.request.body);
    what += " " + TextAt(body, {"metadata", "name"});
  }
  const auto count = [&](std::deque<Instant>& times, Instant::duration span) {
    times.push_back(fibers_.now());
    while (times.front() < fibers_.now() - span) times.pop_front();
    return times.size();
  };
  const bool hot = count(times_[what], kHot) > kMostInHot;
  const bool refused = IsRefusal(sent.answer.status) && IsRefusedTooOften(what, sent.request.body);
  if (sent.answer.status / 100 == 2) refused_.erase(what);
  auto& [failures, last] = failed_[what];
  const bool failed = failures >= kManyFailures && fibers_.now() - last < kLeastPause;
  failures = sent.answer.status >= 500 ? failures + 1 : 0;
  last = fibers_.now();
  // What succeeds meanwhile begins the pauses anew, perhaps of this very object.
  if (sent.answer.status / 100 == 2) failed_.clear();
  if ((hot || refused || failed) && hot_.insert(what).second) {
    Break("I6", what + " again and again" +
                    (refused  ? ", although it is refused"
                     : failed ? ", although it fails"
                              : ""));
  }
}

}  // namespace weft::world
