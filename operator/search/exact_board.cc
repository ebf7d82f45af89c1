#include "operator/search/exact_board.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "operator/base/check.h"
#include "operator/search/adjacency.h"

namespace weft::search {

using fabric::NodeIndex;
using fabric::Tier;

namespace {

constexpr int kNarrowBits = 62;

}  // namespace

std::vector<std::int64_t> BytesBetween(const traffic::WorkerGraph& graph) {
  const Adjacency adjacency(graph);
  const std::size_t workers = graph.workers();
  std::vector<std::int64_t> bytes(workers * workers, 0);
  for (const WorkerIndex w : Range<WorkerIndex>(workers)) {
    for (const traffic::Neighbour& neighbour : adjacency.of(w)) {
      std::int64_t& sum = bytes[w.Raw() * workers + neighbour.worker.Raw()];
      sum = SaturatingAdd(sum, neighbour.bytes);
    }
  }
  return bytes;
}

Places::Places(const objective::Instance& instance, const Symmetry& symmetry,
               std::vector<NodeIndex> representatives)
    : nodes(std::move(representatives)) {
  const fabric::Fabric& fabric = instance.fabric();
  std::sort(nodes.begin(), nodes.end(),
            [&](NodeIndex a, NodeIndex b) { return fabric.name_rank(a) < fabric.name_rank(b); });
  for (const NodeIndex node : nodes) slots.push_back(instance.slots()[node]);
  weight.reserve(size() * size());
  for (const NodeIndex a : nodes) {
    for (const NodeIndex b : nodes) weight.push_back(instance.pair_cost().Weight(a, b));
  }
  std::map<std::vector<std::uint64_t>, std::uint32_t> known;
  const Tier last = instance.node_tier();
  domain.resize(last + 1);
  kind.resize(last + 1);
  for (Tier t{0}; t <= last; ++t) {
    const auto& of_node = fabric.domains(t).of_node;
    std::map<fabric::DomainIndex, std::uint32_t> number;
    for (const NodeIndex node : nodes) {
      const auto next = static_cast<std::uint32_t>(number.size());
      domain[t].push_back(number.try_emplace(of_node[node], next).first->second);
      std::vector<std::uint64_t> key = {t.Raw(), of_node[node].Raw()};
      for (Tier inner = t + 1; inner <= last; ++inner) {
        key.push_back(symmetry.signature(inner, fabric.domains(inner).of_node[node]));
      }
      kind[t].push_back(known.try_emplace(std::move(key), kinds).first->second);
      kinds = static_cast<std::uint32_t>(known.size());
    }
    domains.push_back(static_cast<std::uint32_t>(number.size()));
  }
}

CostUnit CommonUnit(std::span<const std::int64_t> bytes, std::span<const Places> places) {
  std::int64_t of_bytes = 0, of_weight = 0, most = 0;
  Int128 all = 0;
  for (const std::int64_t one : bytes) {
    of_bytes = std::gcd(of_bytes, one);
    all += one;
  }
  for (const Places& home : places) {
    for (const std::int64_t one : home.weight) {
      of_weight = std::gcd(of_weight, one);
      most = std::max(most, one);
    }
  }
  CostUnit unit{std::max<std::int64_t>(1, of_bytes), std::max<std::int64_t>(1, of_weight), true};
  unit.narrow = (all / unit.bytes) * (most / unit.weight) >> kNarrowBits == 0;
  return unit;
}

std::vector<Int128> CostWithin(const objective::Instance& instance,
                               std::span<const std::int64_t> bytes,
                               std::span<const WorkerIndex> order) {
  const std::size_t workers = order.size();
  WEFT_CHECK(bytes.size() == workers * workers);
  std::vector<Int128> within(workers + 1, 0);
  std::int64_t narrower = 0;
  std::vector<std::int64_t> peers;
  for (Tier t = instance.node_tier(); t >= Tier{1}; --t) {
    const std::int64_t step = instance.pair_cost().LeastWeight(t - 1) - narrower;
    if (step <= 0) continue;
    narrower += step;
    std::uint64_t room = 0;
    for (fabric::DomainIndex d{0}; d < instance.fabric().domains(t).EndIndex(); ++d) {
      room = std::max(room, instance.SlotsIn(t, d));
    }
    if (room >= workers || room == 0) continue;
    for (std::size_t first = 0; first < workers; ++first) {
      Int128 twice = 0;
      for (std::size_t i = first; i < workers; ++i) {
        peers.clear();
        for (std::size_t j = first; j < workers; ++j) {
          peers.push_back(bytes[order[i].Raw() * workers + order[j].Raw()]);
        }
        std::sort(peers.begin(), peers.end(), std::greater<>());
        for (std::size_t p = room - 1; p < peers.size(); ++p) twice += peers[p];
      }
      within[first] += (twice + 1) / 2 * step;
    }
  }
  return within;
}

}  // namespace weft::search
