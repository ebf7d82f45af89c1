#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "operator/base/result.h"
#include "operator/kube/timer.h"

namespace weft::kube {

// Defaults are those of Kubernetes' own components.
struct LeaseTimes {
  Millis lease{15'000};  // without a renewal for this long, others may take it
  Millis renew{10'000};  // without a renewal for this long, the leader steps down by itself
  Millis retry{2'000};   // between two tries
};

// spec of a Lease, coordination.k8s.io/v1.
struct LeaseRecord {
  std::string holder;  // "": nobody
  std::int64_t duration_seconds = 0;
  std::string acquire_time, renew_time;  // MicroTime; never compared with a clock
  std::int64_t transitions = 0;

  friend bool operator==(const LeaseRecord&, const LeaseRecord&) = default;
};

// A Lease as it was read, and all of it, so that a replacement keeps what others wrote there.
struct SeenLease {
  LeaseRecord record;
  nlohmann::json object;
};

// Errors  kTransient: that is no Lease.
Result<SeenLease> ParseLease(const std::string& body);
// The object with the record in it; its resourceVersion makes the write fail if it has changed.
std::string LeaseBody(const nlohmann::json& object, const LeaseRecord& record);

// Who leads, by a Lease that is read and replaced with compare-and-swap. Pure.
//
// Clocks of different machines are never compared: a candidate takes the lease when it has not seen
// the record change for the duration in it, by its own clock, from the moment it read it. The
// leader counts from the moment it sent the last write that succeeded, which is earlier, and stops
// after the shorter `renew`. So it has stopped before another may start, as long as their clocks
// run at rates within a third of each other. That guards against two leaders, not against a
// delayed write of the former one: each write of a leader is a compare-and-swap as well.
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
  // The leader replaces what it wrote last without reading; everybody else reads first. kNothing:
  // somebody else holds it; what was seen is then out of date.
  Action Next(Instant now, WallMicros wall);
  // That nobody holds it, on a clean stop; kNothing where it is not held.
  Action Release(WallMicros wall) const;

  // The result of a read; nullopt: the Lease does not exist.
  void Observe(const std::optional<LeaseRecord>& seen, Instant now);
  // A create or replace succeeded that was sent at that moment.
  void Wrote(const LeaseRecord& record, Instant sent, Instant now);
  // The write was refused, or its outcome is unknown: read before the next write.
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
  bool fresh_ = false;  // seen_ is what the next write may replace
  std::optional<LeaseRecord> seen_;
  Instant changed_{};  // when seen_ was seen to change
  Instant leads_until_ = Instant::min();
  std::string holder_;
};

}  // namespace weft::kube
