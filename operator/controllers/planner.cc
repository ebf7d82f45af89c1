#include "operator/controllers/planner.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/api/decode.h"
#include "operator/api/encode.h"
#include "operator/api/kueue.h"
#include "operator/base/phrases.h"
#include "operator/base/seeded_bug.h"
#include "operator/cluster/build_cluster.h"
#include "operator/cluster/placement_pods.h"
#include "operator/controllers/create_or_read.h"
#include "operator/controllers/parallel.h"
#include "operator/controllers/run_solver.h"
#include "operator/launch/metadata.h"
#include "operator/life/as_of.h"
#include "operator/life/exclusion.h"
#include "operator/life/gang_step.h"
#include "operator/life/job_status.h"
#include "operator/life/made_for.h"
#include "operator/life/retry.h"
#include "operator/life/status_patch.h"
#include "operator/plan/plan.h"
#include "operator/plan/status.h"

namespace weft::controllers {
namespace {

using Json = nlohmann::json;

std::int64_t Microseconds(const run::Clock& clock) {
  return std::chrono::duration_cast<std::chrono::microseconds>(clock.Now().time_since_epoch())
      .count();
}

// The first ones in the queue: each takes several searches, and a pass must stay short.
constexpr std::uint32_t kExplainedRefusals = 8;

// Least pause before a pass without a new request, also in multiples of the time that the last pass
// computed, so that changes of the cluster alone keep a thread busy for at most a fifth of the
// time. Its writes do not count: one without an answer takes half a minute.
constexpr std::int64_t kPlanningPauseMilliseconds = 200, kPlanningPauseTimes = 4;

// If only the text of a refusal changes and its reason stays, the new text is published after
// kRewordSeconds. Each later change waits twice as long as the one before, up to
// kLongestRewordSeconds: counts ("3 of 4 pods") change soon after a job waits, and later most
// changes are of a time ("... for another 9 min").
constexpr std::int64_t kRewordSeconds = 2, kLongestRewordSeconds = 60;

// A placement or a refusal that the API server does not take is written again after a pause, which
// doubles each time; until then the workload has no part in a pass, so that it keeps no nodes from
// others. A conflict (what was read is outdated) and a server that does not answer say nothing
// about the workload: they are tried again at once at first, and the latter never loses its place
// for long.
constexpr std::int64_t kFirstWritePauseSeconds = 1, kLongestWritePauseSeconds = 300;
constexpr std::int64_t kLongestTransientPauseSeconds = 2;
constexpr std::int64_t kFreeTries = 3;

// The workload in Planner's tables.
const std::string& IdOf(const cluster::WorkloadView& workload) {
  return workload.bundle.empty() ? workload.meta->uid : workload.bundle;
}

// The Workload of Kueue that asks for it.
api::ObjectKey WorkloadKey(const cluster::Cluster& cluster, const cluster::WorkloadView& workload) {
  const api::ObjectMeta& meta = cluster.inputs->placements[workload.index].meta;
  return {meta.key.space, meta.owners.front().name};
}

// So that the figures of the running Placement do not crash the solver once more. A Placement that
// was only an input had no generation; it has that of `stored` now.
void CopyFiguresFailed(const api::Placement& before, const api::Placement& stored, Json& status) {
  const auto* failed = api::FindCondition(before.conditions, api::kFiguresFailed);
  if (failed == nullptr) return;
  api::Condition kept = *failed;
  if (kept.observed_generation == before.meta.generation) {
    kept.observed_generation = stored.meta.generation;
  }
  status["conditions"].push_back(Json(api::EncodeConditions({kept})).front());
}

double SecondsOf(std::int64_t microseconds) { return static_cast<double>(microseconds) / 1e6; }

}  // namespace

Planner::Planner(watch::Store& store, watch::FabricCache& cache, ApiWriter& writer, Log& log,
                 Options options)
    : store_(store),
      cache_(cache),
      writer_(writer),
      log_(log),
      options_(std::move(options)),
      changed_(options_.executor->NewCondition()) {}

void Planner::OnCapacity() {
  const std::lock_guard lock(mutex_);
  capacity_changed_ = true;
  changed_->NotifyAll();
}

void Planner::Stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_->NotifyAll();
}

// A new request starts a pass at once; changes of the cluster start one only after a pause since
// the last pass, and a short one since the first change: the pods of a gang end within moments of
// each other, and their nodes are for a gang that waits before they are for a small job.
bool Planner::AwaitWork() {
  using std::chrono::milliseconds;
  std::unique_lock lock(mutex_);
  const std::int64_t pause =
      std::max(kPlanningPauseMilliseconds, kPlanningPauseTimes * last_pass_milliseconds_);
  const auto is_urgent = [&] { return stopped_ || asked_anew_; };
  changed_->WaitFor(lock, milliseconds(pause), is_urgent);
  while (!is_urgent() && !capacity_changed_ && (!next_wake_ || *next_wake_ > options_.now())) {
    if (next_wake_) {
      // options_.now is not this wait's clock.
      changed_->Wait(lock, options_.executor->Now() + std::chrono::seconds(1));
    } else {
      changed_->Wait(lock);
    }
  }
  changed_->WaitFor(lock, milliseconds(kPlanningPauseMilliseconds), is_urgent);
  capacity_changed_ = asked_anew_ = false;
  next_wake_.reset();
  return !stopped_;
}

void Planner::Run() {
  while (AwaitWork()) {
    std::optional<UnderWay::Mark> mark;
    if (options_.under_way != nullptr) mark.emplace(*options_.under_way, "planner");
    try {
      Pass();
    } catch (const std::exception& bug) {  // the next pass may have other input
      log_.Error("planner failed", {{"error", bug.what()}});
      if (options_.counters) options_.counters->Add(metrics::Id::kReconcileFailures, {"planner"});
    }
  }
}

bool Planner::IsPaused(const std::string& id, UnixSeconds now) {
  const std::lock_guard lock(mutex_);
  const auto found = unwritten_.find(id);
  if (found == unwritten_.end() || found->second.not_before <= now) return false;
  WakeAtLocked(found->second.not_before);
  return true;
}

// The pause in seconds after a write that failed.
std::int64_t Planner::PauseAfter(const std::string& id, const Error& error) {
  const std::lock_guard lock(mutex_);
  Unwritten& failed = unwritten_[id];
  ++failed.times;
  capacity_changed_ = true;  // a pass without it, for those behind it, or another try
  changed_->NotifyAll();
  if (Seeded(Bug::kUnwrittenAtOnce)) return 0;
  const bool transient = error.kind == ErrorKind::kTransient;
  const bool free = transient || error.kind == ErrorKind::kConflict;
  const std::int64_t times = failed.times - (free ? kFreeTries : 0);
  if (times <= 0) return 0;
  const std::int64_t most = transient ? kLongestTransientPauseSeconds : kLongestWritePauseSeconds;
  std::int64_t pause = kFirstWritePauseSeconds;
  for (std::int64_t i = 1; i < times && pause < most; ++i) pause *= 2;
  pause = std::min(pause, most);
  failed.not_before = options_.now() + pause;
  WakeAtLocked(failed.not_before);
  return pause;
}

// Adds the Placements without nodes that Workloads ask for. One that exists keeps its object.
void Planner::AddProposals(const NodeRequests& asked, UnixSeconds now, api::Inputs& inputs) {
  const auto known = static_cast<std::ptrdiff_t>(inputs.placements.size());
  const auto before = [](const api::Placement& one, const auto& key) { return one.meta.key < key; };
  for (const auto& [reservation, placements] : asked) {
    for (const api::Placement& one : placements) {
      const api::ObjectKey& key = one.meta.key;
      const auto end = inputs.placements.begin() + known;
      const auto found = std::lower_bound(inputs.placements.begin(), end, key, before);
      std::size_t at = inputs.placements.size();
      if (found == end || found->meta.key != key) {
        inputs.placements.push_back(one);
      } else {
        if (!found->nodes.empty() || found->meta.deleting) continue;
        SeeExcluded(found->meta.uid, found->excluded);
        if (const std::int64_t left = life::RetryLeft(found->retry, now); left > 0) {
          WakeAt(now + left);
          continue;
        }
        at = static_cast<std::size_t>(found - inputs.placements.begin());
      }
      api::Placement& input = inputs.placements.Edit(at);
      for (api::Condition crash : one.conditions) {  // on the Workload
        crash.observed_generation = input.meta.generation;
        api::PutCondition(input.conditions, std::move(crash), now);
      }
      input.proposal = one.proposal;
      DropMadeAgain(input.meta.uid, input.excluded);
      life::SetWait(input, now, life::BirthsIn(inputs.nodes));
      inputs.order.push_back({false, at});
    }
  }
}

// Those with a request are pending. Nothing if there are none: copying a cluster is expensive.
std::optional<watch::Store::Snapshot> Planner::Collect() {
  auto [asked, reservations] = Requests();
  if (asked.empty() && reservations.empty() && !store_.HasUnplaced(options_.space)) {
    DropStale(asked, {});
    return std::nullopt;
  }
  watch::Store::Snapshot snapshot = store_.TakeSnapshot();
  api::Inputs& inputs = snapshot.inputs;
  std::set<std::string> known;
  const UnixSeconds now = options_.now();
  const life::NodeBirths births = life::BirthsIn(inputs.nodes);
  for (std::size_t i = 0; i < inputs.jobs.size(); ++i) {
    const bool asks = asked.contains(inputs.jobs[i].meta.uid);
    if (life::CountsDown(inputs.jobs[i])) life::CountDown(inputs.jobs.Edit(i), now);
    if (!asks) continue;
    known.insert(inputs.jobs[i].meta.uid);
    if (IsPaused(inputs.jobs[i].meta.uid, now)) continue;
    api::TrainingJob& job = inputs.jobs.Edit(i);
    DropMadeAgain(job.meta.uid, job.record.excluded);
    life::SetWait(job, now, births, PreviousOf(job.meta.uid));
    inputs.order.push_back({true, i});
  }
  for (std::size_t i = 0; i < inputs.placements.size(); ++i) {
    const api::Placement& placement = inputs.placements[i];
    if (!life::WaitsForNodes(placement)) continue;
    if (!options_.space.empty() && placement.meta.key.space != options_.space) continue;
    known.insert(placement.meta.uid);
    SeeExcluded(placement.meta.uid, placement.excluded);
    if (IsPaused(placement.meta.uid, now)) continue;
    if (const std::int64_t left = life::RetryLeft(placement.retry, now); left > 0) {
      WakeAt(now + left);
      continue;
    }
    api::Placement& waiting = inputs.placements.Edit(i);
    DropMadeAgain(waiting.meta.uid, waiting.excluded);
    life::SetWait(waiting, now, births);
    inputs.order.push_back({false, i});
  }
  DropLostReservations(reservations);
  std::erase_if(reservations, [&](const auto& one) { return IsPaused(one.first, now); });
  AddProposals(reservations, now, inputs);
  DropStale(asked, known);
  return snapshot;
}

Result<plan::PlanReport> Planner::Solve(const cluster::Cluster& cluster) {
  plan::PlanOptions options;
  options.order = cluster::Order::kOperator;
  options.best_costs = &best_costs_;
  options.prices = options_.prices;
  options.refuse_invalid = true;
  options.reserve_after_seconds = options_.reserve_seconds;
  options.explained_refusals = kExplainedRefusals;
  options.microseconds = [this] { return Microseconds(*options_.executor); };
  options.deciding = options_.deciding;
  options.crashes = {.version = options_.version, .now = options_.now()};
  options.crashed_kinds = &crashed_kinds_;
  return RunSolver(options_.deciding, [&] { return plan::Plan(cluster, options); });
}

void Planner::Pass() {
  const std::int64_t start = Microseconds(*options_.executor);
  std::optional<watch::Store::Snapshot> snapshot = Collect();
  if (!snapshot || snapshot->inputs.order.empty()) return;
  const auto fabrics = cache_.Of(*snapshot);
  const cluster::Cluster cluster = cluster::BuildCluster(std::move(snapshot->inputs), *fabrics);
  auto report = Solve(cluster);
  if (!report) return log_.Error("no plan", {{"reason", report.error().message}});
  plan::AddAheadTexts(*report);
  last_pass_milliseconds_ = (Microseconds(*options_.executor) - start) / 1'000;
  ForEach(*options_.executor, report->entries.size(), options_.commits_at_once, [&](std::size_t i) {
    Answer(cluster, report->entries[i]);
    return true;
  });
  if (options_.counters == nullptr) return;
  for (const plan::PlanEntry& entry : report->entries) {
    options_.counters->Observe(metrics::Id::kSolveSeconds, {}, SecondsOf(entry.solve_microseconds));
  }
  options_.counters->Observe(metrics::Id::kPlanPassSeconds, {},
                             SecondsOf(Microseconds(*options_.executor) - start));
}

void Planner::Count(const char* result, const std::string& reason) const {
  if (options_.counters == nullptr) return;
  options_.counters->Add(metrics::Id::kPlacements, {result, reason});
}

void Planner::Answer(const cluster::Cluster& cluster, const plan::PlanEntry& entry) {
  const cluster::WorkloadView& workload = entry.workload;
  if (const plan::Refused* refused = entry.refused()) return Report(cluster, workload, *refused);
  const std::string name = api::Show(workload.key());
  if (Status committed = Commit(cluster, entry); !committed) {
    log_.Warning("placement not committed", {{"for", name}, {"reason", committed.error().message}});
    Count("NotCommitted", committed.error().kind == ErrorKind::kConflict ? "Conflict" : "Error");
    const std::int64_t pause = PauseAfter(IdOf(workload), committed.error());
    if (pause == 0 && workload.bundle.empty()) return;
    // Another pod set's success has dropped the request of all.
    if (pause == 0) return options_.on_workload_answer(WorkloadKey(cluster, workload));
    plan::Refused refused;
    refused.reason = life::kNotWritten;
    refused.message = "nodes are free, but the API server does not take the Placement: " +
                      committed.error().message + "; the next try is in " + DurationText(pause);
    return Report(cluster, workload, refused);
  }
  Count("Placed", "Placed");
  log_.Info("placed", {{"for", name}, {"placement", workload.PlacementName()}});
  Drop(IdOf(workload));
}

// Creates the Placement without nodes; they are written afterwards. The first operator that writes
// them has placed the attempt.
Result<api::Placement> Planner::CreateOf(const api::TrainingJob& job, const Json& placement) {
  Json object = placement;
  object.erase("status");
  object["metadata"]["labels"] = {{api::kJobNameLabel, job.meta.key.name},
                                  {cluster::kJobUidLabel, job.meta.uid},
                                  {cluster::kAttemptLabel, std::to_string(job.attempt + 1)}};
  object["metadata"]["annotations"] = {{life::kMadeForAnnotation, life::MadeFor(job)}};
  object["metadata"]["ownerReferences"] = launch::OwnedBy(job);
  return Create(object);
}

Result<api::Placement> Planner::CreateOf(const api::Placement& proposed, const Json& placement) {
  Json object = placement;
  object.erase("status");
  const api::OwnerReference& owner = proposed.meta.owners.front();
  object["metadata"]["ownerReferences"] = {{{"apiVersion", owner.api_version},
                                            {"kind", owner.kind},
                                            {"name", owner.name},
                                            {"uid", owner.uid},
                                            {"controller", true}}};
  object["metadata"]["annotations"][api::kPodRequestsAnnotation] =
      proposed.meta.annotations.At(api::kPodRequestsAnnotation).value_or("{}");
  return Create(object);
}

// One that exists already must be of the same attempt.
Result<api::Placement> Planner::Create(const Json& object) {
  const Result<Named> stored = CreateOrRead(writer_, Kind::kPlacement, object);
  if (!stored) return stored.error();
  if (!stored->taken.empty()) return Error{ErrorKind::kInvalid, stored->taken};
  auto decoded = api::DecodePlacement(stored->object, "Placement", api::Reading::kServed);
  if (!decoded) return decoded.error();
  // One of another attempt, or of none, would never be adopted.
  const std::string attempt =
      object.at("metadata").value("labels", Json::object()).value(cluster::kAttemptLabel, "");
  if (decoded->meta.labels.At(cluster::kAttemptLabel).value_or("") != attempt) {
    return Error{ErrorKind::kInvalid, "Placement " + api::Show(decoded->meta.key) +
                                          " already exists and is of another attempt"};
  }
  if (decoded->meta.deleting) {
    return Error{ErrorKind::kConflict,
                 "Placement " + api::Show(decoded->meta.key) + " is being deleted"};
  }
  return decoded;
}

Status Planner::Commit(const cluster::Cluster& cluster, const plan::PlanEntry& entry) {
  const cluster::WorkloadView& workload = entry.workload;
  const Json placement = RunSolver(options_.deciding, workload, plan::Solving::kNodes,
                                   [&] { return Json(plan::PlacementOf(cluster, entry)); });
  api::Placement current;
  if (workload.is_job) {
    Result<api::Placement> created = CreateOf(cluster.inputs->jobs[workload.index], placement);
    if (!created) return created.error();
    current = *std::move(created);
  } else {
    current = cluster.inputs->placements[workload.index];
    if (current.meta.uid.empty()) {  // of a Workload, and not created yet
      Result<api::Placement> created = CreateOf(current, placement);
      if (!created) return created.error();
      current = *std::move(created);
    }
  }
  if (!current.nodes.empty()) {  // an earlier leader has written them
    store_.Put(std::move(current));
    return {};
  }
  Json status = placement.at("status");
  if (!workload.is_job) {
    CopyFiguresFailed(cluster.inputs->placements[workload.index], current, status);
  }
  for (Json& condition : status["conditions"]) {
    condition["lastTransitionTime"] = FormatTime(options_.now());
  }
  if (Seeded(Bug::kPodsBeforePlan)) {
    current.nodes = placement.at("status").at("nodes").get<std::vector<std::string>>();
    store_.Put(std::move(current));
    return {};
  }
  if (Seeded(Bug::kCommitWithoutVersion)) current.meta.resource_version.clear();
  const Target target{Kind::kPlacement, current.meta.key, current.meta.uid,
                      current.meta.resource_version};
  const Json before = current.raw ? current.raw->value("status", Json()) : Json();
  Result<Json> stored = writer_.PatchStatus(
      target, {{"status", life::StatusPatch(before, status, life::kDecisionFields)}});
  if (!stored) return stored.error();
  auto decoded = api::DecodePlacement(*stored, "Placement", api::Reading::kServed);
  if (!decoded) return decoded.error();
  store_.Put(*std::move(decoded));
  return {};
}

void Planner::WakeAt(UnixSeconds time) {
  const std::lock_guard lock(mutex_);
  WakeAtLocked(time);
}

void Planner::WakeAtLocked(UnixSeconds time) {
  next_wake_ = std::min(next_wake_.value_or(time), time);
}

// Whether to report the refusal: not if it equals the last one, and not too soon if only its text
// differs.
bool Planner::ShouldReport(const Requester& requester, const plan::Refused& refused) {
  const UnixSeconds now = options_.now();
  const std::lock_guard lock(mutex_);
  if (refused.ends_in_seconds) WakeAtLocked(now + *refused.ends_in_seconds);
  if (refused.held_seconds) WakeAtLocked(now + *refused.held_seconds);
  if (const auto back = life::FirstReturn(requester.excluded, now)) WakeAtLocked(*back);
  Reported& last = refusals_[requester.id];
  const bool alike =
      last.generation == requester.generation && last.refusal.reason == refused.reason;
  if (alike && last.refusal.message == refused.message) return false;
  if (alike && now < last.at + last.pause_seconds) {
    WakeAtLocked(last.at + last.pause_seconds);
    return false;
  }
  const std::int64_t pause =
      alike ? std::min(2 * last.pause_seconds, kLongestRewordSeconds) : kRewordSeconds;
  last = {requester.generation, refused, now, pause};
  Count("Refused", refused.reason);
  return true;
}

void Planner::Report(const cluster::Cluster& cluster, const cluster::WorkloadView& workload,
                     const plan::Refused& refused) {
  if (workload.is_job) return Refuse(cluster.inputs->jobs[workload.index], refused);
  RefusePlacement(cluster.inputs->placements[workload.index], workload.bundle, refused);
}

void Planner::Refuse(const api::TrainingJob& job, const plan::Refused& refused) {
  if (!ShouldReport({job.meta.uid, job.meta.generation, job.record.excluded}, refused)) return;
  options_.on_answer(job.meta.key);
}

void Planner::RefusePlacement(const api::Placement& placement, const std::string& reservation,
                              const plan::Refused& refused) {
  const bool queued = !reservation.empty();
  const Requester requester{queued ? reservation : placement.meta.uid,
                            queued ? 0 : placement.meta.generation, placement.excluded};
  if (!ShouldReport(requester, refused)) return;
  if (queued) {
    options_.on_workload_answer({placement.meta.key.space, placement.meta.owners.front().name});
  }
  if (placement.meta.uid.empty()) return;
  std::vector<api::Condition> conditions = placement.conditions;
  api::PutCondition(conditions, {"Placed", "False", refused.reason, refused.message, ""},
                    options_.now());
  if (conditions == placement.conditions) return;
  const Target target{Kind::kPlacement, placement.meta.key, placement.meta.uid,
                      placement.meta.resource_version};
  const auto written = writer_.PatchStatus(
      target, {{"status", {{"conditions", api::EncodeConditions(conditions)}}}});
  // Of a placement that is not written the pause goes on, whatever its status takes.
  const bool counts = refused.reason != life::kNotWritten;
  if (written) {
    if (auto decoded = api::DecodePlacement(*written, "Placement", api::Reading::kServed)) {
      store_.Put(*std::move(decoded));
    }
    const std::lock_guard lock(mutex_);
    if (counts) unwritten_.erase(requester.id);
    return;
  }
  if (counts) PauseAfter(requester.id, written.error());
  {
    const std::lock_guard lock(mutex_);
    refusals_.erase(requester.id);  // so that it is reported again
  }
  if (written.error().kind == ErrorKind::kConflict) return;
  log_.Warning("refusal not written",
               {{"for", api::Show(placement.meta.key)}, {"reason", written.error().message}});
}

}  // namespace weft::controllers
