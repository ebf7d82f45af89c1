#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "operator/base/random.h"
#include "operator/inplace/coordinator.h"
#include "operator/inplace/member.h"

namespace weft::inplace {

// A gang of parents on a virtual clock, with links that delay, break and go silent, and trainers
// that end late, fail or ignore SIGTERM. It keeps the laws: `violations` names what broke them.
class GangWorld {
 public:
  struct Process {
    Revision revision = 0;
    bool stubborn = false;     // ignores SIGTERM
    std::optional<Time> ends;  // after a signal
  };
  // A parent on a node, with its trainer.
  struct Parent {
    explicit Parent(const MemberOptions& options, Time now) : member(options, now) {
      if (options.rank == 0)
        coordinator.emplace(CoordinatorOptions{options.workers, options.birth, Time{15'000}});
    }
    Member member;
    std::optional<Coordinator> coordinator;
    std::optional<Process> process;
    LinkId link = kOwnLink;  // of its member; 0: none
    Time connect_at{0};
    bool paused = false;
    std::optional<Leave> left;
  };

  GangWorld(MemberOptions options, std::uint64_t seed)
      : options_(options), random_(seed), parents_(static_cast<std::size_t>(options.workers)) {
    for (int rank = 0; rank < options.workers; ++rank) Replace(rank, options.birth);
  }

  Time now() const { return now_; }
  Parent* At(int rank) { return parents_[static_cast<std::size_t>(rank)].get(); }
  int Below(int count) {
    return static_cast<int>(random_.Below(static_cast<std::uint64_t>(count)));
  }
  bool OneIn(int count) { return Below(count) == 0; }

  // The node is lost with all its processes; `silently`: no peer is told.
  void Lose(int rank, bool silently) {
    Break(rank, silently);
    parents_[static_cast<std::size_t>(rank)].reset();
  }
  // A new parent on another node, after Lose or an end.
  void Replace(int rank, Revision birth) {
    MemberOptions options = options_;
    options.rank = rank;
    options.birth = birth;
    options.instance = random_.Next();
    parents_[static_cast<std::size_t>(rank)] = std::make_unique<Parent>(options, now_);
  }
  // The connection breaks; silently: nothing arrives any more, and neither side is told.
  void Break(int rank, bool silently) {
    for (auto& [id, link] : links_) {
      if (rank != 0 && link.rank != rank) continue;
      link.dead = true;
      if (!silently) link.closes = now_ + Time{Below(300)};
    }
  }
  void Fail(int rank, int code) {
    Parent* parent = At(rank);
    if (parent == nullptr || !parent->process || parent->process->ends) return;
    parent->process.reset();
    parent->member.TrainerEnded(code, now_);
    Carry(rank);
  }

  void Run(Time span) {
    for (const Time end = now_ + span; now_ < end;) Step();
  }
  // All run at this revision, and nothing else runs.
  bool AllRunAt(Revision revision) {
    return std::all_of(parents_.begin(), parents_.end(), [&](const auto& parent) {
      return parent && parent->process && parent->process->revision == revision &&
             parent->member.State().phase == Phase::kRunning;
    });
  }
  std::string Describe();
  bool AllLeft() {
    return std::all_of(parents_.begin(), parents_.end(),
                       [](const auto& parent) { return !parent || parent->left; });
  }

  std::vector<std::string> violations;
  Time most_delay{200};
  int stubborn_one_in = 4;

 private:
  struct Link {
    int rank = 0;
    bool dead = false;
    std::optional<Time> closes;
    std::deque<std::pair<Time, Report>> up;
    std::deque<std::pair<Time, Message>> down;
    bool close_at_end = false;
  };

  void Step();
  void Connect(int rank);
  Time Arrival(Time after);
  void Deliver(LinkId id);
  void Hear(Parent& parent, const Report& report);
  void Hear(Parent& parent, const Order& order);
  void Hear(Parent& parent, Refusal refusal);
  void Hang(Parent& parent);
  void Carry(int rank);
  void Send(Parent& leader, const Outgoing& out);
  void Do(int rank, Parent& parent, const StartTrainer& start);
  void Do(int rank, Parent& parent, const SignalTrainer& signal);
  void Do(int rank, Parent& parent, const SendReport& send);
  void Do(int rank, Parent& parent, const Reconnect&);
  void Do(int rank, Parent& parent, const Leave& leave);
  void Violate(int rank, const StartTrainer& start, const std::string& what);

  const MemberOptions options_;
  SplitMix64 random_;
  Time now_{0};
  std::vector<std::unique_ptr<Parent>> parents_;
  std::map<LinkId, Link> links_;
  LinkId last_link_ = kOwnLink;
};

}  // namespace weft::inplace
