#include "operator/search/open_board.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "operator/base/check.h"
#include "operator/objective/ring_rate.h"
#include "operator/objective/wide_bytes.h"
#include "operator/search/adjacency.h"

namespace weft::search {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;
using objective::kUnplaced;
using objective::Nodes;

namespace {

Int128 Product(std::int64_t bytes, std::int64_t weight) { return Int128{bytes} * weight; }

}  // namespace

OpenBoard::OpenBoard(const objective::Instance& instance, Nodes nodes,
                     fabric::ByNode<std::uint32_t> free)
    : instance_(instance),
      sets_(instance, nodes),
      fixed_(nodes.begin(), nodes.end()),
      free_(std::move(free)),
      load_(free_.EndIndex(), 0U) {
  WEFT_CHECK(free_.size() == instance.fabric().node_count());
  seats_.resize(open());
  nodes_.assign(open(), kUnplaced);
  in_joint_.assign(sets_.joints().size(), 0);
  joint_domain_.resize(sets_.joints().size());
  if (!sets_.feasible()) return;
  Count(nodes);
  BuildTraffic();
  BuildWide();
  if (const auto ring = objective::RingPercent(instance, nodes)) {
    ring_ = true;
    least_ring_ = *ring;
  }
}

// Rooms and the domains in use, then the places.
void OpenBoard::Count(Nodes nodes) {
  const fabric::Fabric& fabric = instance_.fabric();
  const Tier tiers = fabric.node_tier() + 1;
  room_.resize(tiers);
  used_.resize(tiers);
  broken_.assign(tiers, 0U);
  slots_.assign(tiers, 0U);
  for (Tier t{0}; t < tiers; ++t) {
    const DomainIndex stop = fabric.domains(t).EndIndex();
    room_[t].assign(stop, 0U);
    used_[t].assign(stop, 0U);
    const auto& of_node = fabric.domains(t).of_node;
    for (const NodeIndex n : free_.Indices()) room_[t][of_node[n]] += free_[n];
  }
  std::vector<std::uint8_t> taken(free_.size(), 0);
  for (const WorkerIndex w : nodes.Indices()) {
    if (nodes[w] == kUnplaced) continue;
    taken[nodes[w].Raw()] = 1;
    Use(nodes[w], true);
  }
  BuildPlaces(taken);
}

// `taken`: by node, whether a fixed worker is there. Such a node, and one of the last attempt, is a
// place of its own.
void OpenBoard::BuildPlaces(const std::vector<std::uint8_t>& taken) {
  const fabric::Fabric& fabric = instance_.fabric();
  const Tier narrow = fabric.node_tier() - 1;
  const auto& of_node = fabric.domains(narrow).of_node;
  std::uint32_t most_free = 0;
  NodeRun all = open() == 0 ? NodeRun{} : sets_.allowed(OpenIndex{0});
  for (OpenIndex i{0}; i < EndIndex(); ++i) {
    all.begin = std::min(all.begin, sets_.allowed(i).begin);
    all.end = std::max(all.end, sets_.allowed(i).end);
  }
  using Key = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t, bool, std::uint32_t>;
  std::vector<std::pair<Key, NodeIndex>> keyed;
  const auto close = [&] {
    std::sort(keyed.begin(), keyed.end());
    for (std::size_t i = 0; i < keyed.size();) {
      place_begin_.push_back(static_cast<std::uint32_t>(place_nodes_.size()));
      std::size_t end = i;
      for (; end < keyed.size() && keyed[end].first == keyed[i].first; ++end) {
        if (end - i < open()) place_nodes_.push_back(keyed[end].second);
      }
      i = end;
    }
    keyed.clear();
  };
  for (NodeIndex n = all.begin; n < all.end; ++n) {
    if (n > all.begin && of_node[n] != of_node[n - 1]) close();
    if (free_[n] == 0) continue;
    most_free = std::max(most_free, free_[n]);
    const bool alone = taken[n.Raw()] != 0 || instance_.was_used(n);
    keyed.push_back(
        {{instance_.pair_cost().stand(n), instance_.slots()[n], free_[n],
          instance_.wholly_free(fabric.node_tier(), AsDomain(n)), alone ? n.Raw() + 1 : 0},
         n});
  }
  close();
  place_begin_.push_back(static_cast<std::uint32_t>(place_nodes_.size()));
  least_weight_ = most_free > 1 ? 0 : instance_.pair_cost().LeastWeight(narrow);
}

void OpenBoard::BuildTraffic() {
  partners_.resize(open());
  price_.assign(std::size_t{open()} * EndPlace().Raw(), 0);
  wide_tiers_ = instance_.pair_cost().free_levels();
  neighbours_.resize(open());
  std::vector<std::pair<NodeIndex, std::int64_t>> fixed;
  for (OpenIndex i{0}; i < EndIndex(); ++i) {
    std::vector<traffic::Neighbour> all = NeighboursOf(instance_.graph(), sets_.workers()[i.Raw()]);
    fixed.clear();
    for (const traffic::Neighbour& neighbour : all) {
      const NodeIndex at = fixed_[neighbour.worker];
      if (at != kUnplaced) {
        fixed.emplace_back(at, neighbour.bytes);
        continue;
      }
      const auto& workers = sets_.workers();
      const auto other = std::lower_bound(workers.begin(), workers.end(), neighbour.worker);
      partners_[i].push_back(
          {OpenIndex::Of(static_cast<std::size_t>(other - workers.begin())), neighbour.bytes});
    }
    BuildPrices(i, fixed);
    if (!wide_tiers_.empty()) neighbours_[i] = std::move(all);
  }
}

void OpenBoard::BuildPrices(OpenIndex open,
                            std::vector<std::pair<NodeIndex, std::int64_t>>& fixed) {
  std::sort(fixed.begin(), fixed.end());
  for (PlaceIndex p{0}; p < EndPlace(); ++p) {
    const NodeIndex node = place_nodes_[place_begin_[p]];
    Int128 sum = 0;
    for (const auto& [at, bytes] : fixed) {
      sum += Product(bytes, instance_.pair_cost().Weight(node, at));
    }
    price_[std::size_t{open.Raw()} * EndPlace().Raw() + p.Raw()] = sum;
  }
}

// The bytes between fixed workers that leave each free level, and all bytes.
void OpenBoard::BuildWide() {
  if (wide_tiers_.empty()) return;
  wide_.assign(wide_tiers_.size(), 0);
  for (const traffic::Edge& edge : instance_.graph().edges()) all_bytes_ += edge.bytes;
  for (const traffic::Clique& clique : instance_.graph().cliques()) {
    Int128 ranks = 0, squares = 0;
    for (const traffic::Seat& seat : clique.members) {
      ranks += seat.ranks;
      squares += Int128{seat.ranks} * seat.ranks;
    }
    all_bytes_ += (ranks * ranks - squares) / 2 * clique.bytes_per_rank_pair;
  }
  for (std::size_t l = 0; l < wide_tiers_.size(); ++l) {
    wide_[l] = objective::BytesLeaving(instance_, wide_tiers_[l], fixed_);
  }
}

void OpenBoard::AddSeats(OpenIndex open, PlaceIndex place, std::vector<OpenSeat>& seats) const {
  if (!Allows(open, place)) return;
  bool fresh = false;
  for (std::uint32_t i = place_begin_[place]; i < place_begin_[place + 1]; ++i) {
    const NodeIndex node = place_nodes_[i];
    if (load_[node] == 0) {
      if (fresh) continue;
      fresh = true;
    } else if (free_[node] == 0) {
      continue;
    }
    seats.push_back({node, place});
  }
}

// Places are in the order of their narrowest domains.
std::pair<PlaceIndex, PlaceIndex> OpenBoard::PlacesIn(const NodeRun& run) const {
  const fabric::TierDomains& narrow = instance_.fabric().domains(instance_.node_tier() - 1);
  const auto first = [&](DomainIndex domain) {
    const auto at = std::partition_point(
        place_begin_.begin(), place_begin_.end() - 1,
        [&](std::uint32_t begin) { return narrow.of_node[place_nodes_[begin]] < domain; });
    return PlaceIndex::Of(static_cast<std::size_t>(at - place_begin_.begin()));
  };
  if (run.empty()) return {PlaceIndex{0}, PlaceIndex{0}};
  return {first(narrow.of_node[run.begin]), first(narrow.of_node[run.end - 1] + 1)};
}

Int128 OpenBoard::Attach(OpenIndex open, const OpenSeat& seat) const {
  Int128 sum = Price(open, seat.place);
  for (const Partner& partner : partners_[open]) {
    if (nodes_[partner.open] == kUnplaced) continue;
    sum += Product(partner.bytes, instance_.pair_cost().Weight(seat.node, nodes_[partner.open]));
  }
  return sum;
}

bool OpenBoard::MayPut(OpenIndex open, const OpenSeat& seat) const {
  for (const std::uint32_t j : sets_.joints_of(open)) {
    const OpenSets::Joint& joint = sets_.joints()[j];
    const DomainIndex domain = instance_.fabric().domains(joint.tier).of_node[seat.node];
    if (in_joint_[j] > 0 && joint_domain_[j] != domain) return false;
    if (room_[joint.tier][domain] < joint.members.size() - in_joint_[j]) return false;
  }
  return true;
}

void OpenBoard::Put(OpenIndex open, const OpenSeat& seat) {
  WEFT_DCHECK(nodes_[open] == kUnplaced);
  WEFT_DCHECK(free_[seat.node] > 0);  // no more workers than slots
  cost_ += Attach(open, seat);
  if (!wide_.empty()) CountWide(open, seat.node, true);
  seats_[open] = seat;
  nodes_[open] = seat.node;
  --free_[seat.node];
  ++load_[seat.node];
  for (Tier t{0}; t < room_.EndIndex(); ++t) {
    --room_[t][instance_.fabric().domains(t).of_node[seat.node]];
  }
  for (const std::uint32_t j : sets_.joints_of(open)) {
    const OpenSets::Joint& joint = sets_.joints()[j];
    joint_domain_[j] = instance_.fabric().domains(joint.tier).of_node[seat.node];
    ++in_joint_[j];
  }
  Use(seat.node, true);
  const ByWorker<NodeIndex>& previous = instance_.request().previous_nodes;
  const WorkerIndex w = sets_.workers()[open.Raw()];
  moved_ += instance_.was_used(seat.node) ? 0 : 1;
  moved_from_own_ += w < previous.EndIndex() && previous[w] == seat.node ? 0 : 1;
}

void OpenBoard::Take(OpenIndex open) {
  const OpenSeat seat = seats_[open];
  WEFT_DCHECK(nodes_[open] != kUnplaced);
  nodes_[open] = kUnplaced;
  cost_ -= Attach(open, seat);
  if (!wide_.empty()) CountWide(open, seat.node, false);
  ++free_[seat.node];
  --load_[seat.node];
  for (Tier t{0}; t < room_.EndIndex(); ++t) {
    ++room_[t][instance_.fabric().domains(t).of_node[seat.node]];
  }
  for (const std::uint32_t j : sets_.joints_of(open)) --in_joint_[j];
  Use(seat.node, false);
  const ByWorker<NodeIndex>& previous = instance_.request().previous_nodes;
  const WorkerIndex w = sets_.workers()[open.Raw()];
  moved_ -= instance_.was_used(seat.node) ? 0 : 1;
  moved_from_own_ -= w < previous.EndIndex() && previous[w] == seat.node ? 0 : 1;
}

// A worker comes to the node, or leaves it.
void OpenBoard::Use(NodeIndex node, bool put) {
  for (Tier t{0}; t < used_.EndIndex(); ++t) {
    const DomainIndex domain = instance_.fabric().domains(t).of_node[node];
    std::uint32_t& used = used_[t][domain];
    const bool changes = put ? used++ == 0 : --used == 0;
    if (!changes) continue;
    const std::uint32_t broken = instance_.wholly_free(t, domain) ? 1 : 0;
    const std::uint64_t slots = instance_.SlotsIn(t, domain);
    broken_[t] = put ? broken_[t] + broken : broken_[t] - broken;
    slots_[t] = put ? slots_[t] + slots : slots_[t] - slots;
  }
}

void OpenBoard::CountWide(OpenIndex open, NodeIndex node, bool put) {
  for (const traffic::Neighbour& neighbour : neighbours_[open]) {
    NodeIndex at = fixed_[neighbour.worker];
    if (at == kUnplaced) {
      const auto& workers = sets_.workers();
      const auto other = std::lower_bound(workers.begin(), workers.end(), neighbour.worker);
      at = nodes_[OpenIndex::Of(static_cast<std::size_t>(other - workers.begin()))];
    }
    if (at == kUnplaced) continue;
    for (std::size_t l = 0; l < wide_.size(); ++l) {
      if (!objective::LeavesDomain(instance_.pair_cost(), wide_tiers_[l], node, at)) continue;
      wide_[l] += put ? neighbour.bytes : -neighbour.bytes;
    }
  }
}

void OpenBoard::ReadTies(std::vector<std::uint32_t>& ties) const {
  ties.clear();
  if (!instance_.request().previous_nodes.empty()) {
    ties.push_back(moved_);
    ties.push_back(moved_from_own_);
  }
  if (ring_) {
    const bool whole = std::find(nodes_.begin(), nodes_.end(), kUnplaced) == nodes_.end();
    ties.push_back(whole ? objective::RingPercent(instance_, Whole()).value_or(0) : least_ring_);
  }
  constexpr Int128 kMillion = 1'000'000;
  for (const Int128 leaving : wide_) {
    ties.push_back(all_bytes_ == 0 ? 0
                                   : static_cast<std::uint32_t>(
                                         (leaving * kMillion + all_bytes_ - 1) / all_bytes_));
  }
  for (Tier t{1}; t < broken_.EndIndex(); ++t) ties.push_back(broken_[t]);
  for (Tier t{1}; t < slots_.EndIndex(); ++t) {
    const std::uint64_t left = slots_[t] - std::min<std::uint64_t>(slots_[t], instance_.workers());
    ties.push_back(static_cast<std::uint32_t>(std::min<std::uint64_t>(left, ~0U)));
  }
}

ByWorker<NodeIndex> OpenBoard::Whole() const {
  ByWorker<NodeIndex> nodes = fixed_;
  for (OpenIndex i{0}; i < EndIndex(); ++i) nodes[sets_.workers()[i.Raw()]] = nodes_[i];
  return nodes;
}

}  // namespace weft::search
