#include "operator/life/ledger.h"

#include <algorithm>
#include <utility>

#include "operator/base/check.h"

namespace weft::life {

using Phase = api::RecoveryPhase;

Ledger::Ledger(const api::LostTime& lost, std::optional<api::Recovery> recovery)
    : lost_(lost), recovery_(std::move(recovery)) {}

// Until something tells of a step, a job whose workers are all ready counts as training.
bool Ledger::training() const { return running() && (!recovery_ || In(Phase::kLoading)); }

std::optional<UnixSeconds> Ledger::unsaved_since() const {
  return training() ? lost_.until : std::nullopt;
}

std::int64_t Ledger::Take(UnixSeconds time) {
  WEFT_CHECK(running());  // else it is unknown since when
  const std::int64_t seconds = std::max<std::int64_t>(0, time - *lost_.until);
  lost_.until = *lost_.until + seconds;
  return seconds;
}

void Ledger::CountDown(UnixSeconds time) {
  WEFT_CHECK(recovery_ && !training());
  const std::int64_t seconds = Take(time);
  switch (recovery_->phase) {
    case Phase::kDetecting:
      lost_.detect += seconds;
      break;
    case Phase::kStopping:
    case Phase::kReplacing:
      lost_.replace += seconds;
      break;
    case Phase::kStarting:
    case Phase::kLoading:
      lost_.start += seconds;
      break;
  }
}

void Ledger::Lose(UnixSeconds time, bool saved) {
  const std::int64_t seconds = Take(time);
  lost_.work += seconds;
  if (seconds > 0 && !saved) lost_.exact = false;
}

void Ledger::StopClock() {
  lost_.until.reset();
  recovery_.reset();
}

void Ledger::Ready(UnixSeconds now) {
  if (!running()) {
    lost_.until = now;
    recovery_.reset();
  } else if (!training()) {
    if (In(Phase::kDetecting)) return;  // the failed worker is not
    CountDown(now);
    recovery_->phase = Phase::kLoading;
  }
}

void Ledger::Keep(UnixSeconds checkpoint) {
  if (!training() || checkpoint <= *lost_.until) return;
  lost_.kept += Take(checkpoint);
  recovery_.reset();
}

void Ledger::FirstStep(UnixSeconds time) {
  if (!running() || !In(Phase::kLoading) || time <= recovery_->since) return;
  lost_.load += Take(time);
  recovery_.reset();
}

void Ledger::Fail(const Failure& failure, UnixSeconds now) {
  if (!running()) return;
  const UnixSeconds at = std::max(*lost_.until, std::min(failure.at, now));
  const bool first = training();
  if (first) {
    Lose(at, failure.saved);
    recovery_ = api::Recovery{.cause = "", .worker = 0, .node = "", .since = at};
  } else if (In(Phase::kReplacing) || In(Phase::kStarting)) {
    CountDown(at);
    recovery_->phase = Phase::kDetecting;
    ++lost_.failures;
  }
  if (first) ++lost_.failures;
  recovery_->cause = failure.cause;
  recovery_->worker = failure.worker;
  recovery_->node = failure.node;
}

void Ledger::TakenDown(UnixSeconds now, bool saved) {
  if (training()) return Stop(now, saved);  // not for a failure
  if (!running()) return;
  CountDown(now);
  recovery_->phase = Phase::kStopping;
}

void Ledger::Unplaced() {
  if (In(Phase::kStopping)) recovery_->phase = Phase::kReplacing;
}

void Ledger::Bound(UnixSeconds now) {
  if (!running() || (!In(Phase::kStopping) && !In(Phase::kReplacing))) return;
  CountDown(now);
  recovery_->phase = Phase::kStarting;
}

void Ledger::Stop(UnixSeconds at, bool saved) {
  if (!running()) return;
  if (training()) {
    Lose(at, saved);
  } else {
    CountDown(at);
  }
  StopClock();
}

void Ledger::Complete(UnixSeconds now) {
  if (!running()) return;
  if (training()) {
    lost_.kept += Take(now);
  } else {
    CountDown(now);
  }
  StopClock();
}

std::optional<double> EffectivePercent(const api::LostTime& lost) {
  constexpr std::int64_t kTenthsOfAll = 1'000;
  constexpr double kTenths = 10;
  if (lost.wall() <= 0) return std::nullopt;
  return static_cast<double>(lost.kept * kTenthsOfAll / lost.wall()) / kTenths;
}

}  // namespace weft::life
