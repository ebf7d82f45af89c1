#include "operator/objective/scores.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "gtest/gtest.h"
#include "operator/base/quantity.h"
#include "tests/support/fabric_builder.h"
#include "tests/support/nodes_of.h"
#include "tests/support/torus_shape.h"

namespace weft::objective {
namespace {

using fabric::NodeIndex;
using fabric::Tier;
using traffic::Axis;
using traffic::GroupFamily;
using traffic::Pattern;

constexpr double kFemtosecondsPerMillisecond = 1e12;

const char* Name(Axis axis) {
  constexpr std::array<const char*, traffic::kAxisCount> kNames = {
      "Tensor", "Context", "Data", "Pipeline", "Expert", "ExpertTensor", "Sharding"};
  return kNames[static_cast<std::size_t>(axis)];
}

std::string Femtoseconds(double milliseconds) {
  char text[64];
  std::snprintf(text, sizeof text, "%.6g fs", milliseconds * kFemtosecondsPerMillisecond);
  return text;
}

// One line per part of the scores.
std::string Show(const Scores& scores) {
  std::string text = "spans";
  for (const Span& span : scores.spans)
    text += " " + span.level + ":" + std::to_string(span.domains);
  text += "\nflows";
  for (const Flow& flow : scores.flows) {
    text += std::string(" ") + Name(flow.axis) + "@" + flow.level + ":" + FormatInt128(flow.bytes);
    if (flow.crossed != flow.bytes) text += "*" + FormatInt128(flow.crossed);
  }
  text += "\ncross " + FormatInt128(scores.cross_node_bytes);
  text += "\nuplink";
  if (scores.busiest_uplink) {
    const Uplink& uplink = *scores.busiest_uplink;
    text += " " + uplink.level + " " + uplink.domain + " " + FormatInt128(uplink.bytes) + " " +
            Femtoseconds(uplink.milliseconds);
  }
  text += "\nspread";
  for (const AxisSpread& spread : scores.spread) {
    text += std::string(" ") + Name(spread.axis) + "@" + spread.level + ":" +
            std::to_string(spread.domains);
  }
  return text + "\ntime " + Femtoseconds(scores.communication_milliseconds);
}

GroupFamily Family(Axis axis, Pattern pattern, std::uint32_t size,
                   const std::vector<std::uint32_t>& members) {
  GroupFamily family;
  family.axis = axis;
  family.pattern = pattern;
  family.group_size = size;
  family.members = {members.begin(), members.end()};
  return family;
}
GroupFamily Ring(Axis axis, std::uint32_t size, std::int64_t amount,
                 const std::vector<std::uint32_t>& members) {
  GroupFamily family = Family(axis, Pattern::kRing, size, members);
  family.amount = amount;
  return family;
}

struct Case {
  std::string name;
  testing::FabricShape shape;
  bool claims = false;
  ByWorker<NodeIndex> nodes;
  std::uint32_t per_worker = 2;
  std::vector<GroupFamily> families;
  std::string want;
};

class ScoreTest : public ::testing::TestWithParam<Case> {};

TEST_P(ScoreTest, IsAsComputedByHand) {
  const Case& c = GetParam();
  const testing::Cluster cluster = testing::MakeCluster(c.shape);
  traffic::Traffic traffic;
  traffic.workers = static_cast<std::uint32_t>(c.nodes.size());
  traffic.per_worker = c.per_worker;
  traffic.ranks = traffic.workers * c.per_worker;
  traffic.modelled = !c.families.empty();
  traffic.families = c.families;
  traffic::SeatGroups(traffic);
  EXPECT_EQ(Show(Score(PairCost(*cluster.fabric, c.claims), traffic, c.nodes)), c.want);
}

// Spine s0 with leaves l0 (nodes n0, n1 in v0) and l1 (n2, n3 in v1); weights: outside 80,000,
// spine 40,000, leaf 20,000, nvlink and node 1,111 femtoseconds per byte; 8 GPUs a node.
testing::FabricShape TwoLeaves() { return testing::Spines({{{{8, 8}}, {{8, 8}}}}); }

testing::FabricShape TwoLeavesUnclaimed() {
  testing::FabricShape shape = TwoLeaves();
  shape.scale_up_requires = fabric::ScaleUpRequires::kComputeDomain;
  return shape;
}

// n0 and n2 share a scale-up domain across the leaves.
testing::FabricShape CrossingLeaves() {
  testing::FabricShape shape = TwoLeaves();
  shape.nodes[0].scale_up = shape.nodes[2].scale_up = "x0";
  shape.nodes[1].scale_up = shape.nodes[3].scale_up = "x1";
  return shape;
}

GroupFamily Stages(std::uint32_t size, const std::vector<std::uint32_t>& members,
                   std::array<std::int64_t, 3> amount_end_wrap) {
  GroupFamily family = Family(Axis::kPipeline, Pattern::kNeighbours, size, members);
  family.amount = amount_end_wrap[0];
  family.end_amount = amount_end_wrap[1];
  family.wrap_amount = amount_end_wrap[2];
  return family;
}
GroupFamily AllToAll(std::uint32_t size, std::int64_t amount,
                     const std::vector<std::uint32_t>& members) {
  GroupFamily family = Family(Axis::kExpert, Pattern::kAllToAll, size, members);
  family.amount = amount;
  return family;
}

// Two leaves of one node of `accelerators`; a ring of two workers sends 2 x 10 between them.
Case TwoNodes(const char* name, int accelerators, const std::string& uplink) {
  return {name,
          testing::Spines({{{{accelerators}}, {{accelerators}}}}, true, accelerators),
          false,
          testing::WorkersOn({0, 1}),
          1,
          {Ring(Axis::kData, 2, 10, {0, 1})},
          "spans spine:1 leaf:2 nvlink:2 node:2\n"
          "flows Data@spine:20\n"
          "cross 20\n" +
              uplink +
              "\n"
              "spread Data@spine:1 Data@leaf:2 Data@nvlink:2\n"
              "time 400000 fs"};
}

INSTANTIATE_TEST_SUITE_P(
    Table, ScoreTest,
    ::testing::ValuesIn(std::vector<Case>{
        // Data: each of two rings sends 10 over nvlink twice and over the spine twice. l0 sends 20
        // to l1: 20 x 40,000 / 16 GPUs. Time: 100 x 1,111 + 10 x 40,000.
        {"RingsRunInsideWorkersAndAcrossLeaves",
         TwoLeaves(),
         false,
         testing::WorkersOn({0, 1, 2, 3}),
         2,
         {Ring(Axis::kTensor, 2, 100, {0, 1, 2, 3, 4, 5, 6, 7}),
          Ring(Axis::kData, 4, 10, {0, 2, 4, 6, 1, 3, 5, 7})},
         "spans spine:1 leaf:2 nvlink:2 node:4\n"
         "flows Tensor@node:800 Data@spine:40 Data@nvlink:40\n"
         "cross 80\n"
         "uplink leaf l0 20 50000 fs\n"
         "spread Tensor@spine:1 Tensor@leaf:1 Tensor@nvlink:1 Data@spine:1 Data@leaf:2 "
         "Data@nvlink:2\n"
         "time 511100 fs"},
        // Without the claim nvlink's bytes run over the leaf, and the node's way out is the leaf's
        // rate too: n0 sends 20 x 20,000 / 8 GPUs, as busy as l0; the wider is named.
        {"AnUnclaimedScaleUpNetworkCarriesNothing",
         TwoLeavesUnclaimed(),
         false,
         testing::WorkersOn({0, 1, 2, 3}),
         2,
         {Ring(Axis::kData, 4, 10, {0, 2, 4, 6, 1, 3, 5, 7})},
         "spans spine:1 leaf:2 nvlink:2 node:4\n"
         "flows Data@spine:40 Data@leaf:40\n"
         "cross 80\n"
         "uplink leaf l0 20 50000 fs\n"
         "spread Data@spine:1 Data@leaf:2 Data@nvlink:2\n"
         "time 400000 fs"},
        {"AClaimedScaleUpNetworkCarriesItsOwn",
         TwoLeavesUnclaimed(),
         true,
         testing::WorkersOn({0, 1, 2, 3}),
         2,
         {Ring(Axis::kData, 4, 10, {0, 2, 4, 6, 1, 3, 5, 7})},
         "spans spine:1 leaf:2 nvlink:2 node:4\n"
         "flows Data@spine:40 Data@nvlink:40\n"
         "cross 80\n"
         "uplink leaf l0 20 50000 fs\n"
         "spread Data@spine:1 Data@leaf:2 Data@nvlink:2\n"
         "time 400000 fs"},
        // Workers of one rank at n0, n2, n1, n3: n0-n2 and n1-n3 talk over the crossing network,
        // n2-n1 and n3-n0 over the spine, both sent from l1.
        {"ACrossingScaleUpNetworkTakesBytesOffTheLevels",
         CrossingLeaves(),
         false,
         testing::WorkersOn({0, 2, 1, 3}),
         1,
         {Ring(Axis::kData, 4, 10, {0, 1, 2, 3})},
         "spans spine:1 leaf:2 nvlink:2 node:4\n"
         "flows Data@spine:20 Data@nvlink:20\n"
         "cross 40\n"
         "uplink leaf l1 20 50000 fs\n"
         "spread Data@spine:1 Data@leaf:2\n"
         "time 400000 fs"},
        // Ends send 20 to their one neighbour, the middle 10 each way: 0->1 20, 1->0 10, 1->2 10,
        // 2->1 20. Ranks 0 and 1 share n0; 2 is on n2 over the spine. n2 sends 20: 20 x 40,000
        // / 16.
        {"StagesExchangeWithTheirNeighbours",
         TwoLeaves(),
         false,
         testing::WorkersOn({0, 0, 2}),
         1,
         {Stages(3, {0, 1, 2}, {10, 20, 0})},
         "spans spine:1 leaf:2 nvlink:2 node:2\n"
         "flows Pipeline@spine:30 Pipeline@node:30\n"
         "cross 30\n"
         "uplink leaf l1 20 50000 fs\n"
         "spread Pipeline@spine:1 Pipeline@leaf:2 Pipeline@nvlink:2\n"
         "time 800000 fs"},
        // Four stages of 30, and 10 each way between the ends: an inner rank sends most, 60.
        {"VirtualStagesJoinTheEnds",
         TwoLeaves(),
         false,
         testing::WorkersOn({0, 0, 1, 2}),
         1,
         {Stages(4, {0, 1, 2, 3}, {30, 30, 10})},
         "spans spine:1 leaf:2 nvlink:2 node:3\n"
         "flows Pipeline@spine:80 Pipeline@nvlink:60 Pipeline@node:60\n"
         "cross 140\n"
         "uplink leaf l0 40 100000 fs\n"
         "spread Pipeline@spine:1 Pipeline@leaf:2 Pipeline@nvlink:2\n"
         "time 2.4e+06 fs"},
        // Two stages are both ends: each sends end and wrap to the other.
        {"TwoStagesAreBothEnds",
         TwoLeaves(),
         false,
         testing::WorkersOn({0, 1}),
         1,
         {Stages(2, {0, 1}, {10, 20, 5})},
         "spans spine:1 leaf:1 nvlink:1 node:2\n"
         "flows Pipeline@nvlink:50\n"
         "cross 50\n"
         "uplink\n"
         "spread Pipeline@spine:1 Pipeline@leaf:1 Pipeline@nvlink:1\n"
         "time 27775 fs"},
        // Four ranks on n0, n0, n1, n2, each 7 to each other: 2 pairs in n0, 4 over nvlink, 6 over
        // the spine. A rank sends 21.
        {"ExpertsSendToAllOthers",
         TwoLeaves(),
         false,
         testing::WorkersOn({0, 1, 2}),
         2,
         {AllToAll(4, 7, {0, 1, 2, 4})},
         "spans spine:1 leaf:2 nvlink:2 node:3\n"
         "flows Expert@spine:42 Expert@nvlink:28 Expert@node:14\n"
         "cross 70\n"
         "uplink leaf l0 21 52500 fs\n"
         "spread Expert@spine:1 Expert@leaf:2 Expert@nvlink:2\n"
         "time 840000 fs"},
        // A ring of three on places 0, 2 and 3 of a torus of five, two ranks each: hops 2, 1 and 2
        // for the 7 bytes between two workers, and a rank waits for its 7 bytes over two hops.
        {"ATorusCarriesItsOwnAndCountsHops",
         [] {
           testing::FabricShape shape = testing::TorusOf({5}, {true, true, true, true, true});
           shape.hop_femtoseconds_per_byte = 1'000;
           return shape;
         }(),
         false,
         testing::WorkersOn({0, 2, 3}),
         2,
         {Ring(Axis::kData, 6, 7, {0, 1, 2, 3, 4, 5})},
         "spans node:3\n"
         "flows Data@torus:21*35 Data@node:21\n"
         "cross 21\n"
         "uplink\n"
         "spread\n"
         "time 14000 fs"},
        // Each leaf sends 10 x 40,000 over its one GPU.
        TwoNodes("ADomainOfOneAcceleratorHasAnUplink", 1, "uplink leaf l0 10 400000 fs"),
        TwoNodes("DomainsWithoutAcceleratorsHaveNoUplink", 0, "uplink"),
        // The slower of two families of one axis counts, not their sum.
        {"FamiliesOfOneAxisShareItsTime",
         TwoLeaves(),
         false,
         testing::WorkersOn({0, 1}),
         2,
         {Ring(Axis::kData, 2, 10, {0, 2, 1, 3}), Ring(Axis::kData, 2, 50, {0, 1, 2, 3})},
         "spans spine:1 leaf:1 nvlink:1 node:2\n"
         "flows Data@nvlink:40 Data@node:200\n"
         "cross 40\n"
         "uplink\n"
         "spread Data@spine:1 Data@leaf:1 Data@nvlink:1\n"
         "time 55550 fs"},
        {"AFamilyThatSendsNothingIsLeftOut",
         TwoLeaves(),
         false,
         testing::WorkersOn({0, 1}),
         2,
         {Ring(Axis::kData, 2, 0, {0, 2, 1, 3})},
         "spans spine:1 leaf:1 nvlink:1 node:2\nflows\ncross 0\nuplink\nspread\ntime 0 fs"},
        {"WithoutAModelOnlySpansAreKnown",
         TwoLeaves(),
         false,
         testing::WorkersOn({0, 0, 3}),
         2,
         {},
         "spans spine:1 leaf:2 nvlink:2 node:2\nflows\ncross 0\nuplink\nspread\ntime 0 fs"},
    }),
    [](const auto& row) { return row.param.name; });

// --- The same scores over all pairs of ranks, one by one. ---

struct Message {
  traffic::RankIndex from{0}, to{0};
  std::int64_t bytes = 0;
};

std::vector<Message> Messages(const GroupFamily& family, std::size_t g) {
  const auto group = family.group(g);
  std::vector<Message> messages;
  const std::size_t last = group.size() - 1;
  for (std::size_t i = 0; i <= last; ++i) {
    for (std::size_t j = 0; j <= last; ++j) {
      std::int64_t bytes = 0;
      switch (family.pattern) {
        case Pattern::kRing:
          if (j == (i + 1) % group.size()) bytes = family.amount;
          break;
        case Pattern::kAllToAll:
          if (i != j) bytes = family.amount;
          break;
        case Pattern::kNeighbours:
          if (i + 1 == j || j + 1 == i)
            bytes = i == 0 || i == last ? family.end_amount : family.amount;
          if ((i == 0 && j == last) || (j == 0 && i == last)) {
            bytes += family.wrap_amount;
          }
          break;
      }
      if (bytes > 0) messages.push_back({group[i], group[j], bytes});
    }
  }
  return messages;
}

struct Oracle {
  const fabric::Fabric& fabric;
  const PairCost& cost;
  const traffic::Traffic& traffic;
  const ByWorker<NodeIndex>& nodes;

  NodeIndex NodeOf(traffic::RankIndex rank) const {
    return nodes[traffic::WorkerOf(rank, traffic.per_worker)];
  }

  std::vector<Span> Spans() const {
    std::vector<Span> spans;
    for (Tier t{1}; t <= fabric.node_tier(); ++t) {
      std::set<fabric::DomainIndex> used, crossing;
      for (NodeIndex n : nodes) {
        used.insert(fabric.domains(t).of_node[n]);
        const fabric::Plane* scale_up = fabric.crossing_scale_up();
        if (scale_up != nullptr) crossing.insert(scale_up->of_node[n]);
      }
      if (t == fabric.node_tier() && !crossing.empty()) {
        spans.push_back({"nvlink", static_cast<std::uint32_t>(crossing.size())});
      }
      spans.push_back({fabric.tiers()[t].name, static_cast<std::uint32_t>(used.size())});
    }
    return spans;
  }

  Scores Run() const {
    Scores scores;
    scores.spans = Spans();
    // By axis and network, those beside the tiers before the node.
    std::map<std::pair<int, std::uint32_t>, Flow> flows;
    std::map<std::pair<Tier, fabric::DomainIndex>, Int128> leaving;
    std::map<std::pair<int, Tier>, std::uint32_t> spread;
    std::map<int, double> slowest;
    for (const GroupFamily& family : traffic.families) {
      const int axis = static_cast<int>(family.axis);
      for (std::size_t g = 0; g < family.groups(); ++g) {
        std::map<traffic::RankIndex, Int128> sent;
        std::int64_t slowest_link = 0;
        for (const Message& m : Messages(family, g)) {
          const NodeIndex a = NodeOf(m.from), b = NodeOf(m.to);
          const PairCost::NetworkIndex carrying = cost.CarryingNetwork(a, b);
          const std::uint32_t node_tier = fabric.node_tier().Raw();
          const bool crossing = carrying > node_tier;
          const std::uint32_t place =
              crossing ? node_tier * 4 - 4 + carrying - node_tier : carrying * 4;
          Flow& flow = flows[{axis, place}];
          flow.axis = static_cast<Axis>(axis);
          flow.level = cost.networks()[carrying].name;
          flow.bytes += m.bytes;
          const bool torus = fabric.torus() != nullptr && flow.level == "torus";
          flow.crossed += m.bytes * Int128{torus ? fabric.torus()->Hops(a, b) : 1};
          sent[m.from] += m.bytes;
          slowest_link = std::max(slowest_link, cost.LinkWeight(a, b));
          for (Tier t{1}; !crossing && t <= fabric.node_tier(); ++t) {
            const auto& of_node = fabric.domains(t).of_node;
            if (of_node[a] != of_node[b]) leaving[{t, of_node[a]}] += m.bytes;
          }
        }
        Int128 most = 0;
        for (const auto& [rank, bytes] : sent) most = std::max(most, bytes);
        const double time = static_cast<double>(most) * static_cast<double>(slowest_link);
        slowest[axis] = std::max(slowest[axis], time);
        for (Tier t{1}; t < fabric.node_tier(); ++t) {
          std::set<fabric::DomainIndex> domains;
          for (const traffic::RankIndex rank : family.group(g))
            domains.insert(fabric.domains(t).of_node[NodeOf(rank)]);
          auto& worst = spread[{axis, t}];
          worst = std::max(worst, static_cast<std::uint32_t>(domains.size()));
        }
      }
    }
    Finish(flows, leaving, spread, slowest, scores);
    return scores;
  }

  void Finish(const auto& flows, const auto& leaving, const auto& spread, const auto& slowest,
              Scores& scores) const {
    for (const auto& [key, flow] : flows) {
      scores.flows.push_back(flow);
      if (flow.level != "node") scores.cross_node_bytes += flow.bytes;
    }
    for (const auto& [key, bytes] : leaving) {
      if (key.first == fabric.node_tier()) continue;
      std::int64_t accelerators = 0;
      for (const NodeIndex n : Range<NodeIndex>(fabric.node_count())) {
        if (fabric.domains(key.first).of_node[n] == key.second)
          accelerators += fabric.accelerators(n);
      }
      const double time = static_cast<double>(bytes) *
                          static_cast<double>(cost.TierWeight(key.first - 1)) /
                          static_cast<double>(accelerators) / kFemtosecondsPerMillisecond;
      if (scores.busiest_uplink && scores.busiest_uplink->milliseconds >= time) continue;
      scores.busiest_uplink = Uplink{fabric.tiers()[key.first].name,
                                     fabric.domains(key.first).names[key.second], bytes, time};
    }
    for (const auto& [key, domains] : spread) {
      scores.spread.push_back(
          {static_cast<Axis>(key.first), fabric.tiers()[key.second].name, domains});
    }
    for (const auto& [axis, time] : slowest) scores.communication_milliseconds += time;
    scores.communication_milliseconds /= kFemtosecondsPerMillisecond;
  }
};

class Draw {
 public:
  explicit Draw(std::uint32_t seed) : random_(seed) {}
  // In [low, high].
  std::uint32_t operator()(std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random_()) % (high - low + 1);
  }

 private:
  std::mt19937 random_;
};

testing::FabricShape RandomShape(Draw& draw) {
  testing::FabricShape shape;
  shape.levels.resize(draw(0, 2));
  shape.scale_up = draw(0, 2) > 0;
  const bool nested = draw(0, 1) == 1;
  if (draw(0, 2) == 0) shape.scale_up_requires = fabric::ScaleUpRequires::kComputeDomain;
  if (draw(0, 2) == 0) shape.scale_up_femtoseconds_per_byte = 30'000;
  if (draw(0, 2) == 0) shape.node_femtoseconds_per_byte = 50'000;
  const std::uint32_t count = draw(2, 12);
  for (std::uint32_t n = 0; n < count; ++n) {
    testing::TestNode node;
    node.name = testing::Numbered("n", n, count);
    const std::string wide = std::to_string(n / 6), narrow = std::to_string(n / 3);
    if (shape.levels.size() == 1) node.domains = {"l" + narrow};
    if (shape.levels.size() == 2) node.domains = {"s" + wide, "l" + narrow};
    if (shape.scale_up) node.scale_up = "v" + std::to_string(nested ? n / 3 * 2 + n % 2 : n % 3);
    node.accelerators = static_cast<int>(draw(1, 3)) * 4;
    shape.nodes.push_back(std::move(node));
  }
  if (draw(0, 2) > 0) return shape;
  shape.torus = {{"", 3, true}, {"", 4, draw(0, 1) == 1}};
  shape.hop_femtoseconds_per_byte = draw(0, 1) == 1 ? 3'000 : 30'000;
  if (!shape.levels.empty() && draw(0, 1) == 1) shape.torus_level = shape.levels.front().name;
  for (std::uint32_t n = 0; n < count; ++n) {
    shape.nodes[n].torus = {static_cast<int>(n % 3), static_cast<int>(n / 3)};
  }
  return shape;
}

GroupFamily RandomFamily(Draw& draw, std::uint32_t ranks) {
  std::vector<std::uint32_t> members(ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) members[r] = r;
  const bool shuffled = draw(0, 2) == 0;
  for (std::uint32_t r = ranks; shuffled && r > 1; --r)
    std::swap(members[r - 1], members[draw(0, r - 1)]);
  const std::uint32_t size = draw(2, std::min(ranks, 9U));
  members.resize(ranks / size * size);
  GroupFamily family = Family(static_cast<Axis>(draw(0, traffic::kAxisCount - 1)),
                              static_cast<Pattern>(draw(0, 2)), size, members);
  family.amount = draw(0, 1000);
  family.end_amount = draw(0, 1) == 0 ? family.amount : family.amount * 2;
  family.wrap_amount = draw(0, 1) == 0 ? 0 : family.amount * draw(1, 3);
  return family;
}

TEST(Score, AgreesWithAllPairsOfRanksOneByOne) {
  for (std::uint32_t seed = 0; seed < 2000; ++seed) {
    Draw draw(seed);
    const testing::Cluster cluster = testing::MakeCluster(RandomShape(draw));
    const PairCost cost(*cluster.fabric, draw(0, 1) == 1);
    traffic::Traffic traffic;
    traffic.workers = draw(1, 10);
    traffic.per_worker = draw(1, 4);
    traffic.ranks = traffic.workers * traffic.per_worker;
    traffic.modelled = true;
    if (traffic.ranks < 2) continue;
    const std::uint32_t families = draw(0, 4);
    for (std::uint32_t f = 0; f < families; ++f)
      traffic.families.push_back(RandomFamily(draw, traffic.ranks));
    std::erase_if(traffic.families, [](const GroupFamily& f) { return f.amount == 0; });
    traffic::SeatGroups(traffic);
    ByWorker<NodeIndex> nodes(traffic.workers);
    for (NodeIndex& node : nodes) node = NodeIndex{draw(0, cluster.fabric->node_count() - 1)};
    const Oracle oracle{*cluster.fabric, cost, traffic, nodes};
    ASSERT_EQ(Show(Score(cost, traffic, nodes)), Show(oracle.Run())) << "seed " << seed;
  }
}

TEST(Score, SurvivesAmountsAtTheEndOf64Bits) {
  testing::FabricShape shape = TwoLeaves();
  const testing::Cluster cluster = testing::MakeCluster(shape);
  traffic::Traffic traffic{
      .ranks = 4, .per_worker = 1, .workers = 4, .modelled = true, .families = {}, .seated = {}};
  traffic.families.push_back(AllToAll(4, kSaturated, {0, 1, 2, 3}));
  traffic::SeatGroups(traffic);
  const Scores scores =
      Score(PairCost(*cluster.fabric, false), traffic, testing::WorkersOn({0, 1, 2, 3}));
  EXPECT_EQ(FormatInt128(scores.cross_node_bytes), "110680464442257309684");  // 12 x (2^63 - 1)
}

}  // namespace
}  // namespace weft::objective
