#include "operator/inplace/member.h"

#include <utility>

#include "operator/base/check.h"

namespace weft::inplace {
namespace {

// SIGKILL is sent again and again: a process may be forked while the others are killed.
constexpr Time kKillAgain{50};
constexpr int kMissedHeartbeats = 3;

std::string SecondsOf(Time span) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(span).count()) + " s";
}

}  // namespace

Member::Member(const MemberOptions& options, Time now)
    : options_(options),
      want_(options.birth),
      last_contact_(now),
      next_report_(now),
      waiting_since_(now),
      requests_left_(options.restarts) {
  WEFT_CHECK(options.rank >= 0 && options.rank < options.workers);
}

Report Member::State() const {
  return {options_.rank, options_.workers, options_.birth, options_.instance, want_, phase_, at_};
}

std::vector<Action> Member::Take() { return std::exchange(actions_, {}); }

void Member::Send(Time now) {
  next_report_ = now + options_.heartbeat;
  actions_.emplace_back(SendReport{State()});
}

void Member::Tick(Time now) {
  if (phase_ == Phase::kLeft) return;
  if (now >= next_report_) Send(now);
  SeeContact(now);
  switch (phase_) {
    case Phase::kStopping:
      if (now >= kill_at_) {
        kill_at_ = now + kKillAgain;
        actions_.emplace_back(SignalTrainer{.kill = true});
      }
      CheckLimit(now);
      break;
    case Phase::kDown:
      CheckLimit(now);
      break;
    case Phase::kRunning:
      if (!free_ && !ending_ && troubled_since_ &&
          now - *troubled_since_ >= options_.contact_limit) {
        StopThenLeave("Unreachable: " + Trouble() + " for " + SecondsOf(options_.contact_limit),
                      now);
      }
      break;
    case Phase::kFailed: {
      const Time patience = Troubled() ? options_.contact_limit : options_.hold;
      if (now - ended_at_ >= patience) LeaveNow(*trainer_code_, "");
      break;
    }
    case Phase::kDone:
      if (now - ended_at_ >= options_.limit) LeaveNow(0, "");
      break;
    case Phase::kLeft:
      break;
  }
}

void Member::SeeContact(Time now) {
  if (connected_ && options_.rank != 0 &&
      now - last_contact_ >= kMissedHeartbeats * options_.heartbeat) {
    Disconnected();
    actions_.emplace_back(Reconnect{});
  }
  const bool trouble = !in_contact_ || missing_ + left_ > 0;
  if (!trouble) {
    troubled_since_.reset();
  } else if (!troubled_since_) {
    troubled_since_ = now;
  }
}

// Whether a worker that is out of contact may yet be replaced.
bool Member::Troubled() const { return in_contact_ ? missing_ > 0 : !coordinator_left_; }

std::string Member::Trouble() const {
  if (!in_contact_) {
    std::string text = "no contact to worker 0's parent";
    if (refused_) text += " (refused: " + std::string(NameOf(*refused_)) + ")";
    return text;
  }
  const std::string of_all = " of " + std::to_string(options_.workers) + " workers ";
  if (missing_ > 0) return std::to_string(missing_) + of_all + "out of contact";
  if (left_ > 0) return std::to_string(left_) + of_all + "ended with a failed trainer";
  return "not all workers are down";
}

void Member::CheckLimit(Time now) {
  const bool first = at_ == kNoRevision && options_.birth == 0;
  const Time limit = first ? options_.start_limit : options_.limit;
  if (now - waiting_since_ < limit) return;
  if (leaving_) return LeaveNow(kLeaveCode, *leaving_);
  const std::string own = phase_ == Phase::kStopping ? "processes do not end" : Trouble();
  LeaveNow(kLeaveCode, "Late: revision " + std::to_string(want_) + " has not started within " +
                           SecondsOf(limit) + ": " + own);
}

void Member::Connected(Time now) {
  connected_ = true;
  last_contact_ = now;
  if (phase_ != Phase::kLeft) Send(now);
}

void Member::Disconnected() {
  connected_ = false;
  in_contact_ = false;
}

void Member::Receive(const Order& order, Time now) {
  if (phase_ == Phase::kLeft) return;
  last_contact_ = now;
  in_contact_ = true;
  refused_.reset();
  coordinator_left_ = order.kind == OrderKind::kLeave;
  missing_ = order.missing;
  left_ = order.left;
  if (order.kind == OrderKind::kLeave) return;
  if (order.kind == OrderKind::kFree) {
    free_ = true;
    if (phase_ == Phase::kDone) return LeaveNow(0, "");
    if (phase_ == Phase::kFailed) return LeaveNow(*trainer_code_, "");
    if (phase_ == Phase::kDown) {
      return LeaveNow(kLeaveCode, "Late: the other workers' trainers have ended");
    }
    return;
  }
  // The order of a coordinator that knows less than this member: it learns by the next report.
  if (order.revision < want_) return;
  if (order.revision > want_) Learn(order.revision, now);
  const bool may_start = phase_ == Phase::kDown && !ending_ && !leaving_;
  if (order.kind != OrderKind::kStart || !may_start || at_ == want_) return;
  WEFT_CHECK(at_ < want_);  // a revision is never started twice, nor after a greater one
  at_ = want_;
  phase_ = Phase::kRunning;
  trainer_code_.reset();
  actions_.emplace_back(StartTrainer{at_});
  Send(now);
}

void Member::Receive(Refusal refusal, Time now) {
  if (phase_ == Phase::kLeft) return;
  refused_ = refusal;
  in_contact_ = false;
  if (ending_ || leaving_) return;
  // One that never ran may wait until a holder that is lost is noticed.
  if (refusal == Refusal::kTaken && at_ == kNoRevision) return;
  const std::string rank = "worker " + std::to_string(options_.rank);
  StopThenLeave(refusal == Refusal::kWorkers
                    ? "Mismatch: worker 0 has another number of workers than " + rank
                    : "Replaced: another parent is " + rank + " now",
                now);
}

void Member::TrainerEnded(int code, Time now) {
  if (phase_ != Phase::kRunning) return;  // it was asked to end
  trainer_code_ = code;
  if (ending_ || free_) return LeaveNow(code, "");
  ended_at_ = now;
  phase_ = code == 0 ? Phase::kDone : Phase::kFailed;
  if (code != 0 && requests_left_ > 0 && want_ < kMaxRevision) {
    --requests_left_;
    Learn(want_ + 1, now);
    return;
  }
  if (options_.workers == 1) return LeaveNow(code, "");
  Send(now);
}

void Member::TrainerGone(Time now) {
  if (phase_ != Phase::kStopping) return;
  if (ending_) return LeaveNow(128 + end_signal_, "");
  if (leaving_) return LeaveNow(kLeaveCode, *leaving_);
  phase_ = Phase::kDown;
  Send(now);
}

bool Member::CallStop(Revision revision, Time now) {
  if (revision < want_ || revision > kMaxRevision || phase_ == Phase::kLeft) return false;
  if (revision > want_) Learn(revision, now);
  return true;
}

void Member::Learn(Revision revision, Time now) {
  WEFT_CHECK(revision > want_);
  // A parent that ends stays at its last revision: it starts nothing any more.
  if (ending_ || leaving_ || free_) return;
  want_ = revision;
  if (phase_ == Phase::kRunning || phase_ == Phase::kFailed || phase_ == Phase::kDone) {
    BeginStop(now);
  }
  Send(now);
}

void Member::BeginStop(Time now) {
  WEFT_CHECK(phase_ != Phase::kDown && phase_ != Phase::kStopping);
  phase_ = Phase::kStopping;
  waiting_since_ = now;
  kill_at_ = now + options_.grace;
  actions_.emplace_back(SignalTrainer{.kill = false});
}

void Member::StopThenLeave(std::string reason, Time now) {
  if (phase_ == Phase::kDown) return LeaveNow(kLeaveCode, std::move(reason));
  if (!leaving_) leaving_ = std::move(reason);
  if (phase_ == Phase::kStopping) return;
  BeginStop(now);
  Send(now);
}

void Member::End(int signal, Time now) {
  if (phase_ == Phase::kLeft) return;
  ending_ = true;
  end_signal_ = signal;
  if (phase_ == Phase::kDown) return LeaveNow(128 + signal, "");
  if (phase_ == Phase::kFailed) return LeaveNow(*trainer_code_, "");
  if (phase_ == Phase::kDone) return LeaveNow(0, "");
  Send(now);
}

void Member::LeaveNow(int code, std::string reason) {
  WEFT_CHECK(code != 0 || (trainer_code_ && *trainer_code_ == 0));  // 0 is the trainer's own
  // Only then is nobody to wait for a replacement.
  const bool failed = phase_ == Phase::kFailed;
  phase_ = Phase::kLeft;
  if (failed) actions_.emplace_back(SendReport{State()});
  actions_.emplace_back(Leave{code, std::move(reason)});
}

}  // namespace weft::inplace
