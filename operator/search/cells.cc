#include "operator/search/cells.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <tuple>

#include "operator/base/check.h"

namespace weft::search {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;

namespace {

constexpr std::uint32_t kWholeHome = 16'384;  // up to this many nodes of a home are all examined
constexpr std::size_t kNear = 6;              // neighbours of a place in a torus
constexpr int kNearHops = 2;                  // free neighbours are searched within this many hops

using Step = std::array<int, fabric::kTorusDimensions>;

int HopsOf(const Step& step) { return std::abs(step[0]) + std::abs(step[1]) + std::abs(step[2]); }

// All steps of one to kNearHops hops, the shortest first.
std::vector<Step> StepsAround() {
  std::vector<Step> steps;
  for (int x = -kNearHops; x <= kNearHops; ++x) {
    for (int y = -kNearHops; y <= kNearHops; ++y) {
      for (int z = -kNearHops; z <= kNearHops; ++z) {
        const Step step = {x, y, z};
        if (HopsOf(step) > 0 && HopsOf(step) <= kNearHops) steps.push_back(step);
      }
    }
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step& a, const Step& b) { return HopsOf(a) < HopsOf(b); });
  return steps;
}

// The place a step away; nothing beyond the end of a dimension that does not wrap.
std::optional<fabric::TorusPlace> Moved(const fabric::TorusShape& torus,
                                        const fabric::TorusPlace& from, const Step& step) {
  fabric::TorusPlace to{};
  for (std::size_t d = 0; d < fabric::kTorusDimensions; ++d) {
    const int size = static_cast<int>(torus.sizes()[d]);
    int at = from[d] + step[d];
    if (torus.wraps(d)) at = (at % size + size) % size;
    if (at < 0 || at >= size) return std::nullopt;
    to[d] = static_cast<std::uint16_t>(at);
  }
  return to;
}

}  // namespace

Cells::Cells(const objective::Instance& instance, objective::Nodes nodes, Tier home,
             std::size_t most)
    : instance_(instance), placed_(nodes.begin(), nodes.end()) {
  const auto& domains = instance.fabric().domains(home);
  const DomainIndex domain = domains.of_node[nodes.front()];
  const NodeIndex begin = domains.begin[domain], end = domains.begin[domain + 1];
  single_ = instance.pair_cost().torus() == nullptr;
  for (NodeIndex n = begin; n < end && single_; ++n) single_ = instance.slots()[n] <= 1;
  Keep(FindAll(RunsToLookAt(home, begin, end)), most);
}

// All nodes of a home; of a large home, the nodes of those of its children that are in use.
std::vector<Cells::Run> Cells::RunsToLookAt(Tier home, NodeIndex begin, NodeIndex end) const {
  if (end - begin <= kWholeHome || home + 1 >= instance_.node_tier()) return {{begin, end}};
  const auto& children = instance_.fabric().domains(home + 1);
  std::vector<DomainIndex> used;
  for (const NodeIndex n : placed_) used.push_back(children.of_node[n]);
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  std::vector<Run> runs;
  for (const DomainIndex d : used) runs.push_back({children.begin[d], children.begin[d + 1]});
  return runs;
}

// The cells of the nodes in these runs, in tree order.
std::vector<Cells::Found> Cells::FindAll(std::span<const Run> runs) const {
  const fabric::Fabric& fabric = instance_.fabric();
  std::vector<NodeIndex> used = placed_.Items();
  std::sort(used.begin(), used.end());
  const objective::PairCost& pair_cost = instance_.pair_cost();
  const auto& narrow = fabric.domains(instance_.node_tier() - 1);
  const auto like = [&](NodeIndex a, NodeIndex b) {
    return pair_cost.stand(a) == pair_cost.stand(b);
  };
  std::vector<Found> found;
  std::size_t first = 0;  // first cell of the current narrowest domain
  DomainIndex last = DomainIndex{~0U};
  auto next_used = used.begin();
  for (const Run& run : runs) {
    for (NodeIndex n = run.begin; n < run.end; ++n) {
      if (instance_.slots()[n] == 0) continue;
      while (next_used != used.end() && *next_used < n) ++next_used;
      if (narrow.of_node[n] != last) first = found.size();
      last = narrow.of_node[n];
      std::size_t at = single_ ? first : found.size();
      while (at < found.size() && !like(found[at].nodes.front(), n)) ++at;
      if (at == found.size()) found.emplace_back();
      found[at].nodes.push_back(n);
      found[at].slots += instance_.slots()[n];
      found[at].used = found[at].used || (next_used != used.end() && *next_used == n);
    }
  }
  return found;
}

void Cells::Keep(std::vector<Found> found, std::size_t most) {
  const auto& fabric = instance_.fabric();
  const Tier near = instance_.node_tier() - (single_ && instance_.node_tier() > Tier{1} ? 2 : 1);
  fabric::ByDomain<std::uint8_t> near_used(fabric.domains(near).EndIndex(), 0);
  for (NodeIndex n : placed_) near_used[fabric.domains(near).of_node[n]] = 1;
  std::vector<std::size_t> order(found.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto rank = [&](std::size_t i) {
    const bool by_near = near_used[fabric.domains(near).of_node[found[i].nodes.front()]] != 0;
    return std::tuple(found[i].used ? 0 : by_near ? 1 : 2, ~found[i].slots, i);
  };
  const auto before = [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); };
  if (instance_.pair_cost().torus() != nullptr) {
    most += static_cast<std::size_t>(
        std::count_if(found.begin(), found.end(), [](const Found& one) { return one.used; }));
  }
  const std::size_t kept = std::min(most, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                    before);
  std::size_t used = 0;  // cells in use, which are all kept
  while (used < order.size() && used < kept && found[order[used]].used) ++used;
  if (used == kept) {
    std::sort(order.begin(), order.end(), before);
    while (used < order.size() && found[order[used]].used) ++used;
  }
  order.resize(std::max(used, kept));
  std::sort(order.begin(), order.end());
  for (const std::size_t i : order) {
    nodes_.push_back(std::move(found[i].nodes));
    slots_.push_back(found[i].slots);
  }
  for (const CellIndex c : nodes_.Indices()) {
    for (NodeIndex n : nodes_[c]) listed_.push_back({n, c});
  }
  std::sort(listed_.begin(), listed_.end(),
            [](const NodeOfCell& a, const NodeOfCell& b) { return a.node < b.node; });
  for (NodeIndex n : placed_) {
    const auto at = std::partition_point(listed_.begin(), listed_.end(),
                                         [n](const NodeOfCell& listed) { return listed.node < n; });
    WEFT_CHECK(at != listed_.end() && at->node == n);  // all cells in use are kept
    listed_of_worker_.push_back(static_cast<std::uint32_t>(at - listed_.begin()));
    of_worker_.push_back(at->cell);
  }
  WeighPairs();
  if (instance_.pair_cost().torus() != nullptr) FindNear();
}

void Cells::WeighPairs() {
  weight_.resize(std::size_t{size()} * size());
  const auto index_of = [&](std::int64_t weight) {
    const auto found = std::find(weights_.begin(), weights_.end(), weight);
    if (found == weights_.end()) {
      weights_.push_back(weight);
      WEFT_CHECK(weights_.size() <= std::size_t{1} << 16);  // an index has 16 bits
      return static_cast<std::uint16_t>(weights_.size() - 1);
    }
    return static_cast<std::uint16_t>(found - weights_.begin());
  };
  for (CellIndex a{0}; a < EndIndex(); ++a) {
    const NodeIndex inside = nodes_[a].size() > 1 ? nodes_[a][1] : nodes_[a].front();
    for (CellIndex b{0}; b <= a; ++b) {
      const NodeIndex from = nodes_[a].front(), to = a == b ? inside : nodes_[b].front();
      const objective::PairCost& pair_cost = instance_.pair_cost();
      const std::uint16_t index = index_of(pair_cost.Weight(from, to) + pair_cost.Nudge(from, to));
      weight_[PairOf(a, b)] = weight_[PairOf(b, a)] = index;
    }
  }
}

void Cells::FindNear() {
  const fabric::Torus& torus = *instance_.pair_cost().torus();
  constexpr CellIndex kNone{~0U};
  fabric::ByNode<CellIndex> cell_of(instance_.fabric().node_count(), kNone);
  for (CellIndex c{0}; c < EndIndex(); ++c) cell_of[nodes_[c].front()] = c;
  const std::vector<Step> steps = StepsAround();
  near_begin_ = {0};
  for (CellIndex c{0}; c < EndIndex(); ++c) {
    const NodeIndex from = nodes_[c].front();
    for (const Step& step : steps) {
      if (near_.size() - near_begin_.back() == kNear) break;
      const std::optional<fabric::TorusPlace> to =
          Moved(torus.ShapeAround(from), torus.place(from), step);
      const NodeIndex n = to ? torus.At(torus.torus_of(from), *to) : fabric::Torus::kNoNode;
      if (n != fabric::Torus::kNoNode && n != from && cell_of[n] != kNone) {
        near_.push_back(cell_of[n]);
      }
    }
    near_begin_.push_back(static_cast<std::uint32_t>(near_.size()));
  }
}

ByWorker<NodeIndex> Cells::NodesFor(IndexSpan<WorkerIndex, const CellIndex> cell_of) const {
  ByWorker<NodeIndex> nodes = placed_;
  WEFT_CHECK(cell_of.size() == nodes.size());
  // By index into listed_: how many workers stay on the node, and how many leave it.
  std::vector<std::uint32_t> stay(listed_.size(), 0), leave(listed_.size(), 0);
  for (const WorkerIndex w : nodes.Indices()) {
    ++(cell_of[w] == of_worker_[w] ? stay : leave)[listed_of_worker_[w]];
  }
  ByCell<std::vector<NodeIndex>> open(size());  // a node for every slot, used ones first
  for (const bool left : {true, false}) {
    for (std::size_t i = 0; i < listed_.size(); ++i) {
      const NodeIndex n = listed_[i].node;
      WEFT_CHECK(stay[i] + leave[i] <= instance_.slots()[n]);
      const std::uint32_t places = left ? leave[i] : instance_.slots()[n] - stay[i] - leave[i];
      open[listed_[i].cell].insert(open[listed_[i].cell].end(), places, n);
    }
  }
  ByCell<std::size_t> taken(size(), 0);
  for (const WorkerIndex w : nodes.Indices()) {
    const CellIndex cell = cell_of[w];
    if (cell == of_worker_[w]) continue;
    WEFT_CHECK(taken[cell] < open[cell].size());  // no cell has more workers than slots
    nodes[w] = open[cell][taken[cell]++];
  }
  return nodes;
}

}  // namespace weft::search
