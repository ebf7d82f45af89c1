#include "operator/placement/traffic_tally.h"

#include <algorithm>

namespace weft::placement {

using fabric::Tier;
using traffic::GroupFamily;
using traffic::Pattern;

namespace {

// What one rank of the family sends in a step; the most, where ranks differ.
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
    : pair_cost_(pair_cost), seating_(seating), links_(seating.node_tier() + 2) {
  const auto weights = pair_cost.tier_weights();
  weight_.assign(weights.begin(), weights.end());
  weight_.back() = pair_cost.fabric().node_link().femtoseconds_per_byte;
  worker_of_rank_.resize(traffic.ranks);
  for (std::uint32_t r = 0, w = 0; r < traffic.ranks; ++w) {
    for (std::uint32_t k = 0; k < traffic.per_worker && r < traffic.ranks; ++k) {
      worker_of_rank_[r++] = w;
    }
  }
  sent_.resize(std::size_t{seating.workers()} * links_);
  for (AxisTally& axis : axes_) {
    axis.bytes.resize(links_);
    axis.spread.resize(seating.node_tier() + 1);
  }
  members_.resize(seating.node_tier() + 1);
  seen_in_.resize(seating.node_tier() + 1);
  for (Tier t = 0; t <= seating.node_tier(); ++t) {
    members_[t].resize(seating.domains(t).size());
    seen_in_[t].resize(seating.domains(t).size());
  }
  touched_.resize(seating.node_tier() + 1);
}

inline LinkIndex Tally::LinkOf(std::uint32_t a, std::uint32_t b) const {
  const Tier shared = pair_cost_.SharedTier(seating_.node(a), seating_.node(b));
  if (pair_cost_.hierarchical() || shared == seating_.node_tier()) return shared;
  const bool crossing =
      pair_cost_.CarryingTier(seating_.node(a), seating_.node(b)) == PairCost::kCrossingScaleUp;
  return crossing ? links_ - 1 : shared;
}

inline std::int64_t Tally::LinkWeight(LinkIndex link, std::uint32_t a, std::uint32_t b) const {
  if (pair_cost_.hierarchical()) return weight_[link];
  return pair_cost_.LinkWeight(seating_.node(a), seating_.node(b));
}

inline void Tally::SendOver(LinkIndex link, std::uint32_t from, std::uint32_t to, Int128 bytes) {
  axis_->bytes[link] += bytes;
  sent_[std::size_t{from} * links_ + link] += bytes;
  slowest_link_ = std::max(slowest_link_, LinkWeight(link, from, to));
}

inline void Tally::Send(std::uint32_t from, std::uint32_t to, Int128 bytes) {
  if (bytes != 0) SendOver(LinkOf(from, to), from, to, bytes);
}

void Tally::Add(const GroupFamily& family) {
  const std::int64_t bytes_per_gpu = BytesPerGpu(family);
  if (bytes_per_gpu == 0 || family.group_size < 2) return;
  axis_ = &axes_[static_cast<std::size_t>(family.axis)];
  axis_->sends = true;
  slowest_link_ = 0;
  batch_.groups = 0;
  batch_.workers.resize(family.group_size);
  for (std::size_t g = 0; g < family.groups(); ++g) {
    const auto group = family.group(g);
    const bool alike =
        batch_.groups > 0 && std::equal(group.begin(), group.end(), batch_.workers.begin(),
                                        [&](std::uint32_t rank, std::uint32_t worker) {
                                          return worker_of_rank_[rank] == worker;
                                        });
    if (!alike) {
      if (batch_.groups > 0) AddBatch(family);
      for (std::size_t k = 0; k < group.size(); ++k) {
        batch_.workers[k] = worker_of_rank_[group[k]];
      }
    }
    ++batch_.groups;
  }
  if (batch_.groups > 0) AddBatch(family);
  axis_->slowest = std::max(axis_->slowest, static_cast<Int128>(bytes_per_gpu) * slowest_link_);
}

void Tally::AddBatch(const GroupFamily& family) {
  const Int128 amount = static_cast<Int128>(family.amount) * batch_.groups;
  FindRuns();
  AddSpread();
  switch (family.pattern) {
    case Pattern::kRing:
      AddRing(amount);
      break;
    case Pattern::kNeighbours:
      AddNeighbours(family);
      break;
    case Pattern::kAllToAll:
      AddAllToAll(amount);
      break;
  }
  batch_.groups = 0;
}

void Tally::FindRuns() {
  const std::vector<std::uint32_t>& workers = batch_.workers;
  if (run_space_.size() < workers.size()) run_space_.resize(workers.size());
  std::size_t count = 0;
  for (std::size_t i = 0, end = 0; i < workers.size(); i = end) {
    for (end = i + 1; end < workers.size() && workers[end] == workers[i];) ++end;
    run_space_[count++] = {workers[i], static_cast<std::uint32_t>(end - i)};
  }
  runs_ = std::span(run_space_).first(count);
}

// Each rank of a run sends to the next inside the worker, the last to the next run.
void Tally::AddRing(Int128 amount) {
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const Run& run = runs_[i];
    if (run.ranks > 1) {
      SendOver(seating_.node_tier(), run.worker, run.worker, amount * (run.ranks - 1));
    }
    Send(run.worker, runs_[i + 1 == runs_.size() ? 0 : i + 1].worker, amount);
  }
}

void Tally::AddNeighbours(const GroupFamily& family) {
  const std::vector<std::uint32_t>& at = batch_.workers;
  const auto all = [&](std::int64_t bytes) { return static_cast<Int128>(bytes) * batch_.groups; };
  const std::size_t last = at.size() - 1;
  for (std::size_t k = 0; k < last; ++k) {
    Send(at[k], at[k + 1], all(k == 0 ? family.end_amount : family.amount));
    Send(at[k + 1], at[k], all(k + 1 == last ? family.end_amount : family.amount));
  }
  Send(at[last], at[0], all(family.wrap_amount));
  Send(at[0], at[last], all(family.wrap_amount));
}

void Tally::AddAllToAll(Int128 amount) {
  if (pair_cost_.hierarchical()) {
    AddAllToAllByTier(amount);
    return;
  }
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    for (std::size_t j = 0; j < runs_.size(); ++j) {
      const std::uint64_t pairs =
          std::uint64_t{runs_[i].ranks} * (runs_[j].ranks - (i == j ? 1 : 0));
      Send(runs_[i].worker, runs_[j].worker, amount * pairs);
    }
  }
}

// Peers whose narrowest shared tier with a member is t: those in its domain of t, less those in its
// domain of the next narrower tier. In its own node all but itself.
void Tally::AddAllToAllByTier(Int128 amount) {
  const Tier node_tier = seating_.node_tier();
  const auto group_size = static_cast<std::uint32_t>(batch_.workers.size());
  for (const Run& run : runs_) {
    for (Tier t = 1; t <= node_tier; ++t) members_[t][seating_.seat(run.worker, t)] += run.ranks;
  }
  for (const Run& run : runs_) {
    std::uint32_t narrower = 1;
    for (Tier t = node_tier + 1; t-- > 0;) {
      const std::uint32_t here = t == 0 ? group_size : members_[t][seating_.seat(run.worker, t)];
      const std::uint64_t pairs = std::uint64_t{run.ranks} * (here - narrower);
      narrower = here;
      if (pairs != 0) SendOver(t, run.worker, run.worker, amount * pairs);
    }
  }
  for (const Run& run : runs_) {
    for (Tier t = 1; t <= node_tier; ++t) members_[t][seating_.seat(run.worker, t)] = 0;
  }
}

// A domain that was seen for this batch lies in wider ones that were.
void Tally::AddSpread() {
  ++batch_number_;
  std::fill(touched_.begin(), touched_.end(), 0U);
  for (const Run& run : runs_) {
    for (Tier t = seating_.node_tier(); t-- > 1;) {
      std::uint32_t& seen = seen_in_[t][seating_.seat(run.worker, t)];
      if (seen == batch_number_) break;
      seen = batch_number_;
      ++touched_[t];
    }
  }
  for (Tier t = 1; t < touched_.size(); ++t) {
    axis_->spread[t] = std::max(axis_->spread[t], touched_[t]);
  }
}

// What a worker sends over the links of wider tiers leaves its domain.
std::vector<std::vector<Int128>> Tally::LeavingBytes(Tier last) const {
  std::vector<std::vector<Int128>> leaving(last + 1);
  for (Tier t = 1; t < leaving.size(); ++t) leaving[t].resize(seating_.domains(t).size());
  for (std::uint32_t w = 0; w < seating_.workers(); ++w) {
    Int128 wider = 0;
    for (Tier t = 1; t < leaving.size(); ++t) {
      wider += sent_[std::size_t{w} * links_ + t - 1];
      leaving[t][seating_.seat(w, t)] += wider;
    }
  }
  return leaving;
}

}  // namespace weft::placement
