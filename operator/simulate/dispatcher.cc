#include "operator/simulate/dispatcher.h"

#include <algorithm>
#include <utility>

#include "operator/plan/outlook.h"

namespace weft::simulate {

using fabric::NodeIndex;

Dispatcher::Dispatcher(const Scenario& scenario, const DispatchRules& rules)
    : scenario_(scenario),
      rules_(rules),
      placer_(rules.policy, rules.seed),
      claims_(scenario.on->claims),
      queue_(scenario, rules.order),
      askers_(scenario.shapes.size()),
      rooms_(scenario, claims_),
      waiting_(scenario.jobs.size(), 0),
      nodes_(scenario.jobs.size()),
      started_at_(scenario.jobs.size(), 0),
      patient_since_(scenario.jobs.size(), 0),
      held_(scenario.shapes.size(), 0) {
  for (std::size_t s = 0; s < askers_.size(); ++s) {
    const Shape& shape = scenario.shapes[s];
    Asker& asker = askers_[s];
    asker.meta.key = shape.workload.meta->key;
    asker.workload = shape.workload;
    asker.workload.meta = &asker.meta;
    asker.request = shape.problem.request;
    asker.graph = &*shape.graph;
    asker.named = shape.workload.pod.claims_compute_domain;
    ever_.push_back(
        rules.policy == Policy::kWeft ||
                Placer(rules.policy, rules.seed).Place(claims_, asker.request, *asker.graph, true)
            ? 1
            : 0);
  }
}

Dispatcher::Asker& Dispatcher::Ask(JobIndex job) {
  Asker& asker = askers_[ShapeOf(job)];
  if (!asker.named) return asker;
  asker.meta.key = {"", scenario_.jobs[job].name};
  asker.request.job = api::Show(asker.meta.key);
  return asker;
}

std::optional<Dispatcher::Nodes> Dispatcher::Place(JobIndex job, const fabric::Claims& claims) {
  Asker& asker = Ask(job);
  const auto before = previous_.find(job);
  if (before == previous_.end()) return placer_.Place(claims, asker.request, *asker.graph);
  asker.request.previous_nodes = before->second;
  auto nodes = placer_.Place(claims, asker.request, *asker.graph);
  asker.request.previous_nodes.clear();
  return nodes;
}

void Dispatcher::Arrive(JobIndex job, Nodes previous) {
  waiting_[job] = 1;
  if (!previous.empty()) previous_[job] = std::move(previous);
  queue_.Push(job);
  changed_ = changed_ || !queue_.closed(ShapeOf(job));
}

void Dispatcher::SetPatient(JobIndex job, Micros now) {
  patient_since_[job] = now;
  const Turn turn = queue_.TurnOf(job);
  queue_.SetPatient(job);
  // A first reservation, or one of a job behind the present one, lets no other job start.
  changed_ = changed_ || (kept_ && turn < queue_.TurnOf(kept_->job));
}

void Dispatcher::UpdateRooms(std::span<const NodeIndex> nodes) {
  for (const NodeIndex node : nodes) rooms_.Update(claims_, node);
}

void Dispatcher::Release(JobIndex job, Micros now) {
  const Asker& asker = Ask(job);
  cluster::RemoveClaims(asker.workload, nodes_[job], claims_);
  if (kept_ && kept_->less) cluster::RemoveClaims(asker.workload, nodes_[job], *kept_->less);
  NoteRelease(job, now);
  UpdateRooms(nodes_[job]);
  nodes_[job].clear();
  nodes_[job].shrink_to_fit();
  holders_.erase(job);
  running_.erase(job);
  released_ = true;
}

void Dispatcher::CloseNode(NodeIndex node) {
  claims_.Add(node, scenario_.on->fabric->node(node).allocatable);
  kept_.reset();
  rooms_.Update(claims_, node);
  changed_ = true;
}

void Dispatcher::OpenNode(NodeIndex node) {
  claims_.Remove(node, scenario_.on->fabric->node(node).allocatable);
  kept_.reset();
  rooms_.Update(claims_, node);
  released_ = true;
}

void Dispatcher::Start(JobIndex job, Nodes nodes) {
  const Asker& asker = Ask(job);
  cluster::AddClaims(asker.workload, nodes, claims_);
  if (kept_ && kept_->less) cluster::AddClaims(asker.workload, nodes, *kept_->less);
  UpdateRooms(nodes);
  if (asker.named) {
    cluster::Holder& holder = holders_[job];
    for (const NodeIndex node : nodes) {
      holder.holdings.push_back({node, &asker.workload.pod.requests, nullptr,
                                 api::Show(asker.meta.key), std::nullopt,
                                 asker.workload.neighbour});
    }
  }
  queue_.Erase(job);
  previous_.erase(job);
  waiting_[job] = 0;
  nodes_[job] = std::move(nodes);
  started_at_[job] = now_;
  running_.insert(job);
  NoteStart(job);
  started_.push_back(job);
}

std::span<const JobIndex> Dispatcher::Pass(Micros now) {
  started_.clear();
  if (!released_ && !changed_) return started_;
  now_ = now;
  if (released_) queue_.OpenAll();
  released_ = changed_ = in_force_ = seated_ = false;
  no_reservation_up_to_.reset();
  std::fill(held_.begin(), held_.end(), 0);
  if (rules_.backfill == Backfill::kNone) {
    PassInOrder();
  } else {
    PassAround();
  }
  return started_;
}

void Dispatcher::PassInOrder() {
  while (const auto front = queue_.Front()) {
    const std::uint32_t shape = ShapeOf(front->job);
    if (queue_.closed(shape)) return;
    const bool room = rooms_.total(shape) >= askers_[shape].request.workers;
    auto nodes = room ? Place(front->job, claims_) : std::nullopt;
    if (!nodes) return queue_.Close(shape);
    Start(front->job, *std::move(nodes));
  }
}

void Dispatcher::PassAround() {
  Next next;
  for (const std::uint32_t shape : queue_.open()) {
    next.insert({*queue_.of_shape(shape).begin(), shape});
  }
  while (!next.empty()) {
    const auto [turn, shape] = *next.begin();
    next.erase(next.begin());
    Try(turn, shape, next);
  }
}

void Dispatcher::Try(const Turn& turn, std::uint32_t shape, Next& next) {
  if (rooms_.total(shape) < askers_[shape].request.workers) return queue_.Close(shape);
  ReserveBefore(turn);
  while (in_force_ && !LeavesRoomFor(turn.job)) {
    if (!SeatReservation()) {
      ReserveBefore(turn);
      continue;
    }
    if (!TryBesideReservation(turn, shape)) held_[shape] = 1;
    return PushNext(turn, shape, next);
  }
  auto nodes = Place(turn.job, claims_);
  if (!nodes) return queue_.Close(shape);
  Start(turn.job, *std::move(nodes));
  PushNext(turn, shape, next);
}

bool Dispatcher::TryBesideReservation(const Turn& turn, std::uint32_t shape) {
  std::uint64_t room = rooms_.total(shape);
  std::vector<NodeIndex> kept = kept_->reservation.nodes.Items();
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  for (const NodeIndex node : kept) {
    room -= rooms_.On(shape, claims_, node);
    room += rooms_.On(shape, *kept_->less, node);
  }
  if (room < askers_[shape].request.workers) return false;
  auto nodes = Place(turn.job, *kept_->less);
  if (!nodes) return false;
  Start(turn.job, *std::move(nodes));
  return true;
}

// The next job of the shape whose answer may be another one.
void Dispatcher::PushNext(const Turn& turn, std::uint32_t shape, Next& next) const {
  if (held_[shape] != 0) {
    const auto within = kept_->reservation.within_seconds;
    const auto shorter = within ? queue_.NextShorter(shape, turn, *within) : std::nullopt;
    if (shorter) next.insert({*shorter, shape});
    return;
  }
  const auto& waiting = queue_.of_shape(shape);
  const auto after = waiting.upper_bound(turn);
  if (after != waiting.end()) next.insert({*after, shape});
}

bool Dispatcher::LeavesRoomFor(JobIndex job) const {
  const auto& within = kept_->reservation.within_seconds;
  const auto& expected = scenario_.jobs[job].expected_seconds;
  return within && expected && *expected <= *within;
}

// The patient jobs ahead of `turn` were refused: the first of them gets a reservation.
void Dispatcher::ReserveBefore(const Turn& turn) {
  if (rules_.backfill != Backfill::kReserve) return;
  while (!in_force_) {
    const auto& patient = queue_.patient();
    const auto first =
        no_reservation_up_to_ ? patient.upper_bound(*no_reservation_up_to_) : patient.begin();
    if (first == patient.end() || !(*first < turn)) return;
    ReserveFor(first->job);
  }
}

// A start that ends before the reservation begins changes neither its time nor its nodes. Another
// one behind it in the queue leaves its nodes alone: its time stays, but other nodes may be better
// now. One ahead of it may use its nodes. If the time is unknown, the nodes are those of the empty
// fabric.
void Dispatcher::NoteStart(JobIndex job) {
  if (!kept_ || !kept_->until) return;
  const auto& expected = scenario_.jobs[job].expected_seconds;
  if (expected && now_ + *expected * kSecond <= *kept_->until) return;
  kept_->nodes_hold = false;
  kept_->time_holds = kept_->time_holds && in_force_;
}

// The end of a job that was expected at this time changes nothing about the time after it.
void Dispatcher::NoteRelease(JobIndex job, Micros now) {
  if (!kept_) return;
  const auto& expected = scenario_.jobs[job].expected_seconds;
  const bool on_time = expected && started_at_[job] + *expected * kSecond == now;
  if (!on_time || !kept_->until) kept_->time_holds = kept_->nodes_hold = false;
}

// The job that would have one has none in this pass.
void Dispatcher::NoReservation() {
  no_reservation_up_to_ = queue_.TurnOf(kept_->job);
  in_force_ = false;
  kept_.reset();
}

void Dispatcher::ReserveFor(JobIndex job) {
  const bool same = kept_ && kept_->job == job && (!kept_->until || *kept_->until >= now_);
  if (!same || !kept_->time_holds) {
    const Asker& asker = Ask(job);
    const auto fits = [&](const fabric::Claims& claims) {
      return placer_.Fits(claims, asker.request, *asker.graph);
    };
    kept_ = Kept{job, {}, {}, {}};
    kept_->reservation.within_seconds = plan::WhenItFits(claims_, fits, Endings()).within_seconds;
    kept_->until = TimeOf(kept_->reservation.within_seconds);
  }
  if (!kept_->until && plan::TurnLeft((now_ - patient_since_[job]) / kSecond) == 0) {
    return NoReservation();
  }
  in_force_ = true;
  if (kept_->until) kept_->reservation.within_seconds = (*kept_->until - now_) / kSecond;
}

// Chooses the nodes of the reservation, once in a pass, if they are not known. Returns false if
// there are none: then the job has no reservation in this pass.
//
// They are chosen only when a job asks that does not end before. The jobs that have started since
// the time was computed do, so they do not matter.
bool Dispatcher::SeatReservation() {
  if (seated_ || kept_->nodes_hold) {
    seated_ = true;
    return true;
  }
  const Asker& asker = Ask(kept_->job);
  const auto choose = [&](const fabric::Claims& claims, bool empty) {
    return placer_.Reserve(claims, asker.request, *asker.graph, empty);
  };
  plan::FitTime fit_time;
  fit_time.within_seconds = kept_->reservation.within_seconds;
  auto reservation = plan::Reserve(claims_, asker.workload, choose, fit_time, Endings());
  if (!reservation) {
    NoReservation();
    return false;
  }
  kept_->reservation = *std::move(reservation);
  kept_->less = claims_;
  cluster::AddClaims(asker.workload, kept_->reservation.nodes, *kept_->less);
  kept_->nodes_hold = true;
  seated_ = true;
  return true;
}

// When the last of the jobs ends that the fit time counts on.
std::optional<Micros> Dispatcher::TimeOf(std::optional<std::int64_t> within_seconds) const {
  if (!within_seconds) return std::nullopt;
  Micros last = now_;
  for (const JobIndex job : running_) {
    const auto& expected = scenario_.jobs[job].expected_seconds;
    if (!expected) continue;
    const Micros end = started_at_[job] + *expected * kSecond;
    if ((end - now_) / kSecond <= *within_seconds) last = std::max(last, end);
  }
  return last;
}

std::vector<plan::Ending> Dispatcher::Endings() const {
  std::vector<plan::Ending> endings;
  for (const JobIndex job : running_) {
    const auto& expected = scenario_.jobs[job].expected_seconds;
    if (!expected) continue;
    const Micros end = started_at_[job] + *expected * kSecond;
    plan::Ending ending;  // without a name, which only texts need
    ending.seconds = std::max<Micros>(0, end - now_) / kSecond;
    if (const auto named = holders_.find(job); named != holders_.end()) {
      ending.holder = &named->second;
    } else {
      ending.workload = &askers_[ShapeOf(job)].workload;
      ending.nodes = &nodes_[job];
    }
    endings.push_back(std::move(ending));
  }
  return endings;
}

}  // namespace weft::simulate
