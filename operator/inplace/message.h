#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "operator/base/result.h"

namespace weft::inplace {

// What the parents of one gang tell each other. Each worker's parent keeps one TCP connection to
// the coordinator, which is part of worker 0's parent, and sends a Report when something changes
// and as a heartbeat. The coordinator answers each Report with an Order or a Refusal and sends an
// Order to everybody when its own decision changes. Every message states all that its sender
// knows, so a lost one is made good by the next.

// Counts the starts of a gang's trainers, from 0 on. It never goes back.
using Revision = std::int32_t;
inline constexpr Revision kNoRevision = -1;  // none started yet
inline constexpr Revision kMaxRevision = 1'000'000'000;

// The greatest gang. It bounds what a message may make the coordinator remember.
inline constexpr int kMaxWorkers = 1'000'000;

// The state of a worker's trainer: the command that its parent runs, with all its processes.
enum class Phase {
  kDown,      // no process is left, or none was started yet
  kRunning,   // started and not ended
  kStopping,  // asked to end for a greater revision; processes may be left
  kFailed,    // ended by itself with an error
  kDone,      // ended by itself with exit code 0
  kLeft,      // failed, and the parent ends with it
};
std::string_view NameOf(Phase phase);

struct Report {
  int rank = 0;                // the worker's index
  int workers = 0;             // in the gang, as this parent was told
  Revision birth = 0;          // the revision that this parent was started with
  std::uint64_t instance = 0;  // random; tells a parent from its replacement
  Revision want = 0;           // the greatest revision that this parent knows of
  Phase phase = Phase::kDown;
  Revision at = kNoRevision;  // of the trainer started last, at most `want`

  friend bool operator==(const Report&, const Report&) = default;
};

enum class OrderKind {
  kHold,   // be down at `revision` and wait
  kStart,  // all are down at `revision`: start it, unless that was done
  kFree,   // the gang ends: each trainer goes on alone, and its parent ends with it
  kLeave,  // worker 0's parent ends because its own trainer failed
};

struct Order {
  Revision revision = 0;
  OrderKind kind = OrderKind::kHold;
  int missing = 0;  // workers whose parents are out of contact
  int left = 0;     // workers whose parents ended with a trainer that failed

  friend bool operator==(const Order&, const Order&) = default;
};

// The coordinator closes the connection after it.
enum class Refusal {
  kTaken,    // another parent in contact holds this rank
  kOlder,    // a parent of a greater revision holds this rank
  kWorkers,  // the two disagree about how many workers there are
};
std::string_view NameOf(Refusal refusal);

using Message = std::variant<Report, Order, Refusal>;

// Longer lines, without their newline, are no messages.
inline constexpr std::size_t kMaxLineBytes = 512;
inline constexpr std::size_t kMaxTokenBytes = 256;

// Whether a text can be a token: printable ASCII without spaces, at most kMaxTokenBytes. An empty
// one stands for none.
bool IsToken(std::string_view token);

// Compares in a time that does not depend on where the texts differ.
bool SameToken(std::string_view a, std::string_view b);

// One line with its newline: "weft-run/1 TOKEN report 2 8 0 1f3a... 4 running 4". Precondition:
// IsToken(token).
std::string Encode(const Message& message, std::string_view token);

// The message of a line without its newline. Input is hostile: every number is checked against its
// bounds. Errors: kInvalid, "wrong token" or "not a message of weft-run".
Result<Message> Decode(std::string_view line, std::string_view token);

}  // namespace weft::inplace
