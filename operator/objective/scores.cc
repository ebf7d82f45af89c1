#include "operator/objective/scores.h"

#include <algorithm>

#include "operator/base/check.h"
#include "operator/objective/seating.h"
#include "operator/objective/traffic_tally.h"

namespace weft::objective {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;

namespace {

constexpr double kFemtosecondsPerMillisecond = 1e12;

std::vector<Span> Spans(const fabric::Fabric& fabric, const Seating& seating) {
  std::vector<Span> spans;
  const auto used = [&](Tier t) { return static_cast<std::uint32_t>(seating.domains(t).size()); };
  for (Tier t{1}; t < seating.node_tier(); ++t) spans.push_back({fabric.tiers()[t].name, used(t)});
  for (const fabric::Plane& plane : fabric.planes()) {
    std::vector<DomainIndex> domains;
    for (DomainIndex n : seating.domains(seating.node_tier()))
      domains.push_back(plane.of_node[AsNode(n)]);
    spans.push_back({plane.name, CountDistinct(std::move(domains))});
  }
  spans.push_back({fabric.tiers().back().name, used(seating.node_tier())});
  return spans;
}

// Bytes by the name of the level that carries them, widest first, the node last. A nested scale-up
// network that is no faster, or not claimed, carries nothing: the bytes count for the level around
// it.
void AddFlows(const PairCost& pair_cost, traffic::Axis axis, const AxisTally& tally,
              Scores& scores) {
  const fabric::Fabric& fabric = pair_cost.fabric();
  const std::uint32_t node_tier = fabric.node_tier().Raw();
  const auto nested = fabric.nested_scale_up();
  std::vector<Int128> bytes = tally.bytes, crossed = tally.crossed;
  if (nested && pair_cost.TierWeight(*nested) == pair_cost.TierWeight(*nested - 1)) {
    for (std::vector<Int128>* sums : {&bytes, &crossed}) {
      (*sums)[nested->Raw() - 1] += (*sums)[nested->Raw()];
      (*sums)[nested->Raw()] = 0;
    }
  }
  const auto add = [&](std::size_t network) {
    if (bytes[network] == 0) return;
    const std::string level(pair_cost.networks()[network].name);
    scores.flows.push_back({axis, level, bytes[network], crossed[network]});
    if (network != node_tier) scores.cross_node_bytes += bytes[network];
  };
  for (std::size_t network = 0; network < bytes.size(); ++network) {
    if (network != node_tier) add(network);
  }
  add(node_tier);
}

// Neither is negative; a product past 2^127 - 1 saturates.
Int128 Product(Int128 bytes, std::int64_t factor) {
  constexpr Int128 kMax = ~(static_cast<Int128>(1) << 127);
  if (bytes > kSaturated && factor > 0 && bytes > kMax / factor) return kMax;
  return bytes * factor;
}

// Bytes out of one domain over what its accelerators can send: time = bytes x weight /
// accelerators.
struct Load {
  Tier tier{0};
  DomainIndex domain{0};
  Int128 bytes = 0;
  std::int64_t weight = 0;  // femtoseconds per byte of the next wider tier
  std::int64_t accelerators = 1;

  // Whether this load takes longer than `other`, compared exactly: whole femtoseconds first, then
  // the remainders.
  bool SlowerThan(const Load& other) const {
    const Int128 mine = Product(bytes, weight), theirs = Product(other.bytes, other.weight);
    if (mine / accelerators != theirs / other.accelerators) {
      return mine / accelerators > theirs / other.accelerators;
    }
    return (mine % accelerators) * other.accelerators >
           (theirs % other.accelerators) * accelerators;
  }
};

// The busiest domain of one tier. All domains of a tier have the same rate, so loads are compared
// by products.
std::optional<Load> BusiestOf(const PairCost& pair_cost, const Seating& seating, Tier tier,
                              const std::vector<Int128>& leaving) {
  std::optional<Load> busiest;
  for (std::size_t seat = 0; seat < leaving.size(); ++seat) {
    const DomainIndex domain = seating.domains(tier)[seat];
    if (leaving[seat] == 0) continue;
    const std::int64_t accelerators = pair_cost.fabric().AcceleratorsIn(tier, domain);
    if (accelerators == 0) continue;
    if (busiest) {
      const Int128 here = Product(leaving[seat], busiest->accelerators);
      const Int128 there = Product(busiest->bytes, accelerators);
      if (here < there || (here == there && domain > busiest->domain)) continue;
    }
    busiest = Load{tier, domain, leaving[seat], pair_cost.TierWeight(tier - 1), accelerators};
  }
  return busiest;
}

std::optional<Uplink> BusiestUplink(const PairCost& pair_cost, const Seating& seating,
                                    const fabric::ByTier<std::vector<Int128>>& leaving) {
  const fabric::Fabric& fabric = pair_cost.fabric();
  std::optional<Load> busiest;
  for (Tier t{1}; t < fabric.node_tier(); ++t) {
    const std::optional<Load> load = BusiestOf(pair_cost, seating, t, leaving[t]);
    if (load && (!busiest || load->SlowerThan(*busiest))) busiest = load;
  }
  if (!busiest) return std::nullopt;
  return Uplink{
      .level = fabric.tiers()[busiest->tier].name,
      .domain = fabric.domains(busiest->tier).names[busiest->domain],
      .bytes = busiest->bytes,
      .milliseconds = static_cast<double>(busiest->bytes) * static_cast<double>(busiest->weight) /
                      static_cast<double>(busiest->accelerators) / kFemtosecondsPerMillisecond};
}

}  // namespace

Scores Score(const PairCost& pair_cost, const traffic::Traffic& traffic, Nodes nodes) {
  const fabric::Fabric& fabric = pair_cost.fabric();
  const Seating seating(fabric, nodes);
  Scores scores;
  scores.spans = Spans(fabric, seating);
  if (!traffic.modelled) return scores;
  WEFT_CHECK(traffic.workers == nodes.size());

  const Tally tally(pair_cost, traffic, seating);
  double slowest = 0;
  for (int a = 0; a < traffic::kAxisCount; ++a) {
    const AxisTally& axis = tally.axis(a);
    if (!axis.sends) continue;
    AddFlows(pair_cost, static_cast<traffic::Axis>(a), axis, scores);
    for (Tier t{1}; t < fabric.node_tier(); ++t) {
      scores.spread.push_back(
          {static_cast<traffic::Axis>(a), fabric.tiers()[t].name, axis.spread[t]});
    }
    slowest += static_cast<double>(axis.slowest);
  }
  scores.communication_milliseconds = slowest / kFemtosecondsPerMillisecond;
  scores.busiest_uplink =
      BusiestUplink(pair_cost, seating, tally.LeavingBytes(fabric.node_tier() - 1));
  return scores;
}

}  // namespace weft::objective
