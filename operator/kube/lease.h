#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "operator/base/result.h"
#include "operator/kube/timer.h"

namespace weft::kube {

// Times of the leader election. The defaults are those of Kubernetes' own components.
struct LeaseTimes {
  Millis lease{15'000};  // without a renewal for this long, others may take the Lease
  Millis renew{10'000};  // without a renewal for this long, the leader steps down
  Millis retry{2'000};   // between two tries
};

// The spec of a Lease, coordination.k8s.io/v1.
struct LeaseRecord {
  std::string holder;  // "": nobody
  std::int64_t duration_seconds = 0;
  std::string acquire_time, renew_time;  // MicroTime; never compared with a clock
  std::int64_t transitions = 0;

  friend bool operator==(const LeaseRecord&, const LeaseRecord&) = default;
};

// A Lease as it was read, with the whole object, so that a replacement keeps fields of other
// writers.
struct SeenLease {
  LeaseRecord record;
  nlohmann::json object;
};

// Errors  kTransient: the body is not a Lease.
Result<SeenLease> ParseLease(const std::string& body);
// The body of a write of the record. The resourceVersion of `object` makes the write fail if the
// Lease has changed.
std::string LeaseBody(const nlohmann::json& object, const LeaseRecord& record);

// The leader election, by a Lease that is read and replaced with compare-and-swap. Pure.
//
// Clocks of different machines are never compared. A candidate takes the Lease when, by its own
// clock, the record has not changed for the duration in the record since the candidate read it. The
// leader counts from the moment when it sent its last successful write, which is earlier, and stops
// after `renew`, which is shorter. So it has stopped before another process may start, as long as
// their clocks run at rates within a third of each other. This prevents two leaders, but not a
// delayed write of the former leader, so each write of a leader is a compare-and-swap too.
//
//   Next ──> kRead ──> Observe ──> Next ──> kCreate, kReplace ──> Wrote
//      └──────────────────────────────────────────────────────> Failed
// Thread-safety  none.
class Election {
 public:
  Election(std::string identity, LeaseTimes times);

  struct Action {
    enum class Kind : std::uint8_t { kRead, kCreate, kReplace, kNothing };
    Kind kind = Kind::kNothing;
    LeaseRecord record;
  };
  // The next action. The leader replaces its last record without reading; all others read first.
  // kNothing: another process holds the Lease; the action after that is a new read.
  Action Next(Instant now, WallMicros wall);
  // The action for a clean stop: it writes a record without a holder. kNothing if this process does
  // not hold the Lease.
  Action Release(WallMicros wall) const;

  // The result of a read; nullopt: the Lease does not exist.
  void Observe(const std::optional<LeaseRecord>& seen, Instant now);
  // A create or replace that was sent at the time `sent` has succeeded.
  void Wrote(const LeaseRecord& record, Instant sent, Instant now);
  // The write was refused, or its outcome is unknown: Next reads before the next write.
  void Failed();

  bool IsLeader(Instant now) const { return now < leads_until_; }
  Instant leads_until() const { return leads_until_; }
  // The last known holder.
  const std::string& holder() const { return holder_; }

 private:
  Millis DurationOf(const LeaseRecord& record) const;
  LeaseRecord Taken(WallMicros wall) const;

  std::string identity_;
  LeaseTimes times_;
  bool fresh_ = false;  // whether the next write may replace seen_
  std::optional<LeaseRecord> seen_;
  Instant changed_{};  // when seen_ was seen to change
  Instant leads_until_ = Instant::min();
  std::string holder_;
};

}  // namespace weft::kube
