#include "operator/inplace/coordinator.h"

#include <algorithm>
#include <utility>

#include "operator/base/check.h"

namespace weft::inplace {

Coordinator::Coordinator(const CoordinatorOptions& options)
    : options_(options), target_(options.birth), missing_(options.workers) {
  WEFT_CHECK(options.workers >= 1 && options.workers <= kMaxWorkers);
  seats_.resize(static_cast<std::size_t>(options.workers));
}

std::vector<Outgoing> Coordinator::Take() { return std::exchange(out_, {}); }

Order Coordinator::Present() const {
  if (ending_ != OrderKind::kHold) return {target_, ending_, missing_, left_};
  return {target_, started_ ? OrderKind::kStart : OrderKind::kHold, missing_, left_};
}

void Coordinator::SendAll() {
  for (const auto& [link, rank] : rank_of_) out_.push_back({link, Present(), false});
}

void Coordinator::Refuse(LinkId link, Refusal why) {
  out_.push_back({link, why, true});
  Closed(link);
}

// Whether the sender holds its seat, which a replacement takes over here.
bool Coordinator::Admit(LinkId link, const Report& report) {
  if (report.workers != options_.workers || report.rank >= options_.workers) {
    Refuse(link, Refusal::kWorkers);
    return false;
  }
  const auto known = rank_of_.find(link);
  if (known != rank_of_.end() && known->second != report.rank) {
    Refuse(link, Refusal::kTaken);  // one link, one rank
    return false;
  }
  if ((report.rank == 0) != (link == kOwnLink)) {
    Refuse(link,
           Refusal::kTaken);  // worker 0 is here; its replacement has a coordinator of its own
    return false;
  }
  Seat& seat = seats_[static_cast<std::size_t>(report.rank)];
  const bool same = seat.held && seat.report.instance == report.instance;
  if (seat.held && !same) {
    const Revision birth = seat.report.birth;
    if (report.birth < birth || (report.birth == birth && seat.in_contact)) {
      Refuse(link, report.birth < birth ? Refusal::kOlder : Refusal::kTaken);
      return false;
    }
  }
  if (seat.in_contact && seat.link != link) {
    if (same) {
      DropLink(seat.link);  // the member came back before its old link was found lost
    } else {
      Refuse(seat.link, Refusal::kOlder);
    }
  }
  // The trainer of whoever held this seat before is lost: those that started with it cannot go on.
  if (!same && started_) Raise(target_ + 1);
  return true;
}

void Coordinator::Receive(LinkId link, const Report& report, Time now) {
  if (!Admit(link, report)) return;
  Seat& seat = seats_[static_cast<std::size_t>(report.rank)];
  seat.held = true;
  seat.in_contact = true;
  seat.link = link;
  seat.report = report;
  seat.heard = now;
  rank_of_[link] = report.rank;
  if (report.want > target_) Raise(report.want);
  // It started what this coordinator, as it is now, has not started with all.
  const bool foreign = report.at >= target_ && !started_;
  if (foreign && report.phase != Phase::kLeft) Raise(report.at + 1);
  if (report.phase == Phase::kLeft) {
    seat.in_contact = false;
    rank_of_.erase(link);
  }
  Count(seat);
  const Revision before = target_;
  StartIfAllDown();
  WEFT_CHECK(target_ == before);
  out_.push_back({link, Present(), false});
}

void Coordinator::StartIfAllDown() {
  if (!started_ && ready_ == options_.workers) {
    for (const Seat& seat : seats_) {
      // Somebody may still run a process of a lesser revision, or start one, if this does not hold.
      WEFT_CHECK(seat.in_contact && seat.report.phase == Phase::kDown &&
                 seat.report.want == target_ && seat.report.at < target_);
    }
    started_ = true;
    SendAll();
  }
  if (started_ && done_ == options_.workers && ending_ == OrderKind::kHold) {
    ending_ = OrderKind::kFree;
    SendAll();
  }
}

void Coordinator::Raise(Revision revision) {
  // At the end of all revisions nothing can start any more; the members' limits end the gang.
  target_ = std::min(revision, kMaxRevision);
  started_ = false;
  for (Seat& seat : seats_) Count(seat);
  SendAll();
}

void Coordinator::Count(Seat& seat) {
  const Report& report = seat.report;
  const bool ready = seat.in_contact && report.phase == Phase::kDown && report.want == target_ &&
                     report.at < target_;
  const bool done = started_ && report.phase == Phase::kDone && report.at == target_;
  const bool left = seat.held && report.phase == Phase::kLeft;
  const bool missing = !seat.in_contact && !left && !done;
  ready_ += (ready ? 1 : 0) - (seat.ready ? 1 : 0);
  done_ += (done ? 1 : 0) - (seat.done ? 1 : 0);
  left_ += (left ? 1 : 0) - (seat.left ? 1 : 0);
  missing_ += (missing ? 1 : 0) - (seat.missing ? 1 : 0);
  seat.ready = ready;
  seat.done = done;
  seat.missing = missing;
  seat.left = left;
  WEFT_DCHECK(ready_ >= 0 && ready_ <= options_.workers);
}

void Coordinator::DropLink(LinkId link) {
  WEFT_CHECK(link != kOwnLink);
  out_.push_back({link, Present(), true});
  Closed(link);
}

void Coordinator::Closed(LinkId link) {
  const auto known = rank_of_.find(link);
  if (known == rank_of_.end()) return;
  Seat& seat = seats_[static_cast<std::size_t>(known->second)];
  WEFT_CHECK(seat.link == link);
  rank_of_.erase(known);
  seat.in_contact = false;
  Count(seat);
}

void Coordinator::Tick(Time now) {
  std::vector<LinkId> silent;
  for (const auto& [link, rank] : rank_of_) {
    const Seat& seat = seats_[static_cast<std::size_t>(rank)];
    if (link != kOwnLink && now - seat.heard >= options_.silence) silent.push_back(link);
  }
  for (const LinkId link : silent) DropLink(link);
}

void Coordinator::LeaveGang(bool done) {
  ending_ = done ? OrderKind::kFree : OrderKind::kLeave;
  SendAll();
}

}  // namespace weft::inplace
