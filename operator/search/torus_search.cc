#include "operator/search/torus_search.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "operator/base/check.h"
#include "operator/objective/hard_rules.h"
#include "operator/objective/units.h"
#include "operator/search/bisect.h"
#include "operator/search/box_layouts.h"
#include "operator/search/free_places.h"
#include "operator/search/spread.h"

namespace weft::search {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;
using fabric::Torus;
using fabric::TorusPlace;
using fabric::TorusShape;
using objective::Box;
using objective::Candidate;
using objective::Instance;
using objective::TorusSize;

namespace {

constexpr std::size_t kToruses = 4;    // toruses that are tried, those with the least room first
constexpr std::size_t kShapes = 4;     // of which one torus is tried at least
constexpr std::size_t kPositions = 3;  // boxes of each size that are tried
// After this many boxes without holes, no further size is tried, because its layouts cost more.
constexpr std::size_t kWholeBoxes = 6;
// A box is tried with up to two holes, or an eighth of its places if these are more.
constexpr std::uint32_t kFewHoles = 2, kShareOfHoles = 8;
// A worker whose place is a hole is about this many hops further away from each of its peers.
constexpr int kHopsOfHole = 2;

// The job as units, each of which fills one node.
struct NodeUnits {
  objective::Units units;
  std::vector<DigitTraffic> digits;
};

NodeUnits UnitsOfNodes(const Instance& instance, std::uint64_t room) {
  std::vector<std::uint32_t> grid(instance.grid().sizes().begin(), instance.grid().sizes().end());
  objective::Shape tile(grid.size(), 1);
  if (objective::Volume(grid) == instance.workers()) {
    tile = instance.grid().BestTile(tile, grid, room);
  } else {
    grid = {instance.workers()};  // a job without a regular grid is one row of workers
    tile = {1};
  }
  NodeUnits result{objective::MakeUnits(grid, tile, instance.workers()), {}};
  const objective::Units& units = result.units;
  result.digits = TrafficByDigit(
      objective::TrafficBetween(instance.graph(), units.of, units.EndIndex()), units.grid);
  return result;
}

class TorusSearch {
 public:
  TorusSearch(const Instance& instance, std::uint32_t torus, NodeIndex begin, NodeIndex end,
              const NodeUnits& job)
      : instance_(instance),
        torus_(*instance.fabric().torus()),
        shape_(torus_.shape(torus)),
        job_(job),
        places_(instance, torus, begin, end, job.units.size) {}

  bool has_room() const { return places_.count() >= job_.units.count(); }

  void Run(std::vector<Candidate>& candidates) {
    const std::vector<BoxLayout> layouts =
        LayIntoBoxes(job_.digits, shape_, instance_.limits().box_steps);
    if (TryBoxes(layouts, candidates)) return;
    TryBisection(candidates);
    TrySpreading(layouts, candidates);
  }

 private:
  struct Choice {
    Int128 hops = 0;  // of the layout, plus what holes add
    std::size_t layout = 0;
    Box box;
    std::uint32_t holes = 0;
  };

  // Adds candidates in boxes; returns whether one of the boxes has no holes.
  bool TryBoxes(const std::vector<BoxLayout>& layouts, std::vector<Candidate>& candidates) {
    Int128 bytes = 0;
    for (const DigitTraffic& digit : job_.digits) bytes += digit.bytes;
    const Int128 of_hole = bytes * 2 * kHopsOfHole / job_.units.count();
    const std::uint32_t few = MostHoles();
    const std::size_t sizes = std::max<std::size_t>(
        1, static_cast<std::size_t>(instance_.limits().box_steps / shape_.volume()));
    std::vector<Choice> choices;
    for (std::size_t l = 0, whole = 0; l < std::min(layouts.size(), sizes) && whole < kWholeBoxes;
         ++l) {
      for (const Box& box : places_.Best(layouts[l].size, kPositions, few)) {
        const std::uint32_t holes = places_.Holes(box);
        whole += holes == 0 ? 1 : 0;
        choices.push_back({layouts[l].hops + of_hole * holes, l, box, holes});
      }
    }
    std::stable_sort(choices.begin(), choices.end(),
                     [](const Choice& a, const Choice& b) { return a.hops < b.hops; });
    choices.resize(std::min<std::size_t>(choices.size(), instance_.limits().boxes));
    bool any_whole = false;
    for (const Choice& choice : choices) {
      any_whole = any_whole || choice.holes == 0;
      Offer(NodesIn(layouts[choice.layout], choice.box), candidates);
    }
    return any_whole;
  }

  // The most holes of a box that is tried; every hole costs a look at all free places.
  std::uint32_t MostHoles() const {
    const std::uint64_t looks =
        instance_.limits().box_steps / std::max<std::uint64_t>(1, places_.count());
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(looks, std::max(kFewHoles, job_.units.count() / kShareOfHoles)));
  }

  // The node of each unit. A unit whose place is a hole goes to the nearest free place, one unit
  // after the other.
  std::vector<NodeIndex> NodesIn(const BoxLayout& layout, const Box& box) const {
    std::vector<NodeIndex> nodes;
    fabric::ByNode<std::uint8_t> used(instance_.fabric().node_count(), 0);
    for (const TorusPlace& inside : layout.places) {
      nodes.push_back(places_.At(box, inside));
      if (places_.IsFree(nodes.back())) used[nodes.back()] = 1;
    }
    for (std::size_t v = 0; v < nodes.size(); ++v) {
      if (places_.IsFree(nodes[v])) continue;
      std::uint32_t least = ~0U;
      for (const NodeIndex n : places_.nodes()) {
        if (used[n] != 0) continue;
        const std::uint32_t hops = HopsTo(box, layout.places[v], n);
        if (hops >= least) continue;
        least = hops;
        nodes[v] = n;
      }
      WEFT_CHECK(least != ~0U);  // has_room: there are as many free places as units
      used[nodes[v]] = 1;
    }
    return nodes;
  }

  std::uint32_t HopsTo(const Box& box, const TorusPlace& inside, NodeIndex n) const {
    std::uint32_t hops = 0;
    for (std::size_t d = 0; d < inside.size(); ++d) {
      const std::uint32_t size = shape_.sizes()[d], from = (box.at[d] + inside[d]) % size;
      const std::uint32_t to = torus_.place(n)[d], apart = from > to ? from - to : to - from;
      hops += shape_.wraps(d) ? std::min(apart, size - apart) : apart;
    }
    return hops;
  }

  void TryBisection(std::vector<Candidate>& candidates) {
    for (const Box& box : SmallestBoxes()) {
      std::vector<NodeIndex> nodes;
      for (const NodeIndex n : places_.nodes()) {
        if (Inside(box, n)) nodes.push_back(n);
      }
      TorusPlace middle;
      for (std::size_t d = 0; d < middle.size(); ++d) {
        middle[d] = static_cast<std::uint16_t>(box.size[d] / 2);
      }
      std::stable_sort(nodes.begin(), nodes.end(), [&](NodeIndex a, NodeIndex b) {
        return HopsTo(box, middle, a) < HopsTo(box, middle, b);
      });
      WEFT_CHECK(nodes.size() >= job_.units.count());  // FirstWithRoom counted them
      nodes.resize(job_.units.count());
      Offer(LayByBisection(job_.digits, torus_, box, std::move(nodes)), candidates);
    }
  }

  // Spreads the best layouts over the free places of boxes of about the same shape.
  void TrySpreading(const std::vector<BoxLayout>& layouts, std::vector<Candidate>& candidates) {
    const std::size_t most = std::min<std::size_t>(layouts.size(), instance_.limits().spreads);
    for (std::size_t l = 0; l < most; ++l) {
      const std::optional<Box> box = BoxLike(layouts[l].size);
      if (!box) continue;
      Offer(SpreadLayout(layouts[l], torus_, *box, InnermostOf(*box)), candidates);
    }
  }

  // The smallest box of these proportions that has enough free places.
  std::optional<Box> BoxLike(const TorusSize& shape) const {
    std::vector<TorusSize> sizes;
    for (std::uint32_t twentieths = 20; sizes.empty() || sizes.back() != shape_.sizes();
         ++twentieths) {
      TorusSize size{};
      for (std::size_t d = 0; d < size.size(); ++d) {
        size[d] = std::min(shape_.sizes()[d], (shape[d] * twentieths + 19) / 20);
      }
      if (sizes.empty() || sizes.back() != size) sizes.push_back(size);
    }
    const std::vector<Box> boxes = FirstWithRoom(sizes, 1);
    return boxes.empty() ? std::nullopt : std::optional(boxes.front());
  }

  // Up to `most` boxes, those with the fewest holes, of the first of these sizes of which one has
  // enough free places. Each size holds the one before, so a search by halves finds it: counting
  // the free places of all boxes of a size takes the time.
  std::vector<Box> FirstWithRoom(std::span<const TorusSize> sizes, std::size_t most) const {
    const std::uint32_t needed = job_.units.count();
    const auto boxes_of = [&](const TorusSize& size, std::size_t count) {
      const std::uint32_t volume = size[0] * size[1] * size[2];
      return volume < needed ? std::vector<Box>{} : places_.Best(size, count, volume - needed);
    };
    const auto first = std::partition_point(sizes.begin(), sizes.end(), [&](const TorusSize& size) {
      return boxes_of(size, 1).empty();
    });
    return first == sizes.end() ? std::vector<Box>{} : boxes_of(*first, most);
  }

  // As many free places of the box as the job needs, without those nearest to its sides.
  std::vector<NodeIndex> InnermostOf(const Box& box) const {
    constexpr std::uint32_t kParts = 1000;  // of half the box
    std::vector<std::pair<std::uint32_t, NodeIndex>> by_distance;
    for (const NodeIndex n : places_.nodes()) {
      if (!Inside(box, n)) continue;
      std::uint32_t most = 0;
      for (std::size_t d = 0; d < box.size.size(); ++d) {
        const std::uint32_t size = shape_.sizes()[d];
        const std::uint32_t twice = 2 * ((torus_.place(n)[d] + size - box.at[d]) % size) + 1;
        const std::uint32_t off = twice > box.size[d] ? twice - box.size[d] : box.size[d] - twice;
        most = std::max(most, off * kParts / box.size[d]);
      }
      by_distance.emplace_back(most, n);
    }
    std::sort(by_distance.begin(), by_distance.end());
    std::vector<NodeIndex> nodes;
    for (const auto& [distance, n] : by_distance) nodes.push_back(n);
    WEFT_CHECK(nodes.size() >= job_.units.count());  // FirstWithRoom counted them
    nodes.resize(job_.units.count());
    return nodes;
  }

  bool Inside(const Box& box, NodeIndex n) const {
    for (std::size_t d = 0; d < box.size.size(); ++d) {
      const std::uint32_t size = shape_.sizes()[d];
      if ((torus_.place(n)[d] + size - box.at[d]) % size >= box.size[d]) return false;
    }
    return true;
  }

  // The boxes of the smallest size with enough free places. Sizes are nearly cubes; each is one
  // place longer along one dimension than the size before.
  std::vector<Box> SmallestBoxes() const {
    std::vector<TorusSize> sizes = {{1, 1, 1}};
    while (sizes.back() != shape_.sizes()) {
      TorusSize size = sizes.back();
      std::size_t shortest = size.size();
      for (std::size_t d = 0; d < size.size(); ++d) {
        if (size[d] == shape_.sizes()[d]) continue;
        if (shortest == size.size() || size[d] < size[shortest]) shortest = d;
      }
      ++size[shortest];
      sizes.push_back(size);
    }
    return FirstWithRoom(sizes, kPositions);
  }

  void Offer(const std::vector<NodeIndex>& of_unit, std::vector<Candidate>& candidates) const {
    WEFT_CHECK(of_unit.size() == job_.units.count());
    ByWorker<NodeIndex> nodes(instance_.workers());
    for (const WorkerIndex w : nodes.Indices()) nodes[w] = of_unit[job_.units.of[w].Raw()];
    const auto same = [&](const Candidate& one) { return one.nodes == nodes; };
    if (std::any_of(candidates.begin(), candidates.end(), same)) return;
    if (!objective::MeetsTopology(instance_, nodes)) return;
    candidates.push_back(objective::Evaluate(instance_, std::move(nodes)));
  }

  const Instance& instance_;
  const Torus& torus_;
  const TorusShape& shape_;
  const NodeUnits& job_;
  FreePlaces places_;
};

// The toruses of these nodes that are tried: of those with room for the job, the ones with the
// fewest slots, and the first of each shape, because a job may fit one shape much better. Those
// with the fewest slots come first.
std::vector<std::uint32_t> TorusesIn(const Instance& instance, NodeIndex begin, NodeIndex end) {
  const Torus& all = *instance.fabric().torus();
  std::map<std::uint32_t, std::uint64_t> slots;
  for (NodeIndex n = begin; n < end; ++n) slots[all.torus_of(n)] += instance.slots()[n];
  std::vector<std::pair<std::uint64_t, std::uint32_t>> with_room;
  for (const auto& [torus, count] : slots) {
    if (count >= instance.workers()) with_room.emplace_back(count, torus);
  }
  std::sort(with_room.begin(), with_room.end());
  std::vector<std::uint32_t> toruses;
  std::set<std::uint32_t> shapes;
  for (const auto& [count, torus] : with_room) {
    const bool is_new = shapes.size() < kShapes && shapes.insert(all.shape_of(torus)).second;
    if (toruses.size() < kToruses || is_new) toruses.push_back(torus);
  }
  return toruses;
}

}  // namespace

std::vector<Candidate> TorusCandidates(const Instance& instance, Tier home, DomainIndex domain) {
  std::vector<Candidate> candidates;
  const auto& begins = instance.fabric().domains(home).begin;
  const NodeIndex begin = begins[domain], end = begins[domain + 1];
  if (instance.workers() < 2 || begin == end) return candidates;
  std::uint64_t room = 0;
  for (NodeIndex n = begin; n < end; ++n) {
    room = std::max<std::uint64_t>(room, instance.slots()[n]);
  }
  const std::vector<std::uint32_t> toruses = TorusesIn(instance, begin, end);
  // Units as large as the roomiest nodes take, or smaller if there are too few such nodes.
  for (; room > 0 && candidates.empty() && !toruses.empty(); --room) {
    const NodeUnits job = UnitsOfNodes(instance, room);
    for (const std::uint32_t torus : toruses) {
      TorusSearch search(instance, torus, begin, end, job);
      if (search.has_room()) search.Run(candidates);
    }
    room = std::min<std::uint64_t>(room, job.units.size);
  }
  return candidates;
}

}  // namespace weft::search
