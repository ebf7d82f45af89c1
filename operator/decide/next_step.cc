#include "operator/decide/next_step.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "operator/base/seeded_bug.h"
#include "operator/decide/conditions.h"
#include "operator/decide/fault.h"
#include "operator/decide/placement_pods.h"
#include "operator/decide/reserved_names.h"
#include "operator/decide/text.h"
#include "operator/decide/verify.h"

namespace weft::decide {
namespace {

template <typename Number>
std::optional<Number> LabelNumber(const api::ObjectMeta& meta, const char* key) {
  const std::string_view text = meta.labels.At(key).value_or("");
  Number value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || stop != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

// A label beyond was not written by us, and could not be counted on.
constexpr std::int64_t kAttemptsAtMost = 2'147'483'647;

// How soon it is noticed that a node which a gang waits for is deleted.
constexpr std::int64_t kNodesLookedAtSeconds = 2;

// Reasons of PodsReady: how far an attempt has come.
constexpr std::string_view kCreating = "Creating";  // pods are being created
constexpr std::string_view kBinding = "Binding";    // all exist; kube-scheduler binds them
constexpr std::string_view kStarting = "Starting";  // all bound, not all ready yet
constexpr std::string_view kAllReady = "AllReady";
constexpr std::string_view kNotAllReady = "NotAllReady";  // they were, once

// Reason of Accepted while the template uses a name of Weft's own.
constexpr std::string_view kReserved = "ReservedName";

// Reason of Suspended while it is False and the attempt is being undone.
constexpr std::string_view kSuspending = "Suspending";

std::optional<std::int64_t> Sooner(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  return a && b ? std::min(a, b) : a ? a : b;
}

class Life {
 public:
  Life(const JobView& view, const LifeOptions& options)
      : view_(view), options_(options), job_(*view.job), status_(decide::StatusOf(*view.job)) {}

  Step Next() {
    if (job_.meta.deleting) return Depart();
    if (!job_.unreadable.empty()) return Refuse();
    if (!HasFinalizer()) return AddFinalizer{};
    if (IsFinished(job_)) return AfterTheEnd();
    if (auto stale = PodsNotOf(status_.attempt); !stale.empty() && !Seeded(Bug::kOldPodsKept)) {
      return DeletePods{stale};
    }
    if (job_.suspend || ReasonOf(status_, "Suspended") == kSuspending) return Suspend();
    if (Is(status_, "Suspended")) return Resume();
    if (auto step = Accept()) return *std::move(step);
    if (Overdue()) return FailNow("DeadlineExceeded", "activeDeadlineSeconds have passed");
    if (Is(status_, "Restarting")) return TearDown();
    if (const api::Placement* next = PlacementAfter(status_.attempt)) return Adopt(*next);
    if (!Is(status_, "Placed")) return Place();
    return Follow();
  }

 private:
  bool HasFinalizer() const {
    const auto& finalizers = job_.meta.finalizers;
    return std::find(finalizers.begin(), finalizers.end(), kFinalizer) != finalizers.end();
  }

  std::vector<const api::Pod*> LivePods() const {
    std::vector<const api::Pod*> pods;
    for (const api::Pod* pod : view_.pods) {
      if (!IsGone(view_, *pod, options_)) pods.push_back(pod);
    }
    return pods;
  }

  // Pods of older attempts that nobody has deleted yet.
  std::vector<const api::Pod*> PodsNotOf(std::int64_t attempt) const {
    std::vector<const api::Pod*> pods;
    for (const api::Pod* pod : view_.pods) {
      if (AttemptLabel(pod->meta).value_or(0) < attempt && !pod->meta.deleting) {
        pods.push_back(pod);
      }
    }
    return pods;
  }

  const api::Placement* PlacementAfter(std::int64_t attempt) const {
    const api::Placement* next = nullptr;
    for (const api::Placement* placement : view_.placements) {
      const auto number = AttemptLabel(placement->meta);
      if (!number || *number <= attempt || placement->nodes.empty()) continue;
      if (placement->meta.deleting) continue;
      if (next == nullptr || *number < AttemptLabel(next->meta)) next = placement;
    }
    return next;
  }

  // Pods away first, then the Placements: until then they hold what the pods may still use.
  // Nothing where both are gone.
  std::optional<Step> Clear() {
    std::vector<const api::Pod*> live = LivePods();
    if (Seeded(Bug::kOldPodsKept)) live.clear();
    std::vector<const api::Pod*> doomed;
    for (const api::Pod* pod : live) {
      if (!pod->meta.deleting) doomed.push_back(pod);
    }
    if (!doomed.empty()) return DeletePods{std::move(doomed)};
    if (!live.empty()) return Wait{WaitForPods(live)};
    std::vector<const api::Placement*> placements;
    for (const api::Placement* placement : view_.placements) {
      if (!placement->meta.deleting) placements.push_back(placement);
    }
    if (!placements.empty()) return DeletePlacements{std::move(placements)};
    return std::nullopt;
  }

  // Pods vanish by themselves, but for those on lost nodes, whose grace period has an end.
  std::optional<std::int64_t> WaitForPods(const std::vector<const api::Pod*>& pods) const {
    std::optional<std::int64_t> soonest;
    for (const api::Pod* pod : pods) {
      if (pod->node_name.empty()) continue;
      const NodeState state = view_.node_state(pod->node_name);
      if (state.exists && !state.not_ready_since) continue;
      const UnixSeconds lost =
          state.exists ? *state.not_ready_since + options_.node_loss_seconds : view_.now;
      const UnixSeconds ends = ParseTime(pod->meta.deletion_timestamp).value_or(view_.now);
      const std::int64_t left = std::max<std::int64_t>(1, std::max(lost, ends) - view_.now);
      soonest = std::min(soonest.value_or(left), left);
    }
    return soonest;
  }

  Step Depart() {
    if (!HasFinalizer()) return Wait{};
    auto step = Clear();
    if (step && !Seeded(Bug::kFinalizerEarly)) return *std::move(step);
    return RemoveFinalizer{};
  }

  // Without a spec nothing is decided: what runs goes on, and goes on being followed once the spec
  // can be read again. Said once.
  Step Refuse() {
    const JobStatus before = status_;
    PutCondition(status_.conditions, Unreadable(job_.unreadable), view_.now);
    status_.record.observed_generation = job_.meta.generation;
    if (status_ != before) return WriteStatus{std::move(status_)};
    return IsFinished(job_) ? AfterTheEnd() : Wait{};
  }

  // Programs that still run are ended; what has ended stays for its logs until the job goes.
  Step AfterTheEnd() {
    if (Seeded(Bug::kFailedTriedAgain) && Is(status_, "Failed")) {
      SetCondition(status_, {"Failed", false, "Again", "tried again"}, view_.now);
      return GiveUp("Again", "tried again");
    }
    std::vector<const api::Pod*> running;
    for (const api::Pod* pod : view_.pods) {
      const bool ended = pod->phase == "Succeeded" || pod->phase == "Failed";
      if (!ended && !pod->meta.deleting) running.push_back(pod);
    }
    if (!running.empty()) return DeletePods{std::move(running)};
    if (!job_.ttl_seconds_after_finished) return Wait{};
    const auto ended = ParseTime(status_.record.completion_time);
    const std::int64_t left =
        ended.value_or(view_.now) + *job_.ttl_seconds_after_finished - view_.now;
    if (left > 0) return Wait{left};
    return DeleteJob{};
  }

  // Said before the first pod goes and carried to its end, so that a job that is resumed meanwhile
  // starts a new attempt, and never the old one again or as if its pods had failed.
  Step Suspend() {
    if (Is(status_, "Placed") && !Is(status_, "Restarting") &&
        ReasonOf(status_, "Suspended") != kSuspending) {
      SetCondition(status_, {"Suspended", false, kSuspending, "the pods are being deleted"},
                   view_.now);
      return WriteStatus{std::move(status_)};
    }
    if (auto step = Clear()) return *std::move(step);
    if (Is(status_, "Suspended")) return Accept().value_or(Wait{});
    SetCondition(status_, {"Suspended", true, "Suspended", "spec.suspend is true"}, view_.now);
    if (Is(status_, "Restarting")) {
      SetCondition(status_, {"Restarting", false, "Suspended", "suspended"}, view_.now);
    }
    Unplace("Suspended", "the job is suspended");
    return WriteStatus{std::move(status_)};
  }

  Step Resume() {
    const auto since = Since(status_, "Suspended");
    if (since && !status_.record.start_time.empty()) {
      status_.record.suspended_seconds += std::max<std::int64_t>(0, view_.now - *since);
    }
    SetCondition(status_, {"Suspended", false, "Resumed", "spec.suspend is false"}, view_.now);
    return WriteStatus{std::move(status_)};
  }

  // Whether the job as it is now could run at all; a suspended one too, so that its user need not
  // wait for a mistake.
  std::optional<Step> Accept() {
    if (auto refused = RefuseReserved()) return refused;
    const api::Condition* accepted = FindCondition(status_, "Accepted");
    if (accepted == nullptr || job_.record.observed_generation != job_.meta.generation) {
      return DryRun{};
    }
    if (accepted->status != "True") return TryAgain();
    return std::nullopt;
  }

  // Looked at where the template is new, or was refused for it.
  std::optional<Step> RefuseReserved() {
    const bool was = ReasonOf(status_, "Accepted") == kReserved;
    if (!was && job_.record.observed_generation == job_.meta.generation) return std::nullopt;
    const auto use = FindReservedUse(job_);
    if (!use && was) return DryRun{};
    if (!use) return std::nullopt;
    const JobStatus before = status_;
    SetCondition(status_, {"Accepted", false, kReserved, use->field + ": " + use->message},
                 view_.now);
    status_.record.observed_generation = job_.meta.generation;
    status_.record.workers.desired = job_.replicas;
    if (status_ == before) return Wait{};
    return WriteStatus{std::move(status_)};
  }

  Step TryAgain() const {
    const std::int64_t age = view_.tried - Since(status_, "Accepted").value_or(view_.tried);
    const std::int64_t pause =
        std::clamp(age, options_.shortest_retry_seconds, options_.longest_retry_seconds);
    const std::int64_t left = view_.tried + pause - view_.now;
    if (left > 0 && !Seeded(Bug::kHotRefusal)) return Wait{left};
    return DryRun{};
  }

  void Unplace(std::string_view reason, const std::string& message) {
    SetCondition(status_, {"Placed", false, reason, message}, view_.now);
    SetCondition(status_, {"PodsReady", false, reason, message}, view_.now);
    std::erase_if(status_.conditions, [](const auto& one) { return one.type == kVerified; });
    status_.placement_name.clear();
    status_.record.summary = {};
    status_.record.workers = {job_.replicas, 0, 0, 0};
  }

  // From the first placement on, time in suspension left out.
  std::optional<std::int64_t> TimeLeft() const {
    const auto started = ParseTime(status_.record.start_time);
    if (!job_.active_deadline_seconds || !started) return std::nullopt;
    return *started + *job_.active_deadline_seconds + status_.record.suspended_seconds - view_.now;
  }
  bool Overdue() const {
    const auto left = TimeLeft();
    return left && *left <= 0;
  }

  Step FailNow(std::string_view reason, std::string message) {
    Fail(status_, reason, std::move(message), view_.now);
    return WriteStatus{std::move(status_)};
  }

  Step TearDown() {
    if (auto step = Clear()) return *std::move(step);
    if (Seeded(Bug::kAttemptBack)) status_.attempt = 0;
    const std::string why(ReasonOf(status_, "Restarting"));
    const std::string message = FindCondition(status_, "Restarting")->message;
    SetCondition(status_, {"Restarting", false, why, message}, view_.now);
    Unplace("Restarting", "attempt " + std::to_string(status_.attempt) + " was undone: " + message);
    return WriteStatus{std::move(status_)};
  }

  Step Adopt(const api::Placement& placement) {
    status_.attempt = *AttemptLabel(placement.meta);
    status_.placement_name = placement.meta.key.name;
    if (status_.record.start_time.empty()) status_.record.start_time = FormatTime(view_.now);
    std::string message = "see Placement " + placement.meta.key.name;
    for (const api::Condition& condition : placement.conditions) {
      if (condition.type == "Placed") message = condition.message;
    }
    SetCondition(status_, {"Placed", true, "Placed", message}, view_.now);
    SetCondition(status_, {"PodsReady", false, kCreating, "the pods are being created"}, view_.now);
    Summarise(placement, status_.record.summary);
    status_.record.workers = {job_.replicas, 0, 0, 0};
    status_.record.summary.workers = WorkersText();
    return WriteStatus{std::move(status_)};
  }

  // A refusal is written once; the planner asks again by itself whenever the cluster changes.
  Step Place() {
    if (!view_.refusal) return AskPlanner{};
    if (Seeded(Bug::kMuteRefusal)) return Wait{};
    const JobStatus before = status_;
    SetCondition(status_, {"Placed", false, view_.refusal->reason, view_.refusal->message},
                 view_.now);
    status_.record.workers.desired = job_.replicas;
    if (status_ == before) return Wait{TimeLeft()};
    return WriteStatus{std::move(status_)};
  }

  // When the first node of this attempt that is not Ready now counts as lost.
  std::optional<std::int64_t> NextLoss() const {
    std::optional<std::int64_t> soonest;
    for (const api::Pod* pod : PodsOfAttempt()) {
      const auto since = view_.node_state(pod->node_name).not_ready_since;
      if (since) soonest = Sooner(soonest, *since + options_.node_loss_seconds - view_.now);
    }
    return soonest;
  }

  // Pods that admission refuses (a quota, a webhook) must not hold the others' nodes for ever.
  bool CreationOverdue() const {
    const UnixSeconds placed = Since(status_, "Placed").value_or(view_.now);
    const std::int64_t most =
        options_.bind_deadline_seconds + job_.replicas / options_.creates_per_second;
    return view_.now - placed > most;
  }

  Step GiveUp(std::string_view reason, const std::string& message) {
    SetCondition(status_, {"Restarting", true, reason, message}, view_.now);
    SetCondition(status_, {"PodsReady", false, reason, message}, view_.now);
    return WriteStatus{std::move(status_)};
  }

  std::string WhyNotReady() const;
  Step Follow();
  void Count();
  void Verify();
  Step Undo(const std::vector<const api::Pod*>& unbound);
  std::optional<Step> CheckBound();
  const std::string* PlannedNode(const api::Pod& pod) const;
  Step CheckReady();
  std::vector<std::uint32_t> MissingWorkers() const;
  bool Completed() const;
  std::string WorkersText() const {
    return std::to_string(status_.record.workers.ready + status_.record.workers.succeeded) + "/" +
           std::to_string(status_.record.workers.desired);
  }
  std::vector<const api::Pod*> PodsOfAttempt() const {
    std::vector<const api::Pod*> pods;
    for (const api::Pod* pod : view_.pods) {
      if (AttemptLabel(pod->meta) == status_.attempt) pods.push_back(pod);
    }
    return pods;
  }

  const JobView& view_;
  const LifeOptions& options_;
  const api::TrainingJob& job_;
  JobStatus status_;
};

std::vector<std::uint32_t> Life::MissingWorkers() const {
  std::vector<bool> there(job_.replicas, false);
  for (const api::Pod* pod : PodsOfAttempt()) {
    const auto worker = WorkerLabel(pod->meta);
    if (worker && *worker < job_.replicas) there[*worker] = true;
  }
  std::vector<std::uint32_t> missing;
  for (std::uint32_t w = 0; w < job_.replicas; ++w) {
    if (!there[w]) missing.push_back(w);
  }
  return missing;
}

// Every worker has succeeded; of an MPI job the launcher, on worker 0, speaks for all.
bool Life::Completed() const {
  std::int64_t succeeded = 0;
  for (const api::Pod* pod : PodsOfAttempt()) {
    if (pod->phase != "Succeeded") continue;
    if (job_.framework.type == api::FrameworkType::kMPI && WorkerLabel(pod->meta) == 0U)
      return true;
    ++succeeded;
  }
  return succeeded == job_.replicas || (Seeded(Bug::kCompleteEarly) && succeeded > 0);
}

void Life::Count() {
  api::WorkerCounts& counts = status_.record.workers;
  counts = {job_.replicas, 0, 0, 0};
  for (const api::Pod* pod : PodsOfAttempt()) {
    if (pod->phase == "Succeeded") {
      ++counts.succeeded;
    } else if (pod->phase == "Failed") {
      ++counts.failed;
    } else if (pod->ready && !pod->meta.deleting) {
      ++counts.ready;
    }
  }
  status_.record.summary.workers = WorkersText();
}

void Life::Verify() {
  for (const api::Placement* placement : view_.placements) {
    if (AttemptLabel(placement->meta) != status_.attempt) continue;
    PutCondition(status_.conditions,
                 VerifyPlacement(job_, placement->nodes, PodsOfAttempt(), options_.verify_image),
                 view_.now);
  }
}

Step Life::Follow() {
  const bool creating = ReasonOf(status_, "PodsReady") == kCreating;
  Count();
  Verify();
  if (Completed()) {
    SetCondition(status_, {"Complete", true, "Succeeded", "every worker succeeded"}, view_.now);
    SetCondition(status_, {"PodsReady", false, "Complete", "the job is complete"}, view_.now);
    status_.record.completion_time = FormatTime(view_.now);
    return WriteStatus{std::move(status_)};
  }
  if (const auto fault = FindFault(view_, status_.attempt, !creating, options_)) {
    Restart(view_, *fault, status_);
    return WriteStatus{std::move(status_)};
  }
  if (auto missing = MissingWorkers(); !missing.empty()) {
    if (CreationOverdue()) return GiveUp("CreateRefused", "not all pods could be created in time");
    return CreatePods{status_.attempt, std::move(missing)};
  }
  // After the pods: its endpoints are then written once, not again for every few pods that come.
  if (!view_.service) {
    if (creating && CreationOverdue()) {
      return GiveUp("CreateRefused", "the job's Service could not be created in time");
    }
    return CreateService{};
  }
  if (creating) {
    SetCondition(status_, {"PodsReady", false, kBinding, "kube-scheduler is binding the pods"},
                 view_.now);
    return WriteStatus{std::move(status_)};
  }
  if (auto step = CheckBound()) return *std::move(step);
  return CheckReady();
}

// All bound, or undone at the deadline: a gang is never left half bound.
std::optional<Step> Life::CheckBound() {
  std::vector<const api::Pod*> unbound;
  UnixSeconds created = 0;
  bool preempting = false;
  for (const api::Pod* pod : PodsOfAttempt()) {
    created = std::max(created, ParseTime(pod->meta.creation_timestamp).value_or(view_.now));
    if (!pod->node_name.empty()) continue;
    preempting = preempting || !pod->nominated_node.empty();
    unbound.push_back(pod);
  }
  if (unbound.empty()) return std::nullopt;
  if (Seeded(Bug::kBindDeadlineIgnored)) return Wait{};
  const std::int64_t left = created + options_.bind_deadline_seconds - view_.now;
  const bool in_vain = std::any_of(unbound.begin(), unbound.end(), [this](const api::Pod* pod) {
    const std::string* node = PlannedNode(*pod);
    return node != nullptr && !view_.node_state(*node).exists;
  });
  if (left <= 0 || preempting || in_vain) return Undo(unbound);
  return Wait{std::min(left, kNodesLookedAtSeconds)};
}

// nullptr where no Placement says.
const std::string* Life::PlannedNode(const api::Pod& pod) const {
  const auto worker = WorkerLabel(pod.meta);
  for (const api::Placement* placement : view_.placements) {
    if (AttemptLabel(placement->meta) != status_.attempt) continue;
    if (worker && *worker < placement->nodes.size()) return &placement->nodes[*worker];
  }
  return nullptr;
}

// The nodes of the pods that were not bound are left out for a while, longer each time.
Step Life::Undo(const std::vector<const api::Pod*>& unbound) {
  std::vector<std::string> nodes;
  std::string words;  // the scheduler's, about the first of them
  for (const api::Pod* pod : unbound) {
    const std::string* node = PlannedNode(*pod);
    if (node == nullptr) continue;
    nodes.push_back(*node);
    if (!words.empty()) continue;
    if (!view_.node_state(*node).exists) words = *node + ": the node is gone";
    if (!pod->unscheduled.empty()) words = *node + ": " + pod->unscheduled;
  }
  if (Seeded(Bug::kRefusedNodeAgain)) nodes.clear();
  const std::size_t dropped =
      Exclude(nodes, options_.exclusion, view_.now, status_.record.excluded);
  if (words.empty()) words = "kube-scheduler gave no reason";
  const std::string message = CountText(static_cast<std::int64_t>(unbound.size()), "worker") +
                              " not bound; " + words + DroppedText(dropped);
  return GiveUp("BindRefused", message);
}

// Of the first worker that says something: a launcher or an image that is not there.
std::string Life::WhyNotReady() const {
  for (const api::Pod* pod : PodsOfAttempt()) {
    if (pod->waiting.empty()) continue;
    return "; worker " + std::to_string(WorkerLabel(pod->meta).value_or(0)) + " on " +
           pod->node_name + ": " + pod->waiting;
  }
  return "; no container says why";
}

Step Life::CheckReady() {
  const JobStatus before = StatusOf(job_);
  const api::WorkerCounts& counts = status_.record.workers;
  const bool ready = counts.ready + counts.succeeded == counts.desired;
  const bool was = ReasonOf(status_, "PodsReady") == kNotAllReady || Is(status_, "PodsReady");
  if (ready) {
    SetCondition(status_, {"PodsReady", true, kAllReady, "every worker is ready"}, view_.now);
  } else {
    SetCondition(status_,
                 {"PodsReady", false, was ? kNotAllReady : kStarting,
                  was ? "some workers are not ready" : "every pod is bound"},
                 view_.now);
  }
  std::optional<std::int64_t> left = Sooner(TimeLeft(), NextLoss());
  if (!ready && !was) {
    const UnixSeconds placed = Since(status_, "Placed").value_or(view_.now);
    const std::int64_t startup = placed + job_.startup_timeout_seconds - view_.now;
    if (startup <= 0) {
      Restart(view_,
              {false, 0, "", "StartupTimeout",
               "not every worker was ready within startupTimeoutSeconds" + WhyNotReady(), 0},
              status_);
      return WriteStatus{std::move(status_)};
    }
    left = Sooner(left, startup);
  }
  if (status_.conditions != before.conditions) return WriteStatus{std::move(status_)};
  if (status_ == before) return Wait{left};
  const std::int64_t due = view_.counted + options_.count_seconds - view_.now;
  if (due > 0) return Wait{Sooner(left, due)};
  return WriteStatus{std::move(status_)};
}

}  // namespace

std::optional<std::int64_t> AttemptLabel(const api::ObjectMeta& meta) {
  const auto attempt = LabelNumber<std::int64_t>(meta, kAttemptLabel);
  if (!attempt || *attempt < 0 || *attempt > kAttemptsAtMost) return std::nullopt;
  return attempt;
}

std::optional<std::uint32_t> WorkerLabel(const api::ObjectMeta& meta) {
  return LabelNumber<std::uint32_t>(meta, kWorkerIndexLabel);
}

Step NextStep(const JobView& view, const LifeOptions& options) {
  return Life(view, options).Next();
}

JobStatus AfterDryRun(const JobView& view, bool accepted, const std::string& message) {
  JobStatus status = StatusOf(*view.job);
  SetCondition(status, {"Accepted", accepted, accepted ? "Valid" : "Refused", message}, view.now);
  status.record.observed_generation = view.job->meta.generation;
  status.record.workers.desired = view.job->replicas;
  return status;
}

}  // namespace weft::decide
