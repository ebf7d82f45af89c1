#include "tests/world/faults.h"

#include <algorithm>
#include <array>
#include <utility>

#include "tests/world/by_number.h"
#include "tests/world/world.h"

namespace weft::world {
namespace {

bool Succeeded(const Json& pod) { return TextAt(pod, {"status", "phase"}) == "Succeeded"; }

bool IsBound(const Json& pod) {
  return !TextAt(pod, {"spec", "nodeName"}).empty() && !IsDeleting(pod);
}

// How long nothing may go on after a fault of the network or the leader: a Lease that is not
// renewed is taken after 15 s, and a new leader reads everything.
constexpr seconds kRecovery{45};

}  // namespace

const std::vector<Faults::Kind>& Faults::All() {
  static const std::vector<Kind> kAll = {
      {"kill-leader", &Faults::KillLeader},
      {"kill-any", &Faults::KillAny},
      {"stop-leader", &Faults::StopLeader},
      {"freeze-leader", &Faults::FreezeLeader},
      {"freeze-writer", &Faults::FreezeWriter},
      {"jump-clock", &Faults::JumpClock},
      {"cut-leader", &Faults::CutLeader},
      {"server-down", &Faults::ServerDown},
      {"slow-requests", &Faults::SlowRequests},
      {"lost-requests", &Faults::LostRequests},
      {"unanswered-requests", &Faults::UnansweredRequests},
      {"busy-server", &Faults::BusyServer},
      {"late-watch", &Faults::LateWatch},
      {"cut-watches", &Faults::CutWatches},
      {"compaction", &Faults::Compaction},
      {"watch-gap", &Faults::WatchGap},
      {"restore-etcd", &Faults::RestoreEtcd},
      {"lose-node", &Faults::LoseNode},
      {"make-node-anew", &Faults::MakeNodeAnew},
      {"scale-down", &Faults::ScaleDown},
      {"restart-plugin", &Faults::RestartPlugin},
      {"fail-starts", &Faults::FailStarts},
      {"crash-pod", &Faults::CrashPod},
      {"cordon", &Faults::Cordon},
      {"taint-node", &Faults::TaintNode},
      {"silence-scheduler", &Faults::SilenceScheduler},
      {"refuse-node", &Faults::RefuseNode},
      {"collect-pods", &Faults::CollectPods},
      {"delete-pod", &Faults::DeletePod},
      {"evict-pod", &Faults::EvictPod},
      {"delete-placement", &Faults::DeletePlacement},
      {"delete-new-placement", &Faults::DeleteNewPlacement},
      {"delete-service", &Faults::DeleteService},
      {"tight-quota", &Faults::TightQuota},
      {"quota-conflict", &Faults::QuotaConflict},
      {"refuse-pods", &Faults::RefusePods},
      {"refuse-placements", &Faults::RefusePlacements},
      {"fail-webhook", &Faults::FailWebhook},
      {"hang-webhook", &Faults::HangWebhook},
      {"mutate-pods", &Faults::MutatePods},
      {"strip-by-policy", &Faults::StripByPolicy},
      {"urgent-pod", &Faults::UrgentPod},
      {"foreign-service", &Faults::ForeignService},
      {"ownerless-placement", &Faults::OwnerlessPlacement},
      {"odd-annotation", &Faults::OddAnnotation},
      {"odd-label", &Faults::OddLabel},
      {"strip-finalizer", &Faults::StripFinalizer},
      {"delete-namespace", &Faults::DeleteNamespace},
      {"edit-job", &Faults::EditJob},
      {"restore-job", &Faults::RestoreJob},
      {"restore-placement", &Faults::RestorePlacement},
      {"false-pod", &Faults::FalsePod},
      {"change-gate", &Faults::ChangeGate, true},
      {"delete-group", &Faults::DeleteGroup, true},
      {"edit-min-count", &Faults::EditMinCount, true},
      {"foreign-group", &Faults::ForeignGroup, true},
      {"take-node", &Faults::TakeNode, true},
  };
  return kAll;
}

Faults::Faults(World& world, std::uint64_t seed)
    : world_(world),
      admin_(world.server_, "admin"),
      editor_(world.server_, "researcher"),
      seed_(seed),
      chance_(seed) {
  const std::uint64_t share = 1 + Below(4);  // a quarter of the catalogue, up to all of it
  for (const Kind& kind : All()) {
    if (kind.of_groups && !world_.gates_.served) continue;
    if (Below(4) < share) chosen_.push_back(kind);
  }
  kueue_eighths_ = 1 + Below(4);
}

void Faults::Strike(std::size_t number) {
  chance_ = SplitMix64(ByNumber(seed_, number));
  number_ = number;
  if (world_.kueue_ && Below(8) < kueue_eighths_) {
    const std::string done = world_.kueue_->Strike(number);
    if (!done.empty()) world_.OnFault(number, "kueue: " + done);
    return;
  }
  if (chosen_.empty()) return;
  const Kind& kind = chosen_[Below(chosen_.size())];
  const std::string what = (this->*kind.act)();
  if (!what.empty()) world_.OnFault(number, std::string(kind.name) + ": " + what);
}

void Faults::EndAll() {
  world_.weather_ = world_.fair_;
  world_.kubelets_.SetStartsFail(Kubelets::Lacks::kImage, {});
  world_.scheduler_.SetSilent(false);
}

void Faults::Hard(seconds time) {
  world_.hard_until_ = std::max(world_.hard_until_, world_.fibers_.now() + time + kRecovery);
}

seconds Faults::Some(std::uint64_t least, std::uint64_t most) {
  return seconds(static_cast<std::int64_t>(least + Below(most - least + 1)));
}

std::string Faults::AnyNode() {
  const auto node = Any(kube::kNodes);
  return node ? TextAt(*node, {"metadata", "name"}) : "";
}

std::string Faults::AnySpace() { return std::array{"team-a", "team-b", "team-c"}[Below(3)]; }

std::shared_ptr<const Json> Faults::Any(const kube::Resource& resource, bool (*is)(const Json&)) {
  std::vector<std::shared_ptr<const Json>> fit;
  for (const auto& [key, object] : world_.server_.All(NameOf(resource))) {
    if (is == nullptr || is(*object)) fit.push_back(object);
  }
  return fit.empty() ? nullptr : fit[Below(fit.size())];
}

// A pod that nobody will miss for the wrong reason: who did not see it come or end cannot know that
// it has been there, and makes it again or counts it as lost.
std::shared_ptr<const Json> Faults::AnyOfWholeGang() {
  std::vector<std::shared_ptr<const Json>> fit;
  for (const auto& [key, pod] : world_.server_.All("pods")) {
    const std::string job = JobOf(*pod);
    const auto owner = world_.laws_.cluster().jobs.find(job);
    const bool whole =
        owner != world_.laws_.cluster().jobs.end() && IsTrue(*owner->second, "PodsReady");
    if (Runs(*pod) && (job.empty() || whole)) fit.push_back(pod);
  }
  return fit.empty() ? nullptr : fit[Below(fit.size())];
}

std::string Faults::KillLeader() {
  Incarnation* leader = world_.Leader();
  if (leader == nullptr) return "";
  Hard(seconds(0));
  leader->Kill();
  return leader->identity();
}

std::string Faults::KillAny() {
  if (world_.hosts_.empty()) return "";
  World::Host& host = world_.hosts_[Below(world_.hosts_.size())];
  if (!host.now || host.now->ended()) return "";
  Hard(seconds(0));
  host.now->Kill();
  return host.now->identity();
}

std::string Faults::StopLeader() {
  Incarnation* leader = world_.Leader();
  if (leader == nullptr) return "";
  Hard(seconds(0));
  world_.stopped_[leader->identity()] = world_.fibers_.now();
  leader->Terminate();
  return leader->identity();
}

void Faults::Freeze(Incarnation& replica, seconds time) {
  const Instant until = world_.fibers_.now() + time;
  world_.stormy_ = std::max(world_.stormy_, until);
  replica.machine().Freeze(until);
}

std::string Faults::FreezeLeader() {
  Incarnation* leader = world_.Leader();
  if (leader == nullptr) return "";
  const seconds time = Some(1, 60);
  Hard(time);
  Freeze(*leader, time);
  return leader->identity() + " for " + std::to_string(time.count()) + " s";
}

// The clock of a leader's machine jumps by up to two hours while a gang starts, and back. Whoever
// begins to lead meanwhile knows better only by the API server's Date.
std::string Faults::JumpClock() {
  if (!world_.HasDates()) return "";
  const std::int64_t jump = static_cast<std::int64_t>(Below(14'401)) - 7'200;
  const seconds time = Some(1, 600);
  const auto until = world_.fibers_.now() + seconds(900);
  world_.on_write_ = [this, jump, time, until](const Sent& sent) {
    const bool creates =
        sent.request.method == kube::Method::kPost && ResourceOf(sent.request.path) == "pods";
    Incarnation* writer = world_.Find(sent.machine);
    if (world_.fibers_.now() > until) return true;
    if (!creates || writer == nullptr) return false;
    const WallMicros before = writer->machine().ahead();
    writer->machine().SetAhead(before + jump * 1'000'000);
    world_.fibers_.After(time, [this, before, name = sent.machine] {
      Incarnation* there = world_.Find(name);
      if (there != nullptr) there->machine().SetAhead(before);
    });
    world_.Say("FAULT sets the clock of " + sent.machine + " on by " + std::to_string(jump) + " s");
    return true;
  };
  return "by " + std::to_string(jump) + " s for " + std::to_string(time.count()) + " s";
}

// In the middle of its writes for a gang, so that it goes on with the next one when it thaws; by
// then another may lead.
std::string Faults::FreezeWriter() {
  const seconds time = Some(20, 60);
  world_.on_write_ = [this, time, until = world_.fibers_.now() + seconds(900)](const Sent& sent) {
    const bool creates =
        sent.request.method == kube::Method::kPost && ResourceOf(sent.request.path) == "pods";
    Incarnation* leader = world_.Leader();
    if (world_.fibers_.now() > until) return true;
    if (!creates || leader == nullptr || leader->identity() != sent.machine) return false;
    Hard(time);
    Freeze(*leader, time);
    world_.Say("FAULT freezes " + leader->identity() + " for " + std::to_string(time.count()) +
               " s");
    return true;
  };
  return "when it creates the next pod";
}

std::string Faults::CutLeader() {
  Incarnation* leader = world_.Leader();
  if (leader == nullptr) return "";
  const seconds time = Some(1, 90);
  Hard(time);
  leader->SetCut(true);
  world_.stormy_ = std::max(world_.stormy_, world_.fibers_.now() + time);
  world_.fibers_.After(time, [this, identity = leader->identity()] {
    for (World::Host& host : world_.hosts_) {
      if (host.now && host.now->identity() == identity) host.now->SetCut(false);
    }
  });
  return leader->identity() + " for " + std::to_string(time.count()) + " s";
}

std::string Faults::ServerDown() {
  const seconds time = Some(1, 60);
  Hard(time);
  SetDown(true);
  world_.fibers_.After(time, [this] { SetDown(false); });
  return std::to_string(time.count()) + " s";
}

void Faults::SetDown(bool down) {
  world_.weather_.down = down;
  if (!down) return;
  for (World::Host& host : world_.hosts_) {
    if (host.now) host.now->WakeStreams();
  }
}

std::string Faults::SlowRequests() {
  const seconds time = Some(5, 120);
  Hard(time);
  world_.weather_.most_delay = Millis(200 + Below(4'000));
  world_.fibers_.After(time, [this] { world_.weather_.most_delay = world_.fair_.most_delay; });
  return std::to_string(world_.weather_.most_delay.count()) + " ms";
}

std::string Faults::LostRequests() {
  const seconds time = Some(5, 60);
  Hard(time);
  world_.weather_.lost = static_cast<unsigned>(20 + Below(300));
  world_.fibers_.After(time, [this] { world_.weather_.lost = 0; });
  return std::to_string(world_.weather_.lost) + " of 1,000";
}

std::string Faults::UnansweredRequests() {
  const seconds time = Some(5, 60);
  Hard(time);
  world_.weather_.unanswered = static_cast<unsigned>(20 + Below(300));
  world_.fibers_.After(time, [this] { world_.weather_.unanswered = 0; });
  return std::to_string(world_.weather_.unanswered) + " of 1,000";
}

std::string Faults::BusyServer() {
  const seconds time = Some(5, 120);
  Hard(time);
  world_.weather_.busy = static_cast<unsigned>(50 + Below(600));
  world_.fibers_.After(time, [this] { world_.weather_.busy = 0; });
  return std::to_string(world_.weather_.busy) + " of 1,000";
}

std::string Faults::LateWatch() {
  const std::vector<std::string> watched = world_.watches_.Resources();
  if (watched.empty()) return "";
  const std::string resource = watched[Below(watched.size())];
  const seconds time = Some(10, 300);
  world_.weather_.late[resource] = Millis(100 + Below(20'000));
  Hard(time + seconds(20));
  world_.fibers_.After(time, [this, resource] { world_.weather_.late.erase(resource); });
  return resource + " by " + std::to_string(world_.weather_.late[resource].count()) + " ms";
}

std::string Faults::CutWatches() {
  const seconds time = Some(10, 120);
  Hard(time);
  world_.weather_.cut_watches = static_cast<unsigned>(20 + Below(400));
  world_.fibers_.After(time, [this] { world_.weather_.cut_watches = 0; });
  return std::to_string(world_.weather_.cut_watches) + " of 1,000 events";
}

std::string Faults::Compaction() {
  const bool restarts = Below(2) == 0;
  if (!restarts) {
    world_.server_.Compact();
    return "all changes so far are forgotten";
  }
  // All watches are opened again, at versions that are too old by then.
  const seconds time = Some(5, 40);
  Hard(time);
  SetDown(true);
  const auto pod = AnyOfWholeGang();  // goes meanwhile
  if (pod) {
    world_.fibers_.After(time / 2, [this, key = KeyOf(*pod)] {
      admin_.Delete(kube::kPods, key, {.grace_seconds = 0});
    });
  }
  world_.fibers_.After(time, [this] {
    world_.server_.Compact();
    SetDown(false);
  });
  return "after " + std::to_string(time.count()) + " s without the server";
}

// Watches break and cannot be opened for a while, as behind a proxy that restarts. Meanwhile
// something goes, and then the server forgets that.
std::string Faults::WatchGap() {
  const seconds time = Some(3, 30);
  const bool forgets = Below(2) == 0;
  world_.BreakWatches(time);
  for (int i = 0; i < 3; ++i) {
    const auto pod = AnyOfWholeGang();
    if (!pod) break;
    world_.fibers_.After(time / 2, [this, key = KeyOf(*pod)] {
      admin_.Delete(kube::kPods, key, {.grace_seconds = 0});
    });
  }
  world_.fibers_.After(time - Millis(1), [this, forgets] {
    if (forgets) world_.server_.Compact();
  });
  return std::to_string(time.count()) + " s" + (forgets ? ", then all changes are forgotten" : "");
}

std::string Faults::SilenceScheduler() {
  const seconds time = Some(5, 180);
  world_.scheduler_.SetSilent(true);
  world_.fibers_.After(time, [this] { world_.scheduler_.SetSilent(false); });
  return std::to_string(time.count()) + " s";
}

// Somebody who cleans up.
std::string Faults::CollectPods() {
  // First one of each gang whose other workers go on.
  std::size_t count = 0;
  const auto jobs = world_.laws_.cluster().pods_of_job;
  for (const auto& [job, pods] : jobs) {
    const auto done = std::find_if(pods.begin(), pods.end(),
                                   [](const auto& one) { return Succeeded(*one.second); });
    const bool goes_on =
        std::any_of(pods.begin(), pods.end(), [](const auto& one) { return Runs(*one.second); });
    if (done == pods.end() || !goes_on) continue;
    admin_.Delete(kube::kPods, KeyOf(*done->second), {.grace_seconds = 0});
    ++count;
  }
  for (; count < 20; ++count) {
    const auto pod = Any(kube::kPods, Succeeded);
    if (!pod) break;
    admin_.Delete(kube::kPods, KeyOf(*pod), {.grace_seconds = 0});
  }
  return count == 0 ? "" : std::to_string(count) + " pods";
}

std::string Faults::DeletePod() {
  const auto pod = Any(kube::kPods);
  if (!pod) return "";
  editor_.Delete(kube::kPods, KeyOf(*pod));
  return api::Show(KeyOf(*pod));
}

std::string Faults::EvictPod() {
  const auto pod = Any(kube::kPods, IsBound);
  if (!pod) return "";
  admin_.Evict(KeyOf(*pod));
  return api::Show(KeyOf(*pod));
}

std::string Faults::DeletePlacement() {
  const auto placement = Any(kube::kPlacements);
  if (!placement) return "";
  editor_.Delete(kube::kPlacements, KeyOf(*placement));
  return api::Show(KeyOf(*placement));
}

// The next gang of which a pod is created, and not yet so many of a hundred. `act` gets its
// Placement.
void Faults::AwaitCreation(std::size_t percent, std::function<void(const Json& placement)> act) {
  const Instant until = world_.fibers_.now() + seconds(900);
  world_.on_change_ = [this, until, percent, act = std::move(act)](const Change& change) {
    if (world_.fibers_.now() > until) return true;
    const bool made = change.resource == "pods" && change.type == Change::Type::kAdded;
    const std::string job = made ? JobOf(*change.object) : "";
    const auto plans = world_.laws_.cluster().placements_of_job.find(job);
    if (job.empty() || plans == world_.laws_.cluster().placements_of_job.end()) return false;
    const auto plan = plans->second.find(AttemptOf(*change.object));
    if (plan == plans->second.end() || IsDeleting(*plan->second)) return false;
    const std::size_t workers = NodesOf(*plan->second).size();
    const std::size_t live = world_.laws_.cluster().LivePods(job).size();
    if (live == 0 || live >= workers || live * 100 < workers * percent) return false;
    world_.Say("FAULT " + api::Show(KeyOf(*plan->second)) + " has " + std::to_string(live) +
               " of " + std::to_string(workers) + " pods");
    act(*plan->second);
    return true;
  };
}

// While the pods of its gang are being created; for a moment the others cannot be.
std::string Faults::DeleteNewPlacement() {
  AwaitCreation(1, [this, time = Some(2, 8)](const Json& placement) {
    const api::ObjectKey key = KeyOf(placement);
    Fail("pods", key.space, time);
    world_.fibers_.After(Millis(1), [this, key] { editor_.Delete(kube::kPlacements, key); });
  });
  return "the next";
}

std::string Faults::DeleteService() {
  const auto service = Any(kube::kServices);
  if (!service) return "";
  editor_.Delete(kube::kServices, KeyOf(*service));
  return api::Show(KeyOf(*service));
}

// A pod of somebody else that takes the place of others.
std::string Faults::UrgentPod() {
  const std::string name = "urgent-" + std::to_string(number_);
  const Json pod = {
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata",
       {{"name", name},
        {"namespace", "other"},
        {"annotations", {{"weft.test/run-seconds", std::to_string(30 + Below(600))}}}}},
      {"spec",
       {{"priority", 1'000'000},
        {"priorityClassName", "urgent"},
        {"containers",
         {{{"name", "one"},
           {"image", "registry.example/serve:1"},
           {"resources", {{"limits", {{"nvidia.com/gpu", "8"}}}}}}}}}}};
  admin_.Create(kube::kPods, pod);
  return name;
}

}  // namespace weft::world
