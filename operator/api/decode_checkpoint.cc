#include "operator/api/decode_checkpoint.h"

#include <algorithm>

#include "operator/api/names.h"

namespace weft::api {
namespace {

// So much that sums of a few stay in 64 bits: 30 million years.
constexpr IntRange kTotal = {.min = 0, .max = 1'000'000'000'000'000};

void CheckSource(const Field& source) {
  const Field type = source["type"];
  const std::string name = type.Str("Annotation");
  if (name == "Metric" || name == "File") {
    return type.Fail(
        "is not supported yet: Weft reads the time of the last checkpoint only from the annotation "
        "weft.dev/last-checkpoint-time (type Annotation)");
  }
  type.OneOf({"Annotation"});
  source.RefuseUnknown({"type"});
}

std::optional<UnixSeconds> TimeAt(const Field& field) { return ParseTime(field.Str()); }

// A phase of a newer version counts as one in the middle, so that the failure stays counted.
RecoveryPhase PhaseAt(const Field& field) {
  const auto found = std::find(kRecoveryPhaseNames.begin(), kRecoveryPhaseNames.end(), field.Str());
  if (found == kRecoveryPhaseNames.end()) return RecoveryPhase::kReplacing;
  return static_cast<RecoveryPhase>(found - kRecoveryPhaseNames.begin());
}

LostTime DecodeLost(const Field& lost) {
  LostTime time;
  time.kept = lost["keptSeconds"].Int(kTotal);
  time.work = lost["workSeconds"].Int(kTotal);
  time.detect = lost["detectSeconds"].Int(kTotal);
  time.replace = lost["replaceSeconds"].Int(kTotal);
  time.start = lost["startSeconds"].Int(kTotal);
  time.load = lost["loadSeconds"].Int(kTotal);
  time.failures = lost["failures"].Int(kTotal);
  time.exact = lost["exact"].Bool(true);
  time.until = TimeAt(lost["countedUntil"]);
  return time;
}

}  // namespace

std::optional<CheckpointSpec> DecodeCheckpoint(const Field& field) {
  if (!field.present()) return std::nullopt;
  field.RefuseUnknown({"intervalSeconds", "source", "stallSeconds"});
  CheckSource(field["source"]);
  CheckpointSpec spec;
  spec.interval_seconds = field["intervalSeconds"].OptionalInt(kSeconds);
  spec.stall_seconds = field["stallSeconds"].Int(kSeconds, spec.stall_seconds);
  return spec;
}

void DecodeLosses(const Field& status, JobRecord& record) {
  if (const Field checkpoint = status["checkpoint"]; checkpoint.present()) {
    record.checkpoint =
        CheckpointRecord{TimeAt(checkpoint["lastTime"]), checkpoint["lastStep"].OptionalInt(kTotal),
                         checkpoint["advisedIntervalSeconds"].OptionalInt(kTotal)};
  }
  if (const Field recovery = status["recovery"]; recovery.present()) {
    record.recovery =
        Recovery{recovery["cause"].Str(), recovery["worker"].Int(kTotal), recovery["node"].Str(),
                 TimeAt(recovery["since"]).value_or(0), PhaseAt(recovery["phase"])};
  }
  if (const Field lost = status["lost"]; lost.present()) record.lost = DecodeLost(lost);
}

}  // namespace weft::api
