#include "operator/fabric/builder.h"

#include <algorithm>
#include <numeric>

#include "operator/fabric/presets.h"
#include "operator/fabric/selector.h"
#include "operator/fabric/torus_places.h"

namespace weft::fabric {
namespace {

// A stable sort: nodes of one group keep their order. `least[group]` is the position of the group's
// first node.
void SortByGroup(const Groups& groups, const std::vector<std::uint32_t>& least,
                 std::vector<std::uint32_t>& order) {
  std::vector<std::uint32_t> begin(groups.of_node.size() + 1, 0);
  for (std::uint32_t n : order) ++begin[least[groups.of_node[n]] + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<std::uint32_t> sorted(order.size());
  for (std::uint32_t n : order) sorted[begin[least[groups.of_node[n]]]++] = n;
  order = std::move(sorted);
}

// By group, the least of its `nodes`. Candidates are numbered by name, so this node has the least
// name. A group whose nodes were all put aside has none.
std::vector<std::uint32_t> LeastNodes(const Groups& groups,
                                      const std::vector<std::uint32_t>& nodes) {
  std::vector<std::uint32_t> least(groups.names.size(), kNoGroup);
  for (std::uint32_t n : nodes) {
    std::uint32_t& held = least[groups.of_node[n]];
    held = std::min(held, n);
  }
  return least;
}

}  // namespace

FabricBuilder::FabricBuilder(FabricSpec spec, SharedList<NodeFacts> nodes, Fabric::Options options)
    : options_(std::move(options)), nodes_(std::move(nodes)) {
  fabric_.spec_ = std::move(spec);
}

Result<Fabric> FabricBuilder::Run() {
  if (!fabric_.spec_.preset.empty()) {
    Result<FabricSpec> expanded = ExpandPreset(fabric_.spec_, nodes_);
    if (!expanded) return expanded.error();
    fabric_.spec_ = *std::move(expanded);
  }
  if (Status status = CheckSpec(fabric_.spec_); !status) return status.error();
  Result<ResolvedLinks> links = ResolveLinks(fabric_.spec_);
  if (!links) return links.error();
  links_ = *std::move(links);
  if (Status status = SelectNodes(); !status) return status.error();
  if (Status status = GroupNodes(); !status) return status.error();
  OrderTree();
  FillTiers();
  FillPlanes();
  if (Status status = FillTorus(); !status) return status.error();
  FillNodes();
  FillRails();
  FillResources();
  FillPools();
  FillUsable();
  FillTaintClasses();
  FillPathCodes();
  return std::move(fabric_);
}

Status FabricBuilder::SelectNodes() {
  std::vector<std::size_t> by_name(nodes_.size());
  std::iota(by_name.begin(), by_name.end(), std::size_t{0});
  std::sort(by_name.begin(), by_name.end(),
            [this](std::size_t a, std::size_t b) { return nodes_[a].name < nodes_[b].name; });
  const std::optional<LabelSelector>& selector = fabric_.spec_.node_selector;
  for (std::size_t n = 0; n < by_name.size(); ++n) {
    const NodeFacts& node = nodes_[by_name[n]];
    if (node.name.empty()) return Invalid("a node has no name");
    if (n > 0 && node.name == nodes_[by_name[n - 1]].name) {
      return Invalid("node " + node.name + " is given twice");
    }
    if (selector ? Matches(*selector, node) : HasAccelerator(node)) {
      source_.push_back(by_name[n]);
      candidates_.push_back(&node);
    }
  }
  return {};
}

Status FabricBuilder::GroupNodes() {
  const FabricSpec& spec = fabric_.spec_;
  groups_ = GroupByLevels(spec, candidates_);
  if (spec.torus) places_ = PlaceInTorus(spec, candidates_, groups_);
  if (options_.refuse_inconsistent && !groups_.inconsistencies.empty()) {
    const std::size_t more = groups_.inconsistencies.size() - 1;
    return Invalid(Describe(groups_.inconsistencies.front()) +
                   (more > 0 ? "; and " + std::to_string(more) + " more" : ""));
  }
  if (spec.scale_up) {
    scale_up_ = GroupByLabel(spec.scale_up->label_key, candidates_, groups_.aside);
    nested_ = ScaleUpNests();
  }
  return {};
}

bool FabricBuilder::ScaleUpNests() const {
  if (groups_.levels.empty()) return true;
  const std::vector<std::uint32_t>& level = groups_.levels.back().of_node;
  std::vector<std::uint32_t> parent(scale_up_.names.size(), kNoGroup);
  for (std::size_t n = 0; n < candidates_.size(); ++n) {
    if (groups_.aside[n]) continue;
    std::uint32_t& first = parent[scale_up_.of_node[n]];
    if (first == kNoGroup) first = level[n];
    if (first != level[n]) return false;
  }
  return true;
}

void FabricBuilder::OrderTree() {
  for (std::uint32_t n = 0; n < candidates_.size(); ++n) {
    if (!groups_.aside[n]) order_.push_back(n);
  }
  // Stable sorts from the narrowest tier to the widest, so the widest tier is the primary key.
  if (nested_) SortByGroup(scale_up_, LeastNodes(scale_up_, order_), order_);
  for (std::size_t l = groups_.levels.size(); l-- > 0;) {
    const Groups& level = groups_.levels[l];
    SortByGroup(level, LeastNodes(level, order_), order_);
  }
}

}  // namespace weft::fabric
