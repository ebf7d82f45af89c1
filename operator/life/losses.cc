#include "operator/life/losses.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "operator/api/conditions.h"
#include "operator/base/check.h"
#include "operator/life/attempt_labels.h"
#include "operator/life/checkpoint_advice.h"
#include "operator/life/ledger.h"

namespace weft::life {
namespace {

Ledger LedgerOf(const api::JobRecord& record) {
  return {record.lost.value_or(api::LostTime()), record.recovery};
}

void Store(const Ledger& ledger, api::JobRecord& record) {
  record.recovery = ledger.recovery();
  if (record.lost || ledger.lost() != api::LostTime()) record.lost = ledger.lost();
}

void Forget(api::JobRecord& record) {
  record.checkpoint.reset();
  record.recovery.reset();
  record.lost.reset();
}

// Whether a checkpoint is known, so that lost work is exact.
bool IsSaved(const api::JobRecord& record) {
  return record.checkpoint && record.checkpoint->last_time;
}

// The time in an annotation; nothing if it is none, or in the future by more than two clocks may
// differ.
std::optional<UnixSeconds> TimeIn(const api::ObjectMeta& meta, const char* key, UnixSeconds now) {
  const auto text = meta.annotations.At(key);
  const auto time = text ? ParseTime(*text) : std::nullopt;
  if (!time || *time > now + kClockSkewSeconds) return std::nullopt;
  return std::min(*time, now);
}

std::optional<std::int64_t> StepIn(const api::ObjectMeta& meta) {
  const auto text = meta.annotations.At(api::kLastCheckpointStep);
  if (!text) return std::nullopt;
  std::int64_t step = 0;
  const char* const end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, step);
  if (error != std::errc() || stop != end || step < 0) return std::nullopt;
  return step;
}

// The job, and the pods of its attempt that are worker 0.
std::vector<const api::ObjectMeta*> Tellers(const Life& life) {
  std::vector<const api::ObjectMeta*> tellers{&life.job.meta};
  for (const api::Pod* pod : PodsOfAttempt(life)) {
    if (WorkerLabel(pod->meta) == WorkerIndex{0}) tellers.push_back(&pod->meta);
  }
  return tellers;
}

// When the worker failed, as far as its container or its node says; else now.
UnixSeconds FailedAt(const Life& life, const Fault& fault) {
  if (fault.ended != 0) return fault.ended;
  if (fault.cause != Cause::kNodeLost || fault.node.empty()) return life.view.now;
  const NodeState node = life.view.node_state(fault.node);
  if (node.unready_since != 0) return node.unready_since;
  return node.not_ready_since.value_or(life.view.now);
}

bool Becomes(const Life& life, const JobStatus& after, std::string_view type) {
  return Is(after, type) && !Is(StatusOf(life.job), type);
}

// When the workers were told to stop: then PodsReady became False.
UnixSeconds StoppedAt(const Life& life, const JobStatus& after, const Ledger& ledger) {
  if (!ledger.unsaved_since()) return life.view.now;
  return std::min(life.view.now, Since(after, "PodsReady").value_or(life.view.now));
}

// The steps from one status to the next that change what the job's time is spent on.
void CountChange(const Life& life, const JobStatus& after, Ledger& ledger) {
  const UnixSeconds now = life.view.now;
  const bool saved = IsSaved(after.record);
  if (Becomes(life, after, "Complete")) return ledger.Complete(now);
  if (Becomes(life, after, "Failed")) return ledger.Stop(now, saved);
  if (Becomes(life, after, "Suspended")) {
    return ledger.Stop(StoppedAt(life, after, ledger), saved);
  }
  if (Becomes(life, after, "Restarting")) {
    const bool evicted = ReasonOf(after, "Restarting") == api::kQueueEvicted;
    return evicted ? ledger.Stop(now, saved) : ledger.TakenDown(now, saved);
  }
  if (!Is(after, "Placed")) return ledger.Unplaced();
  if (Is(after, "Restarting")) return;
  const Stage stage = StageOf(after);
  if (stage == Stage::kStarting || WasReady(stage)) ledger.Bound(now);
  if (stage == Stage::kAllReady) ledger.Ready(now);
}

}  // namespace

void NoteProgress(Life& life) {
  api::JobRecord& record = life.status.record;
  if (!life.job.checkpoint) return Forget(record);
  Ledger ledger = LedgerOf(record);
  api::CheckpointRecord checkpoint = record.checkpoint.value_or(api::CheckpointRecord());
  // A job that runs already when it gets its spec.checkpoint.
  if (!ledger.running() && StageOf(life.status) == Stage::kAllReady && !life.job.suspend) {
    ledger.Ready(life.view.now);
  }
  for (const api::ObjectMeta* teller : Tellers(life)) {
    if (const auto step = TimeIn(*teller, api::kFirstStepTime, life.view.now)) {
      ledger.FirstStep(*step);
    }
    const auto time = TimeIn(*teller, api::kLastCheckpointTime, life.view.now);
    if (!time || (checkpoint.last_time && *time < *checkpoint.last_time)) continue;
    const auto step = StepIn(*teller);
    if (step || !checkpoint.last_time || *time > *checkpoint.last_time) checkpoint.last_step = step;
    checkpoint.last_time = time;
    ledger.Keep(*time);
  }
  if (const api::Placement* placement = PlacementOfAttempt(life)) {
    checkpoint.advised_interval_seconds =
        AdvisedInterval(*placement, life.view.rates, life.job.checkpoint->stall_seconds);
  }
  if (checkpoint != api::CheckpointRecord()) record.checkpoint = checkpoint;
  Store(ledger, record);
}

void NoteLoss(Life& life, const Fault& fault) {
  api::JobRecord& record = life.status.record;
  if (!life.job.checkpoint) return;
  Ledger ledger = LedgerOf(record);
  ledger.Fail({.cause = std::string(CauseName(fault.cause)),
               .worker = fault.worker.Raw(),
               .node = fault.of_node ? fault.node : "",
               .at = FailedAt(life, fault),
               .saved = IsSaved(record)},
              life.view.now);
  Store(ledger, record);
}

void CountStep(const Life& life, JobStatus& after) {
  if (!life.job.unreadable.empty()) return;  // whether it has a spec.checkpoint is unknown
  if (!life.job.checkpoint) return Forget(after.record);
  const std::int64_t lost_before =
      life.job.record.lost ? life.job.record.lost->work + life.job.record.lost->down() : 0;
  Ledger ledger = LedgerOf(after.record);
  CountChange(life, after, ledger);
  Store(ledger, after.record);
  // What has been lost does not come back.
  WEFT_CHECK(ledger.lost().work + ledger.lost().down() >= lost_before);
}

}  // namespace weft::life
