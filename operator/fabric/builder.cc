#include "operator/fabric/builder.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "operator/base/units.h"
#include "operator/fabric/check_spec.h"
#include "operator/fabric/health_signals.h"
#include "operator/fabric/neuron.h"
#include "operator/fabric/partition.h"
#include "operator/fabric/path_codes.h"
#include "operator/fabric/presets.h"
#include "operator/fabric/selector.h"
#include "operator/fabric/torus_places.h"
#include "operator/fabric/torus_shapes.h"
#include "operator/fabric/unlabelled_kinds.h"

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

// Most places of all toruses together: a table has one entry per place, at most 64 MiB.
constexpr std::int64_t kTorusPlacesInAll = 1 << 24;

// "0 of 8 nvidia.com/gpu are allocatable" of a node that has accelerators and offers none, as while
// its device plug-in restarts; else "".
std::string WhyNoneAllocatable(const FabricSpec& spec, const NodeFacts& node) {
  const auto counts = [&spec](const auto& entry) {
    return entry.second > 0 && IsAcceleratorResource(entry.first, spec.accelerator_resources);
  };
  if (std::any_of(node.allocatable.begin(), node.allocatable.end(), counts)) return "";
  const auto lost = std::find_if(node.capacity.begin(), node.capacity.end(), counts);
  if (lost == node.capacity.end()) return "";
  return "0 of " + std::to_string(lost->second) + " " + lost->first + " are allocatable";
}

// The first rule that makes the node unusable, as text; "" if no rule does.
std::string WhyUnusable(const FabricSpec& spec, const NodeFacts& node) {
  const UnusableRules& rules = spec.unusable;
  for (const NodeCondition& condition : node.conditions) {
    if (condition.type == "Ready" && condition.status != "True") return "not Ready";
  }
  const auto matches = [](const std::string& rule, std::string_view value) {
    return rule.empty() || rule == value;
  };
  for (const TaintMatch& rule : rules.taints) {
    for (const Taint& taint : node.taints) {
      if (rule.key != taint.key || !matches(rule.value, taint.value) ||
          !matches(rule.effect, taint.effect)) {
        continue;
      }
      return "taint " + taint.key + (taint.value.empty() ? "" : "=" + taint.value) + ":" +
             taint.effect;
    }
  }
  for (const ConditionMatch& rule : rules.conditions) {
    for (const NodeCondition& condition : node.conditions) {
      if (rule.type == condition.type && rule.status == condition.status) {
        return "condition " + condition.type + "=" + condition.status;
      }
    }
  }
  for (const LabelMatch& rule : rules.labels) {
    const auto value = node.labels.At(rule.key);
    if (value && matches(rule.value, *value)) {
      return "label " + rule.key + "=" + std::string(*value);
    }
  }
  if (rules.known_signals) {
    if (auto signal = HealthSignal(node)) return *std::move(signal);
  }
  return WhyNoneAllocatable(spec, node);
}

bool Offers(const NodeFacts& node, std::string_view name) {
  const auto some = [name](const Resources& amounts) {
    const auto found = amounts.find(std::string(name));
    return found != amounts.end() && found->second > 0;
  };
  return some(node.allocatable) || some(node.capacity);
}

// The one name that counts: the first that all nodes with such devices offer, one that the Fabric
// names before the others; "" if the nodes have none in common, and each counts.
std::string_view CountedNeuronName(const FabricSpec& spec, const SharedList<NodeFacts>& nodes) {
  std::array<std::string_view, 3> names = kNeuronNames;
  const std::vector<std::string>& more = spec.accelerator_resources;
  std::stable_partition(names.begin(), names.end(), [&more](std::string_view name) {
    return std::find(more.begin(), more.end(), name) != more.end();
  });
  std::array<bool, 3> common = {true, true, true};
  for (const NodeFacts& node : nodes) {
    std::array<bool, 3> here = {};
    for (std::size_t i = 0; i < names.size(); ++i) here[i] = Offers(node, names[i]);
    if (here == std::array<bool, 3>{}) continue;
    for (std::size_t i = 0; i < names.size(); ++i) common[i] = common[i] && here[i];
  }
  const auto first = std::find(common.begin(), common.end(), true);
  return first == common.end() ? "" : names[static_cast<std::size_t>(first - common.begin())];
}

// Orders nodes by all properties of a taint class, with taints in the node's order.
struct TaintClassLess {
  bool operator()(const NodeFacts* a, const NodeFacts* b) const {
    if (a->unschedulable != b->unschedulable) return b->unschedulable;
    if (a->device_access != b->device_access) return a->device_access < b->device_access;
    return std::lexicographical_compare(a->taints.begin(), a->taints.end(), b->taints.begin(),
                                        b->taints.end(), [](const Taint& x, const Taint& y) {
                                          return std::tie(x.key, x.value, x.effect) <
                                                 std::tie(y.key, y.value, y.effect);
                                        });
  }
};

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
    if (selector ? Matches(*selector, node)
                 : HasAccelerator(node, fabric_.spec_.accelerator_resources)) {
      source_.push_back(by_name[n]);
      candidates_.push_back(&node);
    }
  }
  return {};
}

Status FabricBuilder::GroupNodes() {
  const FabricSpec& spec = fabric_.spec_;
  groups_ = GroupByLevels(spec, candidates_);
  if (spec.torus) {
    places_ = PlaceInTorus(spec, candidates_, groups_);
    DropIncomplete(groups_.incomplete, groups_.unlabelled);
  }
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
  std::vector<std::uint32_t> order;
  for (std::uint32_t n = 0; n < candidates_.size(); ++n) {
    if (!groups_.aside[n]) order.push_back(n);
  }
  // Stable sorts from the narrowest tier to the widest, so the widest tier is the primary key.
  if (nested_) SortByGroup(scale_up_, LeastNodes(scale_up_, order), order);
  for (std::size_t l = groups_.levels.size(); l-- > 0;) {
    const Groups& level = groups_.levels[l];
    SortByGroup(level, LeastNodes(level, order), order);
  }
  order_ = ByNode<std::uint32_t>(std::move(order));
}

TierInfo& FabricBuilder::AddTier(const std::string& name, const Link& link) {
  fabric_.domains_.emplace_back();
  return fabric_.tiers_.emplace_back(TierInfo{name, link});
}

void FabricBuilder::FillTiers() {
  const NodeIndex count = order_.EndIndex();
  AddTier("outside", links_.outside);
  fabric_.domains_.back() = {.begin = {NodeIndex{0}, count},
                             .child_begin = {},
                             .of_node = ByNode<DomainIndex>(count),
                             .names = {"outside"}};
  const FabricSpec& spec = fabric_.spec_;
  for (std::size_t l = 0; l < spec.levels.size(); ++l) {
    AddTier(spec.levels[l].name, links_.levels[l]).power_watts = spec.levels[l].power_watts;
    fabric_.limits_power_ = fabric_.limits_power_ || spec.levels[l].power_watts.has_value();
    FillDomains(groups_.levels[l]);
  }
  fabric_.scale_up_link_ = links_.scale_up;
  fabric_.node_link_ = links_.node;
  if (spec.scale_up) FillScaleUp();
  AddTier("node", links_.node);
  TierDomains& nodes = fabric_.domains_.back();
  nodes.begin.resize(order_.size() + 1);
  std::iota(nodes.begin.begin(), nodes.begin.end(), NodeIndex{0});
  for (const NodeIndex n : order_.Indices()) nodes.of_node.push_back(AsDomain(n));
  // The first child of a domain is the one with the domain's first node.
  for (Tier tier{0}; tier + 1 < fabric_.domains_.EndIndex(); ++tier) {
    TierDomains& domains = fabric_.domains_[tier];
    const TierDomains& children = fabric_.domains_[tier + 1];
    for (NodeIndex begin : domains.begin) {
      domains.child_begin.push_back(begin < count ? children.of_node[begin] : children.EndIndex());
    }
  }
}

// Fills the last tier with the groups as runs in tree order.
void FabricBuilder::FillDomains(const Groups& groups) {
  TierDomains& domains = fabric_.domains_.back();
  domains.of_node.resize(order_.size());
  std::uint32_t last = kNoGroup;
  for (const NodeIndex n : order_.Indices()) {
    const std::uint32_t group = groups.of_node[order_[n]];
    if (group != last) {
      domains.begin.push_back(n);
      domains.names.push_back(groups.names[group]);
      last = group;
    }
    domains.of_node[n] = domains.begin.EndIndex() - 1;
  }
  domains.begin.push_back(order_.EndIndex());
}

void FabricBuilder::FillScaleUp() {
  if (nested_) {
    AddTier(fabric_.spec_.scale_up->name, links_.scale_up);
    FillDomains(scale_up_);
    fabric_.nested_scale_up_ = Tier::Of(fabric_.tiers_.size()) - 1;
    return;
  }
  AddPlane(fabric_.spec_.scale_up->name, links_.scale_up, scale_up_);
  fabric_.planes_.back().scale_up = true;
}

// The domains are numbered by their first node in tree order.
void FabricBuilder::AddPlane(const std::string& name, const Link& link, const Groups& groups) {
  Plane& plane = fabric_.planes_.emplace_back(Plane{name, link, false, {}, {}});
  constexpr DomainIndex kNone{~0U};
  std::vector<DomainIndex> number(groups.names.size(), kNone);
  for (std::uint32_t n : order_) {
    DomainIndex& domain = number[groups.of_node[n]];
    if (domain == kNone) {
      domain = plane.EndIndex();
      plane.names.push_back(groups.names[groups.of_node[n]]);
    }
    plane.of_node.push_back(domain);
  }
}

void FabricBuilder::FillPlanes() {
  const std::vector<PlaneSpec>& specs = fabric_.spec_.planes;
  for (std::size_t p = 0; p < specs.size(); ++p) {
    AddPlane(specs[p].name, links_.planes[p],
             GroupByLabel(specs[p].label_key, candidates_, groups_.aside));
  }
  if (fabric_.planes_.empty()) return;
  fabric_.plane_class_ = fabric_.planes_.front().of_node;
  for (std::size_t p = 1; p < fabric_.planes_.size(); ++p) {
    std::map<std::pair<DomainIndex, DomainIndex>, DomainIndex> number;
    for (const NodeIndex n : order_.Indices()) {
      const std::pair both(fabric_.plane_class_[n], fabric_.planes_[p].of_node[n]);
      const auto next = DomainIndex::Of(number.size());
      fabric_.plane_class_[n] = number.emplace(both, next).first->second;
    }
  }
}

Status FabricBuilder::FillTorus() {
  if (!fabric_.spec_.torus) return {};
  const TorusSpec& spec = *fabric_.spec_.torus;
  fabric_.torus_tier_ = spec.level.empty() ? kOutside : *fabric_.FindTier(spec.level);
  fabric_.torus_link_ = links_.torus;
  const TierDomains& toruses = fabric_.domains_[fabric_.torus_tier_];
  std::vector<TorusShape> shapes;
  const auto dimensions = DimensionsOfShapes(spec);
  for (const auto& one : dimensions) shapes.emplace_back(one);
  std::vector<std::uint32_t> shape_of;
  if (!order_.empty()) shape_of = ShapesOfDomains(spec, toruses.names.Items());
  for (std::uint32_t& shape : shape_of) {  // entries of the spec with equal sizes are one shape
    const auto first = std::find(dimensions.begin(), dimensions.end(), dimensions[shape]);
    shape = static_cast<std::uint32_t>(first - dimensions.begin());
  }
  std::int64_t places_in_all = 0;
  for (const std::uint32_t shape : shape_of) places_in_all += shapes[shape].volume();
  if (places_in_all > kTorusPlacesInAll) {
    return Invalid("spec.torus: " + std::to_string(toruses.size()) + " domains of the level have " +
                   std::to_string(places_in_all) + " places together, which is more than " +
                   std::to_string(kTorusPlacesInAll));
  }
  ByNode<TorusPlace> places;
  for (const std::uint32_t n : order_) places.push_back(places_[n]);
  ByNode<std::uint32_t> torus_of;
  for (const DomainIndex d : toruses.of_node) torus_of.push_back(d.Raw());
  fabric_.torus_.emplace(std::move(shapes), std::move(shape_of), std::move(torus_of),
                         std::move(places));
  fabric_.absent_toruses_ = AbsentDomainsOfShapes(spec, toruses.names.Items());
  return {};
}

void FabricBuilder::FillNodes() {
  const std::size_t count = order_.size();
  fabric_.name_rank_.resize(count);
  fabric_.by_name_.resize(count);
  std::vector<std::uint32_t> rank_of_candidate(candidates_.size(), 0);
  std::uint32_t rank = 0;
  for (std::size_t n = 0; n < candidates_.size(); ++n) {
    if (!groups_.aside[n]) rank_of_candidate[n] = rank++;
  }
  fabric_.nodes_.reserve(count);
  for (const NodeIndex n : order_.Indices()) {
    fabric_.nodes_.push_back(nodes_.Share(source_[order_[n]]));
    fabric_.name_rank_[n] = rank_of_candidate[order_[n]];
    fabric_.by_name_[fabric_.name_rank_[n]] = n;
  }
  fabric_.incomplete_ = std::move(groups_.incomplete);
  fabric_.unlabelled_kinds_ = std::move(groups_.unlabelled);
  fabric_.inconsistencies_ = std::move(groups_.inconsistencies);
}

void FabricBuilder::FillRails() {
  if (!fabric_.spec_.rails) return;
  const int full = fabric_.spec_.rails->count;
  fabric_.rails_.assign(order_.size(), full);
  if (groups_.rails.empty()) return;
  for (const NodeIndex n : order_.Indices()) {
    fabric_.rails_[n] = groups_.rails[order_[n]];
    fabric_.any_degraded_ = fabric_.any_degraded_ || fabric_.rails_[n] < full;
  }
}

void FabricBuilder::FillResources() {
  std::unordered_set<std::string_view> seen;  // only looked up; the list is sorted below
  for (const NodeFacts& node : fabric_.nodes_) {
    for (const Resources* amounts : {&node.allocatable, &node.capacity}) {
      for (const auto& [name, amount] : *amounts) {
        if (seen.insert(name).second) fabric_.resources_.push_back(name);
      }
    }
  }
  std::sort(fabric_.resources_.begin(), fabric_.resources_.end());
  const std::size_t columns = fabric_.resources_.size();
  const std::string_view neuron = CountedNeuronName(fabric_.spec_, fabric_.nodes_);
  for (const std::string& name : fabric_.resources_) {
    const bool again = !neuron.empty() && name != neuron && IsNeuronName(name);
    fabric_.accelerator_resource_.push_back(
        !again && IsAcceleratorResource(name, fabric_.spec_.accelerator_resources));
  }
  fabric_.allocatable_.assign(order_.size() * columns, 0);
  fabric_.accelerators_.assign(order_.size(), 0);
  for (const NodeIndex n : order_.Indices()) {
    ResourceIndex r;  // both lists are sorted by name
    for (const auto& [name, amount] : fabric_.node(n).allocatable) {
      while (fabric_.resources_[r] != name) ++r;
      fabric_.allocatable_[n.Raw() * columns + r.Raw()] = amount;
      if (!fabric_.accelerator_resource_[r]) continue;
      fabric_.accelerators_[n] = SaturatingAdd(fabric_.accelerators_[n], amount);
    }
  }
  FillCapacity();
  fabric_.accelerators_before_.assign(1, 0);
  for (std::int64_t count : fabric_.accelerators_) {
    fabric_.accelerators_before_.push_back(
        SaturatingAdd(fabric_.accelerators_before_.back(), count));
  }
}

void FabricBuilder::FillCapacity() {
  const auto some = [](const NodeFacts& node) { return !node.capacity.empty(); };
  if (std::none_of(fabric_.nodes_.begin(), fabric_.nodes_.end(), some)) return;
  fabric_.capacity_ = fabric_.allocatable_;
  const std::size_t columns = fabric_.resources_.size();
  for (const NodeIndex n : order_.Indices()) {
    for (const auto& [name, amount] : fabric_.node(n).capacity) {
      const ResourceIndex r = *fabric_.FindResource(name);
      fabric_.capacity_[n.Raw() * columns + r.Raw()] = amount;
    }
  }
}

// Of one unit of the accelerators of a node, whose pool is known.
double FabricBuilder::PeakWatts(NodeIndex n) const {
  if (!options_.peak_watts) return 0;
  const double whole = options_.peak_watts(WholeProduct(fabric_.pools_[fabric_.pool_[n]].product));
  // Of several kinds of parts (MIG, strategy mixed) each counts alike: together they are the GPUs.
  const double gpus = LabelledGpus(fabric_.node(n));
  const auto units = static_cast<double>(fabric_.accelerators(n));
  if (gpus > 0 && gpus < units) return whole * gpus / units;
  const NodeFacts& node = fabric_.node(n);
  const std::vector<std::string>& more = fabric_.spec_.accelerator_resources;
  const auto parts = PartsOf(node, more);
  double share = 1;
  for (const auto& [resource, amount] : node.allocatable) {
    if (amount <= 0 || !IsAcceleratorResource(resource, more)) continue;
    const auto part = parts.find(resource);
    if (part == parts.end() || part->second.compute == Partition::kUnknown) return whole;
    share = std::min(share, part->second.compute);
  }
  return whole * share;
}

void FabricBuilder::FillPools() {
  constexpr double kNotYet = -1;
  ByNode<Pool> pools = PoolsOf(fabric_.nodes_, fabric_.spec_);
  std::map<Pool, PoolIndex> index;
  ByNode<const PoolIndex*> of_node;
  for (Pool& pool : pools) {
    of_node.push_back(&index.try_emplace(std::move(pool), PoolIndex{0}).first->second);
  }
  for (auto& [pool, at] : index) {
    at = fabric_.pools_.EndIndex();
    fabric_.pools_.push_back(pool);
  }
  fabric_.peak_watts_.assign(fabric_.pools_.size(), kNotYet);
  const std::size_t columns = fabric_.resources_.size();
  fabric_.pool_offers_.assign(fabric_.pools_.size() * columns, 0);
  for (const NodeIndex n : order_.Indices()) {
    const PoolIndex pool = *of_node[n];
    fabric_.pool_.push_back(pool);
    if (fabric_.peak_watts_[pool] == kNotYet) fabric_.peak_watts_[pool] = PeakWatts(n);
    for (ResourceIndex r : fabric_.resources_.Indices()) {
      if (fabric_.capacity(n, r) > 0) fabric_.pool_offers_[pool.Raw() * columns + r.Raw()] = 1;
    }
  }
}

void FabricBuilder::FillUsable() {
  fabric_.unusable_why_.reserve(order_.size());
  for (const NodeFacts& node : fabric_.nodes_) {
    fabric_.unusable_why_.push_back(WhyUnusable(fabric_.spec_, node));
  }
}

void FabricBuilder::FillTaintClasses() {
  using Classes = std::map<const NodeFacts*, std::uint32_t, TaintClassLess>;
  std::map<std::string_view, Classes> classes;  // by unusable_why
  for (const NodeIndex n : order_.Indices()) {
    const auto next = static_cast<std::uint32_t>(fabric_.taint_classes_.size());
    const auto [entry, added] =
        classes[fabric_.unusable_why(n)].try_emplace(&fabric_.node(n), next);
    if (added) fabric_.taint_classes_.push_back(n);
    fabric_.taint_class_.push_back(entry->second);
  }
}

void FabricBuilder::FillPathCodes() {
  PathCodes codes = CodePaths(fabric_.domains_, fabric_.node_count());
  fabric_.path_codes_ = std::move(codes.of_node);
  fabric_.parting_tier_ = codes.parting_tier;
}

// Here, and not in fabric.cc: the fabric does not know its builder.
Result<Fabric> Fabric::Build(FabricSpec spec, SharedList<NodeFacts> nodes, Options options) {
  return FabricBuilder(std::move(spec), std::move(nodes), std::move(options)).Run();
}

}  // namespace weft::fabric
