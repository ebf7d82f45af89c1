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
  std::string Describe() {
    std::string text;
    for (int rank = 0; rank < options_.workers; ++rank) {
      Parent* parent = At(rank);
      text += "\nworker " + std::to_string(rank) + ": ";
      if (parent == nullptr) {
        text += "lost";
        continue;
      }
      const Report state = parent->member.State();
      text += std::string(NameOf(state.phase)) + " at " + std::to_string(state.at) + ", wants " +
              std::to_string(state.want) + ", born at " + std::to_string(state.birth) +
              (parent->member.in_contact() ? "" : ", out of contact") + ", missing " +
              std::to_string(parent->member.missing());
      if (parent->coordinator)
        text += ", coordinates " + std::to_string(parent->coordinator->target());
      if (parent->left) text += ", left: " + parent->left->reason;
    }
    return text;
  }
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

  void Step() {
    now_ += Time{20};
    for (int rank = 0; rank < options_.workers; ++rank) {
      Parent* parent = At(rank);
      if (parent == nullptr || parent->left || parent->paused) continue;
      if (parent->process && parent->process->ends && *parent->process->ends <= now_) {
        parent->process.reset();
        parent->member.TrainerGone(now_);
      }
      if (rank != 0 && parent->link == kOwnLink && parent->connect_at <= now_) Connect(rank);
      parent->member.Tick(now_);
      if (parent->coordinator) parent->coordinator->Tick(now_);
      Carry(rank);
    }
    for (auto link = links_.begin(); link != links_.end();) {
      const LinkId id = (link++)->first;
      Deliver(id);
    }
  }

  void Connect(int rank) {
    Parent* leader = At(0);
    At(rank)->connect_at = now_ + Time{500};
    if (leader == nullptr || leader->left || leader->paused) return;
    links_[++last_link_].rank = rank;
    At(rank)->link = last_link_;
    At(rank)->member.Connected(now_);
  }

  Time Arrival(Time after) {
    return std::max(after, now_ + Time{1 + Below(static_cast<int>(most_delay.count()))});
  }

  void Deliver(LinkId id) {
    Link& link = links_[id];
    Parent* member = At(link.rank);
    Parent* leader = At(0);
    if (!link.dead && leader != nullptr && !leader->left && !leader->paused) {
      while (!link.up.empty() && link.up.front().first <= now_) {
        leader->coordinator->Receive(id, link.up.front().second, now_);
        link.up.pop_front();
      }
      Carry(0);
    }
    const bool hears = member != nullptr && !member->left && !member->paused && member->link == id;
    while (!link.dead && hears && !link.down.empty() && link.down.front().first <= now_) {
      const Message message = link.down.front().second;
      link.down.pop_front();
      std::visit([&](const auto& one) { Hear(*member, one); }, message);
      Carry(link.rank);
    }
    const bool ended = link.close_at_end && link.down.empty();
    if (!ended && !(link.closes && *link.closes <= now_)) return;
    if (member != nullptr && member->link == id) Hang(*member);
    if (leader != nullptr) leader->coordinator->Closed(id);
    links_.erase(id);
  }

  void Hear(Parent&, const Report&) { violations.push_back("a member got a report"); }
  template <typename Said>
  void Hear(Parent& parent, const Said& said) {
    parent.member.Receive(said, now_);
  }

  void Hang(Parent& parent) {
    parent.link = kOwnLink;
    parent.connect_at = now_ + Time{500};
    parent.member.Disconnected();
  }

  // Carries out what the parent wants to be done.
  void Carry(int rank) {
    Parent* parent = At(rank);
    if (parent == nullptr || parent->left) return;
    for (bool more = true; more && !parent->left;) {
      more = false;
      for (const Action& action : parent->member.Take()) {
        std::visit([&](const auto& one) { Do(rank, *parent, one); }, action);
        more = true;
      }
      if (!parent->coordinator) continue;
      for (const Outgoing& out : parent->coordinator->Take()) {
        more = true;
        Send(*parent, out);
      }
    }
  }

  void Send(Parent& leader, const Outgoing& out) {
    if (out.link == kOwnLink) {
      if (leader.left) return;
      std::visit([&](const auto& one) { Hear(leader, one); }, out.message);
      return;
    }
    const auto link = links_.find(out.link);
    if (link == links_.end()) return;
    const auto& down = link->second.down;
    link->second.down.emplace_back(Arrival(down.empty() ? now_ : down.back().first), out.message);
    if (out.close) link->second.close_at_end = true;
  }

  void Do(int rank, Parent& parent, const StartTrainer& start) {
    for (int other = 0; other < options_.workers; ++other) {
      const Parent* peer = At(other);
      // A worker that is lost may be missed for a while; a process that lives never may.
      if (peer != nullptr && peer->process && peer->process->revision != start.revision) {
        Violate(rank, start, "meets revision " + std::to_string(peer->process->revision));
      }
    }
    if (parent.process) Violate(rank, start, "runs already");
    parent.process = Process{start.revision, OneIn(stubborn_one_in), std::nullopt};
  }
  void Do(int, Parent& parent, const SignalTrainer& signal) {
    if (!parent.process) {
      parent.member.TrainerGone(now_);
      return;
    }
    Process& process = *parent.process;
    if (!signal.kill && process.stubborn) return;
    const Time end = now_ + Time{signal.kill ? 20 + Below(100) : Below(5'000)};
    process.ends = process.ends ? std::min(*process.ends, end) : end;
  }
  void Do(int rank, Parent& parent, const SendReport& send) {
    if (rank == 0) {
      parent.coordinator->Receive(kOwnLink, send.report, now_);
    } else if (const auto link = links_.find(parent.link); link != links_.end()) {
      auto& up = link->second.up;
      up.emplace_back(Arrival(up.empty() ? now_ : up.back().first), send.report);
    }
  }
  void Do(int, Parent& parent, const Reconnect&) {
    if (const auto link = links_.find(parent.link); link != links_.end()) {
      link->second.closes = now_ + Time{Below(300)};
    }
    Hang(parent);
  }
  void Do(int rank, Parent& parent, const Leave& leave) {
    parent.process.reset();
    if (parent.coordinator) {
      parent.coordinator->LeaveGang(leave.code == 0);
      for (const Outgoing& out : parent.coordinator->Take()) {
        if (out.link != kOwnLink) Send(parent, out);
      }
    }
    parent.left = leave;
    for (auto& [id, link] : links_) {
      if (rank == 0 || link.rank == rank) link.close_at_end = true;
    }
  }
  void Violate(int rank, const StartTrainer& start, const std::string& what) {
    violations.push_back("worker " + std::to_string(rank) + " at revision " +
                         std::to_string(start.revision) + " " + what);
  }

  const MemberOptions options_;
  SplitMix64 random_;
  Time now_{0};
  std::vector<std::unique_ptr<Parent>> parents_;
  std::map<LinkId, Link> links_;
  LinkId last_link_ = kOwnLink;
};

}  // namespace weft::inplace
