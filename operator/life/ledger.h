#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "operator/api/checkpoint.h"
#include "operator/base/timestamp.h"

namespace weft::life {

// Which seconds of a job are kept, and which its failures cost: status.lost and status.recovery.
//
// The clock starts when all workers are ready first. From then on each second is counted exactly
// once, in the order of time up to `lost.until`:
//   kept     training up to a checkpoint, or up to the job's good end
//   work     training from the last checkpoint, or from the end of the last recovery if that is
//            later, to a failure or a stop. Without any checkpoint that is at most what was lost,
//            so that `exact` becomes false
//   detect   from a failure until it is found and judged
//   replace  until every pod of the next attempt has its node
//   start    until every worker is ready
//   load     until the first step, where the program tells of it; else that is training
// so that kept + work + detect + replace + start + load is the wall time. A failure before the end
// of a recovery joins it. A planned stop (the job is suspended, or loses its quota) stops the clock
// until all workers are ready again.
//
// Units   whole seconds. A time before `until` counts as `until`: no member ever decreases.
// Source  Weft's own definition, of "effective training time" in Llama Team, "The Llama 3 Herd of
//         Models", 2024, section 3.3.4: less what the last checkpoint lacks.
class Ledger {
 public:
  Ledger() = default;
  Ledger(const api::LostTime& lost, std::optional<api::Recovery> recovery);

  const api::LostTime& lost() const { return lost_; }
  const std::optional<api::Recovery>& recovery() const { return recovery_; }
  bool running() const { return lost_.until.has_value(); }
  // The time since then is training that no checkpoint holds; nothing if the job does not train.
  std::optional<UnixSeconds> unsaved_since() const;

  // All workers are ready: starts the clock, or ends the start of a recovery.
  void Ready(UnixSeconds now);
  // A checkpoint was complete at that time.
  void Keep(UnixSeconds checkpoint);
  // The first step after a start was done at that time.
  void FirstStep(UnixSeconds time);

  struct Failure {
    std::string cause;
    std::int64_t worker = 0;
    std::string node;
    UnixSeconds at = 0;
    bool saved = true;  // a checkpoint is known
  };
  // Nothing happens before the clock starts. While the attempt is being taken down, only the blame
  // changes.
  void Fail(const Failure& failure, UnixSeconds now);
  // The attempt is being taken down: the failure is judged, or a new attempt did not come to start.
  void TakenDown(UnixSeconds now, bool saved);
  // It has no nodes any more.
  void Unplaced();
  // All pods of an attempt have their nodes.
  void Bound(UnixSeconds now);

  // The job trains no more from `at` on, up to now; it is not complete.
  void Stop(UnixSeconds at, bool saved);
  void Complete(UnixSeconds now);

 private:
  bool training() const;
  bool In(api::RecoveryPhase phase) const { return recovery_ && recovery_->phase == phase; }
  // The seconds from `until` to that time, which becomes `until`.
  std::int64_t Take(UnixSeconds time);
  // The same, into the part of the recovery's phase.
  void CountDown(UnixSeconds time);
  void Lose(UnixSeconds time, bool saved);
  void StopClock();

  api::LostTime lost_;
  std::optional<api::Recovery> recovery_;
};

// The share of all counted seconds that is kept, in percent, cut to a tenth; nothing if none is
// counted.
std::optional<double> EffectivePercent(const api::LostTime& lost);

}  // namespace weft::life
