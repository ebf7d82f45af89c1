#include "operator/fabric/unlabelled_kinds.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "operator/fabric/partition.h"
#include "operator/fabric/pools.h"

namespace weft::fabric {
namespace {

std::string_view FirstAccelerator(const NodeFacts& node, std::span<const std::string> more) {
  for (const Resources* amounts : {&node.allocatable, &node.capacity}) {
    for (const auto& [name, amount] : *amounts) {
      if (amount > 0 && IsAcceleratorResource(name, more)) return name;
    }
  }
  return "";
}

// What a node may be recognised by, most exact first; "" where it says nothing.
std::vector<std::string_view> NamesOf(const NodeFacts& node, std::span<const std::string> more) {
  return {WholeProduct(ReadPoolLabels(node).product), InstanceTypeOf(node),
          FirstAccelerator(node, more)};
}

using Labelled = std::vector<bool>;  // by level

// The level from which on neither this nor any narrower one is labelled.
std::size_t DepthOf(const Labelled& kind) {
  std::size_t depth = kind.size();
  while (depth > 0 && !kind[depth - 1]) --depth;
  return depth;
}

}  // namespace

std::vector<LabelDepth> LabelDepths(const std::vector<const NodeFacts*>& candidates,
                                    std::span<const std::string> more, std::size_t levels,
                                    const std::function<bool(std::size_t, std::size_t)>& has) {
  Labelled any(levels, false);
  std::map<std::pair<std::size_t, std::string_view>, Labelled> by_name;
  for (std::size_t n = 0; n < candidates.size(); ++n) {
    const std::vector<std::string_view> names = NamesOf(*candidates[n], more);
    for (std::size_t l = 0; l < levels; ++l) {
      if (!has(n, l)) continue;
      any[l] = true;
      for (std::size_t exact = 0; exact < names.size(); ++exact) {
        auto& labelled = by_name.try_emplace({exact, names[exact]}, levels, false).first->second;
        labelled[l] = true;
      }
    }
  }
  std::vector<LabelDepth> depths;
  for (const NodeFacts* node : candidates) {
    LabelDepth& of = depths.emplace_back(LabelDepth{"", levels});
    const std::vector<std::string_view> names = NamesOf(*node, more);
    for (std::size_t exact = 0; exact < names.size(); ++exact) {
      if (names[exact].empty()) continue;
      const auto known = by_name.find({exact, names[exact]});
      of.kind = names[exact];
      of.depth = known == by_name.end() ? 0 : DepthOf(known->second);
      break;
    }
    // A label that no node at all has is a mistake in the spec.
    for (std::size_t l = of.depth; l < levels; ++l) {
      if (!any[l]) of.depth = levels;
    }
  }
  return depths;
}

void DropIncomplete(const std::vector<IncompleteNode>& incomplete,
                    std::vector<UnlabelledKind>& kinds) {
  for (UnlabelledKind& kind : kinds) {
    std::erase_if(kind.nodes, [&](const std::string& name) {
      return std::any_of(incomplete.begin(), incomplete.end(),
                         [&](const IncompleteNode& node) { return node.node == name; });
    });
  }
  std::erase_if(kinds, [](const UnlabelledKind& kind) { return kind.nodes.empty(); });
}

}  // namespace weft::fabric
