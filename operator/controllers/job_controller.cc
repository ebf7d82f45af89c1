#include "operator/controllers/job_controller.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/api/decode.h"
#include "operator/api/encode.h"
#include "operator/api/names.h"
#include "operator/base/check.h"
#include "operator/base/seeded_bug.h"
#include "operator/cluster/placement_pods.h"
#include "operator/controllers/create_or_read.h"
#include "operator/controllers/job_counts.h"
#include "operator/controllers/parallel.h"
#include "operator/launch/objects.h"
#include "operator/life/attempt.h"
#include "operator/life/attempt_labels.h"
#include "operator/life/kueue_quota.h"
#include "operator/life/life.h"
#include "operator/life/machine.h"
#include "operator/life/next_step.h"
#include "operator/life/start_telling.h"
#include "operator/life/status_patch.h"
#include "operator/life/unanswered.h"
#include "operator/life/verify.h"
#include "operator/predict/predict.h"

namespace weft::controllers {

namespace {

using Json = nlohmann::json;

constexpr std::int64_t kServiceRetrySeconds = 60;

Target TargetOf(Kind kind, const api::ObjectMeta& meta) {
  return {kind, meta.key, meta.uid, meta.resource_version};
}

// A deletion names the object's uid, but not its state.
Target AnyStateOf(Kind kind, const api::ObjectMeta& meta) { return {kind, meta.key, meta.uid, ""}; }

// A Service of an earlier version has no such label and selects the pods of every attempt. It stays
// until the attempt that it was made for is taken down.
bool Serves(const watch::Service& service, std::int64_t attempt) {
  if (Seeded(Bug::kOldServiceKept)) return true;
  return life::AttemptLabel(service.meta).value_or(attempt) == attempt;
}

// Made by Weft for an earlier job of that name, whose finalizer somebody else removed.
bool IsAbandoned(const api::ObjectMeta& service, const api::ObjectMeta& job) {
  const auto uid = service.labels.At(cluster::kJobUidLabel);
  return service.owners.empty() && uid && *uid != job.uid &&
         service.labels.At(api::kJobNameLabel) == job.key.name;
}

}  // namespace

JobController::JobController(watch::Store& store, ApiWriter& writer, Planner& planner,
                             Recorder& recorder, Log& log, Options options)
    : store_(store),
      writer_(writer),
      planner_(planner),
      recorder_(recorder),
      log_(log),
      options_(std::move(options)) {}

Result<Outcome> JobController::Reconcile(const api::ObjectKey& key) {
  std::optional<watch::JobObjects> objects = store_.ObjectsOf(key);
  if (objects && options_.pod_events != nullptr && options_.pod_events->AskFor(*objects)) {
    objects = store_.ObjectsOf(key);  // the answer took its time
  }
  if (!objects && Seeded(Bug::kMemoryByName)) return Outcome{};
  if (!objects) {
    const std::lock_guard lock(mutex_);
    if (const auto memory = memory_.find(key); memory != memory_.end()) {
      planner_.Drop(memory->second.uid);
      if (options_.pod_groups != nullptr) options_.pod_groups->Forget(memory->second.uid);
      if (options_.pod_events != nullptr) options_.pod_events->Forget(memory->second.uid);
      memory_.erase(memory);
    }
    return Outcome{};
  }
  if (!objects->job->unreadable.empty()) planner_.Drop(objects->job->meta.uid);
  if (Seeded(Bug::kDiesOfOddObject)) WEFT_CHECK(!objects->job->meta.labels.At("odd"));
  std::optional<std::int64_t> again;
  if (options_.pod_events != nullptr) again = options_.pod_events->AddTo(*objects);
  const life::JobView view = ViewOf(*objects);
  const Pass pass{&*objects, &view};
  if (options_.pod_groups != nullptr) {
    again = life::Sooner(again, options_.pod_groups->LookAt(view));
  }
  Answer answer = Answered(pass, std::visit([&](const auto& step) { return Do(pass, step); },
                                            life::NextStep(view, options_.life)));
  if (answer) answer->seconds = life::Sooner(answer->seconds, again);
  return answer;
}

// A job whose steps are refused, or fail for a while, says so until nothing is left to write. The
// error stays that of the step, so that its pause grows.
JobController::Answer JobController::Answered(const Pass& pass, Answer answer) {
  const bool refused = !answer && answer.error().kind == ErrorKind::kInvalid;
  const bool fails = refused || (!answer && answer.error().kind == ErrorKind::kTransient);
  bool lasts = refused;
  {
    const std::lock_guard lock(mutex_);
    UnixSeconds& failing = MemoryOf(pass.job().meta).failing;
    // A clock that was put back begins anew.
    if (!fails) failing = 0;
    if (fails && (failing == 0 || options_.now() < failing)) failing = options_.now();
    lasts |= fails && options_.now() - failing >= life::kUnansweredSeconds;
  }
  std::optional<life::JobStatus> status;
  if (lasts) status = life::AfterUnanswered(*pass.view, answer.error().message);
  if (answer && answer->waits) status = life::AfterWritten(*pass.view);
  if (!status) return answer;
  const Answer told = WriteStatusOf(pass, *status);
  if (told) return answer;
  log_.Info("condition not written",
            {{"job", api::Show(pass.job().meta.key)}, {"error", told.error().message}});
  return answer ? told : answer;
}

life::JobView JobController::ViewOf(const watch::JobObjects& objects) const {
  life::JobView view;
  view.job = objects.job.get();
  for (const auto& placement : objects.placements) view.placements.push_back(placement.get());
  // Anybody may give a pod an owner. One without the label is not Weft's, and policies keep Weft
  // from deleting it.
  for (const auto& pod : objects.pods) {
    if (pod->meta.labels.At(cluster::kJobUidLabel) == objects.job->meta.uid) {
      view.pods.push_back(pod.get());
    }
  }
  view.service = objects.service && Serves(*objects.service, objects.job->attempt);
  view.node_state = [&objects](const std::string& node) { return objects.nodes.Of(node); };
  planner_.SeeExcluded(objects.job->meta.uid, objects.job->record.excluded);
  view.refusal = planner_.RefusalOf(*objects.job);
  view.group = {objects.pod_groups_listed, objects.pod_group.get()};
  view.now = options_.now();
  view.queue = QueueViewOf(objects);
  view.rates = RatesOf(objects);
  const std::lock_guard lock(mutex_);
  Memory& memory = MemoryOf(objects.job->meta);
  for (const api::Pod* pod : view.pods) {
    const auto worker = life::WorkerLabel(pod->meta);
    const bool of_this = life::AttemptLabel(pod->meta) == objects.job->attempt;
    if (of_this && worker) {
      memory.See(objects.job->attempt, *worker, life::HasSucceeded(*pod));
    }
  }
  if (memory.seen_attempt == objects.job->attempt && !Seeded(Bug::kMadeAgain)) {
    view.seen = memory.seen;
    view.succeeded = memory.succeeded;
  }
  memory.start_differs = life::StartDiffersSince(view, options_.life, memory.start_differs);
  view.start_differs = memory.start_differs;
  view.counted = memory.counted;
  view.tried = memory.tried;
  view.refused = memory.refused_since;
  view.created = memory.created;
  view.service_pause = std::max<std::int64_t>(0, memory.service_retry - view.now);
  const bool of_this = memory.valid_generation == objects.job->meta.generation;
  if (of_this && !memory.valid.empty()) view.valid = memory.valid;
  return view;
}

// Of the Fabric on which the attempt is placed; only a job with checkpoints is advised by them.
std::vector<life::DomainRate> JobController::RatesOf(const watch::JobObjects& objects) const {
  std::vector<life::DomainRate> rates;
  if (!objects.job->checkpoint) return rates;
  for (const auto& placement : objects.placements) {
    if (placement->meta.key.name != objects.job->placement_name) continue;
    const auto fabric = store_.At<api::Fabric>({"", placement->fabric_name});
    if (!fabric) continue;
    for (const auto& rate : fabric->spec.failure_rates) {
      rates.push_back({rate.level, rate.per_1000_days});
    }
  }
  return rates;
}

JobController::Memory& JobController::MemoryOf(const api::ObjectMeta& job) const {
  Memory& memory = memory_[job.key];
  if (Seeded(Bug::kMemoryByName) ? memory.uid.empty() : memory.uid != job.uid) {
    if (!memory.uid.empty()) {
      planner_.Drop(memory.uid);
      if (options_.pod_groups != nullptr) options_.pod_groups->Forget(memory.uid);
      if (options_.pod_events != nullptr) options_.pod_events->Forget(memory.uid);
    }
    memory = Memory{};
    memory.uid = job.uid;
    memory.created = options_.now();
  }
  return memory;
}

void JobController::Memory::See(std::int64_t attempt, WorkerIndex worker, bool has_succeeded) {
  if (std::int64_t{worker.Raw()} >= api::kReplicas.max) return;  // a label that somebody wrote
  if (std::exchange(seen_attempt, attempt) != attempt) {
    seen.clear();
    succeeded.clear();
  }
  if (worker >= seen.EndIndex()) {
    seen.resize(worker + 1);
    succeeded.resize(worker + 1);
  }
  seen[worker] = true;
  if (has_succeeded) succeeded[worker] = true;
}

JobController::Answer JobController::StoreJob(const Result<Json>& stored) {
  if (!stored) return stored.error();
  auto job = api::DecodeTrainingJob(*stored, "TrainingJob", api::Reading::kServed);
  if (job) store_.Put(*std::move(job));
  return kAgain;
}

// A policy that takes the finalizer off would otherwise have it added for ever.
JobController::Answer JobController::Do(const Pass& pass, const life::AddFinalizer&) {
  const api::ObjectMeta& meta = pass.job().meta;
  std::vector<std::string> finalizers = meta.finalizers;
  finalizers.push_back(life::kFinalizer);
  const Target target = TargetOf(Kind::kTrainingJob, meta);
  if (Seeded(Bug::kJobReadAgain)) {
    if (const auto read = writer_.Get(target); !read) return read.error();
  }
  Json metadata = {{"resourceVersion", meta.resource_version}, {"finalizers", finalizers}};
  if (Seeded(Bug::kJobLabelled)) metadata["labels"] = {{"weft.dev/claimed", "true"}};
  const auto stored = writer_.Patch(target, {{"metadata", std::move(metadata)}});
  if (stored) {
    const Json kept = stored->at("metadata").value("finalizers", Json::array());
    if (std::find(kept.begin(), kept.end(), Json(life::kFinalizer)) == kept.end()) {
      return Error{ErrorKind::kTransient, std::string("admission takes the finalizer ") +
                                              life::kFinalizer + " off TrainingJobs"};
    }
  }
  return StoreJob(stored);
}

// Nobody else deletes the Service and the ComputeDomain (life::IsOfJob). The object may be gone
// after this write, so its answer does not go into the store.
JobController::Answer JobController::Do(const Pass& pass, const life::RemoveFinalizer&) {
  const api::ObjectMeta& meta = pass.job().meta;
  if (pass.objects->service) {
    if (Status deleted = Delete(*pass.objects->service); !deleted) return deleted.error();
  }
  if (Status deleted = options_.delete_files(pass.job(), nullptr); !deleted) {
    return deleted.error();
  }
  std::vector<std::string> finalizers = meta.finalizers;
  std::erase(finalizers, life::kFinalizer);
  planner_.Drop(meta.uid);
  const auto stored = writer_.Patch(
      TargetOf(Kind::kTrainingJob, meta),
      {{"metadata", {{"resourceVersion", meta.resource_version}, {"finalizers", finalizers}}}});
  if (!stored && stored.error().kind != ErrorKind::kNotFound) return stored.error();
  log_.Info("finalizer removed", {{"job", api::Show(meta.key)}});
  return Outcome{};
}

JobController::Answer JobController::Do(const Pass& pass, const life::RequestPlacement&) {
  planner_.Enqueue(pass.job());
  return Outcome{};
}

JobController::Answer JobController::Do(const Pass& pass, const life::CreateService&) {
  const api::ObjectMeta& meta = pass.job().meta;
  const Json made = launch::MakeService(pass.job(), pass.job().attempt);
  const Result<Named> stored = CreateOrRead(writer_, Kind::kService, made);
  if (!stored && stored.error().kind != ErrorKind::kInvalid) return stored.error();
  if (!stored) return ServiceRefused(pass, stored.error().message);
  const auto decoded = api::DecodeMetadata(stored->object, "Service");
  if (!decoded) return decoded.error();
  watch::Service service{*decoded};
  if (Seeded(Bug::kForeignServiceTaken)) {
    service.meta.owners = {{"weft.dev/v1alpha1", "TrainingJob", meta.key.name, meta.uid, true}};
  }
  if (IsAbandoned(service.meta, meta)) return Replace(service);
  if (!stored->taken.empty() && !Seeded(Bug::kForeignServiceTaken)) {
    return ServiceRefused(pass, stored->taken);
  }
  if (!Serves(service, pass.job().attempt)) return Replace(service);
  store_.Put(service);
  Created(meta);
  return kAgain;
}

void JobController::Created(const api::ObjectMeta& job) {
  const std::lock_guard lock(mutex_);
  Memory& memory = MemoryOf(job);
  memory.created = options_.now();
  memory.failing = 0;
}

// Deletes the Service of an earlier attempt or job, because its selector does not match this
// attempt.
JobController::Answer JobController::Replace(const watch::Service& service) {
  if (service.meta.deleting) {
    return Error{ErrorKind::kTransient, "Service " + api::Show(service.meta.key) +
                                            " of an earlier attempt is being deleted"};
  }
  if (Status deleted = Delete(service); !deleted) return deleted.error();
  return kAgain;
}

JobController::Answer JobController::Do(const Pass& pass, const life::DeleteService&) {
  if (Status deleted = Delete(*pass.objects->service); !deleted) return deleted.error();
  return kAgain;
}

Status JobController::Delete(const watch::Service& service) {
  Status deleted = writer_.Delete(AnyStateOf(Kind::kService, service.meta));
  if (deleted) store_.Remove<watch::Service>({service.meta.key, service.meta.uid});
  return deleted;
}

Status JobController::CreatePod(const launch::Gang& gang, std::int64_t attempt,
                                WorkerIndex worker) {
  Json pod = launch::MakePod(gang, worker);
  life::NameMachine(store_.StateOfNode(gang.nodes[worker]).made, pod);
  const Result<Json> stored = CreateOwn(writer_, Kind::kPod, pod);
  if (!stored) return stored.error();
  Result<api::Pod> decoded = api::DecodePod(*stored, "Pod");
  if (!decoded) return decoded.error();
  {
    const std::lock_guard lock(mutex_);
    MemoryOf(gang.job->meta).See(attempt, worker, false);
  }
  if (decoded->pod_group.empty() && !gang.pod_group.empty()) {
    options_.pod_groups->OnPodWithoutGroup(gang.job->meta);
  }
  store_.Put(*std::move(decoded));
  return {};
}

// Records an event only if the message has changed, not at each try.
Error JobController::NameTaken(const Pass& pass, const char* action, const std::string& why) {
  const api::ObjectMeta& meta = pass.job().meta;
  bool told = false;
  {
    const std::lock_guard lock(mutex_);
    told = std::exchange(MemoryOf(meta).taken, why) == why;
  }
  if (!told) recorder_.Record({"TrainingJob", &meta, true, "CreateRefused", action, why});
  return Error{ErrorKind::kInvalid, why};
}

// A job that runs goes on without its Service meanwhile, and its condition says so (Answered).
Error JobController::ServiceRefused(const Pass& pass, const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    MemoryOf(pass.job().meta).service_retry = options_.now() + kServiceRetrySeconds;
  }
  return NameTaken(pass, "CreateService", why);
}

// A refusal by admission ends the attempt: an immediate retry would be refused too, and the pods
// that exist hold nodes for nothing.
JobController::Answer JobController::CreateRefused(const Pass& pass, const Error& error) {
  if (error.kind != ErrorKind::kInvalid) return error;
  {
    const std::lock_guard lock(mutex_);
    MemoryOf(pass.job().meta).valid.clear();
  }
  return WriteStatusOf(pass, life::AfterCreateRefused(*pass.view, options_.life, error.message));
}

// Creates one pod first: if admission refuses it, the others are not tried.
JobController::Answer JobController::Do(const Pass& pass, const life::CreatePods& step) {
  const api::Placement* placement = nullptr;
  for (const auto& one : pass.objects->placements) {
    const std::string& name = pass.job().placement_name;
    const bool named = name.empty() || one->meta.key.name == name;
    if (named && life::AttemptLabel(one->meta) == step.attempt) placement = one.get();
  }
  if (placement == nullptr) return kAgain;  // it was deleted; the next step undoes the attempt
  const Result<launch::Gang> gang = options_.gang_of(pass.job(), *placement);
  if (!gang) return CreateRefused(pass, gang.error());
  const auto create = [&](std::size_t i) {
    const WorkerIndex worker = step.workers[i];
    return worker < gang->nodes.EndIndex() ? CreatePod(*gang, step.attempt, worker) : Status();
  };
  run::Executor& executor = *options_.executor;
  Batch batch = RunBatch(executor, 1, 1, OnError::kStop, create);
  if (!batch.error) {
    Created(pass.job().meta);
    batch = RunBatch(executor, step.workers.size() - 1, options_.writes_at_once, OnError::kStop,
                     [&](std::size_t i) { return create(i + 1); });
  }
  if (batch.error && batch.error->kind == ErrorKind::kInvalid && !gang->pod_group.empty()) {
    options_.pod_groups->OnPodRefused(pass.job().meta, batch.error->message);
  }
  if (batch.error) return CreateRefused(pass, *batch.error);
  return batch.cut ? kNextSlice : kAgain;
}

JobController::Answer JobController::Do(const Pass&, const life::DeletePods& step) {
  const Batch batch = RunBatch(
      *options_.executor, step.pods.size(), options_.writes_at_once, OnError::kGoOn,
      [&](std::size_t i) { return writer_.Delete(AnyStateOf(Kind::kPod, step.pods[i]->meta)); });
  if (batch.error) return *batch.error;
  return batch.cut ? kNextSlice : Outcome{};  // the watch reports when they are gone
}

// Also deletes the attempt's Service, so that no DNS name leads to a pod that is left on a dead
// node.
JobController::Answer JobController::Do(const Pass& pass, const life::DeletePlacements& step) {
  if (pass.objects->service && !Seeded(Bug::kOldServiceKept)) {
    if (Status deleted = Delete(*pass.objects->service); !deleted) return deleted.error();
  }
  for (const api::Placement* placement : step.placements) {
    // Its pods are gone. What the job still asks for goes with the attempt's nodes.
    const bool made = placement->topology.compute_domain && !pass.job().topology.compute_domain;
    if (made && life::AttemptLabel(placement->meta) == pass.job().attempt) {
      if (Status deleted = options_.delete_files(pass.job(), placement); !deleted) {
        return deleted.error();
      }
    }
    if (!pass.job().meta.deleting && !placement->nodes.empty()) {
      planner_.StorePrevious(pass.job().meta.uid, placement->nodes);
    }
    if (Status deleted = writer_.Delete(AnyStateOf(Kind::kPlacement, placement->meta)); !deleted) {
      return deleted.error();
    }
    store_.Remove<api::Placement>({placement->meta.key, placement->meta.uid});
  }
  return kAgain;
}

JobController::Answer JobController::Do(const Pass& pass, const life::DeleteFiles& step) {
  if (Status deleted = options_.delete_files(pass.job(), step.placement); !deleted) {
    return deleted.error();
  }
  const api::Placement& placement = *step.placement;
  std::vector<api::Condition> conditions = placement.conditions;
  api::PutCondition(
      conditions,
      {api::kFilesDeleted, "True", "JobFinished", "what only running workers need is deleted", ""},
      options_.now());
  const auto stored =
      writer_.PatchStatus(TargetOf(Kind::kPlacement, placement.meta),
                          {{"status", {{"conditions", api::EncodeConditions(conditions)}}}});
  if (!stored) return stored.error();
  auto decoded = api::DecodePlacement(*stored, "Placement", api::Reading::kServed);
  if (!decoded) return decoded.error();
  store_.Put(*std::move(decoded));
  return kAgain;
}

JobController::Answer JobController::Do(const Pass& pass, const life::DeleteJob&) {
  const Status deleted = writer_.Delete(AnyStateOf(Kind::kTrainingJob, pass.job().meta));
  if (!deleted) return deleted.error();
  return Outcome{};
}

JobController::Answer JobController::Do(const Pass& pass, const life::WriteStatus& step) {
  return WriteStatusOf(pass, step.status);
}

// Writes the whole status; fails if the job has changed since the decision.
JobController::Answer JobController::WriteStatusOf(const Pass& pass,
                                                   const life::JobStatus& status) {
  const api::TrainingJob& job = pass.job();
  // An attempt that loses its nodes has no pods any more.
  if (cluster::HasCondition(job.conditions, "Placed") && !life::Is(status, "Placed")) {
    if (Status deleted = options_.delete_files(job, nullptr); !deleted) return deleted.error();
  }
  Json patch =
      life::StatusPatch(job.raw->value("status", Json::object()), life::EncodeJobStatus(status),
                        life::kJobStatusFields, life::kInnerFields);
  if (patch.is_null()) patch = Json::object();
  Target target = TargetOf(Kind::kTrainingJob, job.meta);
  if (Seeded(Bug::kStaleStatus)) target = AnyStateOf(Kind::kTrainingJob, job.meta);
  const auto stored = writer_.PatchStatus(target, {{"status", std::move(patch)}});
  Answer answer = StoreJob(stored);
  if (!answer) return answer;
  {
    const std::lock_guard lock(mutex_);
    MemoryOf(job.meta).counted = options_.now();
  }
  const auto* accepted = life::FindCondition(status, "Accepted");
  const bool refused = accepted != nullptr && accepted->status == "False";
  const bool stopped = life::Is(status, "Placed") || life::Is(status, "Suspended");
  if (refused || stopped || life::WaitsForKueue(status)) {
    planner_.Drop(job.meta.uid);
  }
  RecordEvents(job, status);
  Count(pass, status);
  return answer;
}

void JobController::Count(const Pass& pass, const life::JobStatus& status) const {
  if (options_.counters == nullptr) return;
  std::string fabric;
  for (const auto& placement : pass.objects->placements) {
    if (placement->meta.key.name == status.placement_name) fabric = placement->fabric_name;
  }
  CountEvents(pass.job(), status, fabric, options_.now(), *options_.counters);
}

// Records events with the texts of the conditions.
void JobController::RecordEvents(const api::TrainingJob& job, const life::JobStatus& status) {
  for (const api::Condition& now : status.conditions) {
    const auto before = std::find_if(job.conditions.begin(), job.conditions.end(),
                                     [&](const api::Condition& c) { return c.type == now.type; });
    const bool fresh = before == job.conditions.end();
    if (!fresh && before->status == now.status && before->reason == now.reason) continue;
    const bool is = now.status == "True";
    if (now.status == "Unknown" && now.reason != life::kNotWritten) continue;
    if (is && !fresh && before->status == now.status && before->reason == life::kNotWritten) {
      continue;  // that it is written after all is no news
    }
    const bool warns_when_false =
        now.type == "Accepted" || now.type == life::kVerified || now.type == api::kMemoryFits;
    if (fresh && !is && !warns_when_false && now.type != "Placed") continue;
    if (!is && (now.type == "Restarting" || now.type == "PodsReady")) continue;
    const bool warning =
        (is && (now.type == "Failed" || now.type == "Restarting" ||
                now.type == api::kRestartsAlone || now.reason == life::kNotWritten)) ||
        (!is && (warns_when_false || (now.type == "Placed" && now.reason != "Suspended" &&
                                      now.reason != "Restarting" && !life::WaitsForKueue(status))));
    recorder_.Record({"TrainingJob", &job.meta, warning, now.reason, now.type, now.message});
    log_.Info(now.type + "=" + now.status,
              {{"job", api::Show(job.meta.key)}, {"reason", now.reason}, {"why", now.message}});
  }
}

JobController::Answer JobController::Do(const Pass&, const life::Wait& step) {
  return Outcome{.waits = true, .seconds = step.seconds};
}

}  // namespace weft::controllers
