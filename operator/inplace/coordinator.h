#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "operator/inplace/message.h"
#include "operator/inplace/time.h"

namespace weft::inplace {

// A connection of a member to the coordinator. Link 0 is the member of the same parent, worker 0.
using LinkId = std::uint64_t;
inline constexpr LinkId kOwnLink = 0;

struct Outgoing {
  LinkId link = kOwnLink;
  Message message;
  bool close = false;  // after the message
};

struct CoordinatorOptions {
  int workers = 1;
  Revision birth = 0;
  Time silence{15'000};  // a link without a report for so long is lost
};

// Part of worker 0's parent: decides at which revision the gang should be, and when all may start.
//
// The target is the greatest revision that any member knows of. It rises by one more where what
// runs cannot be one gang: a member that came in the place of another after the start, or one that
// runs what this coordinator has not started (worker 0 itself was replaced). Start is ordered only
// when every worker's present parent is in contact and has reported that it is down and knows the
// target: then no process of a lesser revision is left, and nobody can start one.
//
// Cost  O(1) for a report, O(workers) when the target rises and when all start.
class Coordinator {
 public:
  explicit Coordinator(const CoordinatorOptions& options);

  // A member says this over the link. Queues an answer to it, always.
  void Receive(LinkId link, const Report& report, Time now);
  // The link is closed, by the other side or by a failure.
  void Closed(LinkId link);
  // Closes silent links. At least once a second.
  void Tick(Time now);
  // Worker 0's parent is about to end; `done`: because its trainer ended with 0. Says so to all.
  void LeaveGang(bool done);

  // What is to be sent since the last call, in order.
  std::vector<Outgoing> Take();

  Revision target() const { return target_; }
  bool started() const { return started_; }
  // Workers out of contact: never seen, or silent, and not because their trainer has ended.
  int missing() const { return missing_; }

 private:
  // One worker's place in the gang, and the parent that holds it.
  struct Seat {
    bool held = false;
    bool in_contact = false;
    LinkId link = kOwnLink;
    Report report;  // the last one of the holder
    Time heard{0};
    // Counted in ready_, done_, missing_ and left_.
    bool ready = false;
    bool done = false;
    bool missing = true;
    bool left = false;
  };

  bool Admit(LinkId link, const Report& report);
  void Refuse(LinkId link, Refusal why);
  void Raise(Revision revision);
  void Count(Seat& seat);
  void StartIfAllDown();
  Order Present() const;
  void SendAll();
  void DropLink(LinkId link);

  const CoordinatorOptions options_;
  Revision target_;
  bool started_ = false;                 // the target, by all the present holders of the seats
  OrderKind ending_ = OrderKind::kHold;  // kFree or kLeave at the end
  std::vector<Seat> seats_;
  std::map<LinkId, int> rank_of_;  // links in contact
  int ready_ = 0;
  int done_ = 0;
  int missing_;
  int left_ = 0;
  std::vector<Outgoing> out_;
};

}  // namespace weft::inplace
