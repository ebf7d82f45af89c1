#include "operator/objective/traffic_tally.h"

#include <algorithm>

#include "operator/base/check.h"

namespace weft::objective {

using fabric::Tier;
using traffic::GroupFamily;
using traffic::Pattern;
using traffic::Seat;

namespace {

// The bytes that one rank of the family sends in a step; if ranks differ, the most.
std::int64_t BytesPerGpu(const GroupFamily& family) {
  switch (family.pattern) {
    case Pattern::kRing:
      return family.amount;
    case Pattern::kNeighbours: {
      const std::int64_t end = SaturatingAdd(family.end_amount, family.wrap_amount);
      return family.group_size > 2 ? std::max(end, SaturatingAdd(family.amount, family.amount))
                                   : end;
    }
    case Pattern::kAllToAll:
      return SaturatingMultiply(family.amount, std::int64_t{family.group_size} - 1);
  }
  return 0;
}

}  // namespace

Tally::Tally(const PairCost& pair_cost, const traffic::Traffic& traffic, const Seating& seating)
    : pair_cost_(pair_cost),
      seating_(seating),
      links_(static_cast<LinkIndex>(pair_cost.networks().size())) {
  const auto weights = pair_cost.tier_weights();
  weight_.assign(weights.begin(), weights.end());
  weight_.back() = pair_cost.fabric().node_link().femtoseconds_per_byte;
  FindLatencies();
  sent_.resize(std::size_t{seating.workers()} * links_);
  for (AxisTally& axis : axes_) {
    axis.bytes.resize(links_);
    axis.crossed.resize(links_);
    axis.spread.resize(seating.node_tier() + 1);
  }
  members_.resize(seating.node_tier() + 1);
  seen_in_.resize(seating.node_tier() + 1);
  for (Tier t{0}; t <= seating.node_tier(); ++t) {
    members_[t].resize(seating.domains(t).size());
    seen_in_[t].resize(seating.domains(t).size());
  }
  touched_.resize(seating.node_tier() + 1);
  WEFT_CHECK(traffic.seated.size() == traffic.families.size());
  for (std::size_t f = 0; f < traffic.families.size(); ++f) {
    Add(traffic.families[f], traffic.seated[f]);
  }
}

void Tally::FindLatencies() {
  const fabric::Fabric& fabric = pair_cost_.fabric();
  const auto femtoseconds = [](const fabric::Link& link) {
    constexpr std::int64_t kPerNanosecond = 1'000'000;
    return link.latency_nanoseconds * kPerNanosecond;
  };
  for (const PairCost::Network& network : pair_cost_.networks()) {
    latency_.push_back(femtoseconds(*network.link));
  }
  // If a nested scale-up network carries nothing, the level around it carries the bytes.
  const auto nested = fabric.nested_scale_up();
  if (nested && pair_cost_.TierWeight(*nested) == pair_cost_.TierWeight(*nested - 1)) {
    latency_[nested->Raw()] = latency_[nested->Raw() - 1];
  }
}

inline LinkIndex Tally::LinkOf(WorkerIndex a, WorkerIndex b) const {
  const Tier shared = pair_cost_.SharedTier(seating_.node(a), seating_.node(b));
  if (pair_cost_.hierarchical() || shared == seating_.node_tier()) return shared.Raw();
  return std::max(shared.Raw(), pair_cost_.CarryingNetwork(seating_.node(a), seating_.node(b)));
}

inline std::int64_t Tally::LinkWeight(LinkIndex link, WorkerIndex a, WorkerIndex b) const {
  if (pair_cost_.hierarchical()) return weight_[link];
  return pair_cost_.LinkWeight(seating_.node(a), seating_.node(b));
}

inline void Tally::SendOver(LinkIndex link, WorkerIndex from, WorkerIndex to, Int128 bytes) {
  WEFT_DCHECK(link < links_ && from.Raw() < seating_.workers() && to.Raw() < seating_.workers());
  const auto crossed = link <= seating_.node_tier().Raw()
                           ? 1
                           : pair_cost_.LinksCrossed(link, seating_.node(from), seating_.node(to));
  axis_->bytes[link] += bytes;
  axis_->crossed[link] += bytes * crossed;
  sent_[std::size_t{from.Raw()} * links_ + link] += bytes;
  slowest_link_ = std::max(slowest_link_, LinkWeight(link, from, to));
  longest_latency_ = std::max(longest_latency_, latency_[link] * crossed);
}

inline void Tally::Send(WorkerIndex from, WorkerIndex to, Int128 bytes) {
  if (bytes != 0) SendOver(LinkOf(from, to), from, to, bytes);
}

void Tally::Add(const GroupFamily& family, const traffic::SeatedGroups& seated) {
  const std::int64_t bytes_per_gpu = BytesPerGpu(family);
  if (bytes_per_gpu == 0 || family.group_size < 2) return;
  axis_ = &axes_[static_cast<std::size_t>(family.axis)];
  axis_->sends = true;
  slowest_link_ = 0;
  longest_latency_ = 0;
  for (std::size_t b = 0; b < seated.batches(); ++b) {
    const Batch batch = {seated.seats(b), family.group_size, seated.groups(b)};
    const Int128 amount = family.amount * batch.groups;
    AddSpread(batch);
    switch (family.pattern) {
      case Pattern::kRing:
        AddRing(batch, amount);
        break;
      case Pattern::kNeighbours:
        AddNeighbours(batch, family);
        break;
      case Pattern::kAllToAll:
        AddAllToAll(batch, amount);
        break;
    }
  }
  const Int128 sending = static_cast<Int128>(bytes_per_gpu) * slowest_link_;
  const Int128 waiting = static_cast<Int128>(family.messages) * longest_latency_;
  axis_->slowest = std::max(axis_->slowest, sending + waiting);
}

// Each rank of a seat sends to the next inside the worker, the last to the next seat.
void Tally::AddRing(const Batch& batch, Int128 amount) {
  const auto seats = batch.seats;
  for (std::size_t i = 0; i < seats.size(); ++i) {
    const Seat& seat = seats[i];
    if (seat.ranks > 1) {
      SendOver(seating_.node_tier().Raw(), seat.worker, seat.worker, amount * (seat.ranks - 1));
    }
    Send(seat.worker, seats[i + 1 == seats.size() ? 0 : i + 1].worker, amount);
  }
}

// Stages k and k + 1 send over one boundary in both directions; so do the first and the last stage.
void Tally::AddNeighbours(const Batch& batch, const GroupFamily& family) {
  WEFT_CHECK(batch.ranks > 1);  // Add skips smaller groups
  const std::uint32_t last = batch.ranks - 1;
  const auto over_boundary = [&](WorkerIndex from, WorkerIndex to, std::uint32_t k) {
    Send(from, to, batch.groups * (k == 0 ? family.end_amount : family.amount));
    Send(to, from, batch.groups * (k + 1 == last ? family.end_amount : family.amount));
  };
  const auto seats = batch.seats;
  std::uint32_t k = 0;
  for (std::size_t i = 0; i < seats.size(); ++i) {
    const WorkerIndex worker = seats[i].worker;
    for (std::uint32_t rank = 1; rank < seats[i].ranks; ++rank) over_boundary(worker, worker, k++);
    if (i + 1 < seats.size()) over_boundary(worker, seats[i + 1].worker, k++);
  }
  WEFT_CHECK(k == last);  // the seats hold the ranks of one group
  const WorkerIndex first = seats.front().worker, end = seats.back().worker;
  Send(end, first, batch.groups * family.wrap_amount);
  Send(first, end, batch.groups * family.wrap_amount);
}

void Tally::AddAllToAll(const Batch& batch, Int128 amount) {
  if (pair_cost_.hierarchical()) {
    AddAllToAllByTier(batch, amount);
    return;
  }
  for (const Seat& from : batch.seats) {
    for (const Seat& to : batch.seats) {
      WEFT_DCHECK(to.ranks > 0);
      const std::uint64_t pairs = std::uint64_t{from.ranks} * (to.ranks - (&from == &to ? 1 : 0));
      Send(from.worker, to.worker, amount * pairs);
    }
  }
}

// Peers whose narrowest shared tier with a member is t: those in its domain of t, minus those in
// its domain of the next narrower tier. In its own node, these are all ranks but itself.
void Tally::AddAllToAllByTier(const Batch& batch, Int128 amount) {
  const Tier node_tier = seating_.node_tier();
  for (const Seat& seat : batch.seats) {
    for (Tier t{1}; t <= node_tier; ++t) members_[t][seating_.seat(seat.worker, t)] += seat.ranks;
  }
  for (const Seat& seat : batch.seats) {
    std::uint32_t narrower = 1;
    for (Tier t = node_tier + 1; t-- > Tier{0};) {
      const std::uint32_t here =
          t == fabric::kOutside ? batch.ranks : members_[t][seating_.seat(seat.worker, t)];
      WEFT_DCHECK(here >= narrower);  // a wider tier has no fewer members
      const std::uint64_t pairs = std::uint64_t{seat.ranks} * (here - narrower);
      narrower = here;
      if (pairs != 0) SendOver(t.Raw(), seat.worker, seat.worker, amount * pairs);
    }
  }
  for (const Seat& seat : batch.seats) {
    for (Tier t{1}; t <= node_tier; ++t) members_[t][seating_.seat(seat.worker, t)] = 0;
  }
}

// If a domain was seen for this batch, the wider domains around it were seen too.
void Tally::AddSpread(const Batch& batch) {
  ++batch_number_;
  std::fill(touched_.begin(), touched_.end(), 0U);
  for (const Seat& seat : batch.seats) {
    for (Tier t = seating_.node_tier(); t-- > Tier{1};) {
      std::uint32_t& seen = seen_in_[t][seating_.seat(seat.worker, t)];
      if (seen == batch_number_) break;
      seen = batch_number_;
      ++touched_[t];
    }
  }
  for (Tier t{1}; t < touched_.EndIndex(); ++t) {
    axis_->spread[t] = std::max(axis_->spread[t], touched_[t]);
  }
}

// What a worker sends over the links of wider tiers leaves its domain.
fabric::ByTier<std::vector<Int128>> Tally::LeavingBytes(Tier last) const {
  fabric::ByTier<std::vector<Int128>> leaving(last + 1);
  for (Tier t{1}; t < leaving.EndIndex(); ++t) leaving[t].resize(seating_.domains(t).size());
  for (const WorkerIndex w : Range<WorkerIndex>(seating_.workers())) {
    Int128 wider = 0;
    for (Tier t{1}; t < leaving.EndIndex(); ++t) {
      wider += sent_[std::size_t{w.Raw()} * links_ + t.Raw() - 1];
      leaving[t][seating_.seat(w, t)] += wider;
    }
  }
  return leaving;
}

}  // namespace weft::objective
