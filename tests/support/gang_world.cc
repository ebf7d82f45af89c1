#include "tests/support/gang_world.h"

namespace weft::inplace {

std::string GangWorld::Describe() {
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

void GangWorld::Step() {
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

void GangWorld::Connect(int rank) {
  Parent* leader = At(0);
  At(rank)->connect_at = now_ + Time{500};
  if (leader == nullptr || leader->left || leader->paused) return;
  links_[++last_link_].rank = rank;
  At(rank)->link = last_link_;
  At(rank)->member.Connected(now_);
}

Time GangWorld::Arrival(Time after) {
  return std::max(after, now_ + Time{1 + Below(static_cast<int>(most_delay.count()))});
}

void GangWorld::Deliver(LinkId id) {
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

void GangWorld::Hear(Parent&, const Report&) { violations.push_back("a member got a report"); }
void GangWorld::Hear(Parent& parent, const Order& order) { parent.member.Receive(order, now_); }
void GangWorld::Hear(Parent& parent, Refusal refusal) { parent.member.Receive(refusal, now_); }

void GangWorld::Hang(Parent& parent) {
  parent.link = kOwnLink;
  parent.connect_at = now_ + Time{500};
  parent.member.Disconnected();
}

// Carries out what the parent wants to be done.
void GangWorld::Carry(int rank) {
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

void GangWorld::Send(Parent& leader, const Outgoing& out) {
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

void GangWorld::Do(int rank, Parent& parent, const StartTrainer& start) {
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
void GangWorld::Do(int, Parent& parent, const SignalTrainer& signal) {
  if (!parent.process) {
    parent.member.TrainerGone(now_);
    return;
  }
  Process& process = *parent.process;
  if (!signal.kill && process.stubborn) return;
  const Time end = now_ + Time{signal.kill ? 20 + Below(100) : Below(5'000)};
  process.ends = process.ends ? std::min(*process.ends, end) : end;
}
void GangWorld::Do(int rank, Parent& parent, const SendReport& send) {
  if (rank == 0) {
    parent.coordinator->Receive(kOwnLink, send.report, now_);
  } else if (const auto link = links_.find(parent.link); link != links_.end()) {
    auto& up = link->second.up;
    up.emplace_back(Arrival(up.empty() ? now_ : up.back().first), send.report);
  }
}
void GangWorld::Do(int, Parent& parent, const Reconnect&) {
  if (const auto link = links_.find(parent.link); link != links_.end()) {
    link->second.closes = now_ + Time{Below(300)};
  }
  Hang(parent);
}
void GangWorld::Do(int rank, Parent& parent, const Leave& leave) {
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
void GangWorld::Violate(int rank, const StartTrainer& start, const std::string& what) {
  violations.push_back("worker " + std::to_string(rank) + " at revision " +
                       std::to_string(start.revision) + " " + what);
}

}  // namespace weft::inplace
