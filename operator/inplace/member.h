#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "operator/inplace/message.h"
#include "operator/inplace/time.h"

namespace weft::inplace {

// The exit code of a parent that ends for a reason of its own while its trainer had no error: the
// gang could not be restarted in place in time, worker 0 cannot be reached, or another parent
// holds the rank. Whoever made the gang should make all of it anew. (EX_TEMPFAIL of sysexits.h.)
inline constexpr int kLeaveCode = 75;

struct MemberOptions {
  int rank = 0;
  int workers = 1;
  Revision birth = 0;          // greater than 0: a replacement, which joins a gang that has run
  std::uint64_t instance = 0;  // random

  Time heartbeat{5'000};      // between reports; three without an answer are a lost connection
  Time grace{10'000};         // from SIGTERM to SIGKILL
  Time limit{60'000};         // from the first stop until the trainer runs again
  Time start_limit{600'000};  // the same for the first start of a gang, whose pods start one by one
  Time hold{20'000};          // a failed trainer waits for a greater revision, with all in contact
  Time contact_limit{300'000};  // and with a worker out of contact; a running one gives up then
  int restarts = 0;  // times that this trainer's own failure asks all for a restart in place
};

// What the shell around a Member does for it.
struct StartTrainer {
  Revision revision = 0;
};
struct SignalTrainer {
  bool kill = false;  // SIGKILL to every process that is left, else SIGTERM to the process group
};
struct SendReport {
  Report report;
};
struct Reconnect {};  // worker 0 is silent: look up its name again
struct Leave {        // end the parent, and before it every process that is left
  int code = 0;
  std::string reason;  // empty: the trainer's own exit code says it all
};
using Action = std::variant<StartTrainer, SignalTrainer, SendReport, Reconnect, Leave>;

// One worker's parent: what its trainer should do, as a state machine without input or output.
//
// Down -> Running -> Stopping -> Down -> ... The trainer starts only on the order of the
// coordinator, at the greatest revision that this member knows of, and only if that is greater
// than the revision of its last start; it is stopped as soon as a greater revision is known.
// Whoever knows a greater revision (this member from its environment, from CallStop or from a
// failed trainer; another member) tells the coordinator, which tells all.
//
// Time-safety  every call has the present time, which never goes back.
// Cost         each call is O(1).
class Member {
 public:
  Member(const MemberOptions& options, Time now);

  // At least every 100 ms; all limits are seen here.
  void Tick(Time now);

  // The connection to worker 0.
  void Connected(Time now);
  void Disconnected();
  void Receive(const Order& order, Time now);
  void Receive(Refusal refusal, Time now);

  // The trainer's main process ended by itself or by a signal: `code` as a shell gives it,
  // 128 + signal for a signal.
  void TrainerEnded(int code, Time now);
  // No process of the trainer is left. Called after SignalTrainer, once it is so.
  void TrainerGone(Time now);

  // The operator, or a person, wants all to restart at this revision. False if the revision is
  // less than one that is known or greater than kMaxRevision.
  bool CallStop(Revision revision, Time now);

  // This parent got a signal to end, which the shell passes on to the trainer.
  void End(int signal, Time now);

  // What is to be done since the last call, in order. Nothing comes after Leave.
  std::vector<Action> Take();

  Report State() const;
  std::optional<int> trainer_code() const { return trainer_code_; }
  bool in_contact() const { return in_contact_; }
  int missing() const { return missing_; }
  bool ending() const { return ending_; }

 private:
  void Learn(Revision revision, Time now);
  void BeginStop(Time now);
  void StopThenLeave(std::string reason, Time now);
  void LeaveNow(int code, std::string reason);
  void Send(Time now);
  void SeeContact(Time now);
  void CheckLimit(Time now);
  bool Troubled() const;
  std::string Trouble() const;

  const MemberOptions options_;
  Phase phase_ = Phase::kDown;
  Revision want_ = 0;
  Revision at_ = kNoRevision;
  std::vector<Action> actions_;

  bool in_contact_ = false;
  bool coordinator_left_ = false;  // by itself, so that no other may come in its place
  bool free_ = false;
  int missing_ = 0;
  int left_ = 0;
  bool connected_ = false;
  std::optional<Refusal> refused_;
  Time last_contact_;  // or since the connection was made
  Time next_report_;
  std::optional<Time> troubled_since_;

  Time waiting_since_;               // the first stop since the last start
  Time kill_at_{0};                  // in kStopping
  Time ended_at_{0};                 // in kFailed and kDone
  std::optional<int> trainer_code_;  // of the last trainer that ended
  int requests_left_;
  bool ending_ = false;
  int end_signal_ = 0;
  std::optional<std::string> leaving_;  // the reason, while the trainer is stopped for it
};

}  // namespace weft::inplace
