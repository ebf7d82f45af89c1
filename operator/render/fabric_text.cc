#include "operator/render/fabric_text.h"

#include <algorithm>
#include <map>

#include "operator/cluster/pool_choices.h"
#include "operator/fabric/torus_shapes.h"
#include "operator/render/domain_count.h"
#include "operator/render/node_ranges.h"
#include "operator/render/table.h"

namespace weft::render {

namespace {

using fabric::NodeIndex;
using fabric::Tier;

constexpr std::size_t kMostReasons = 10;  // for which nodes are listed
constexpr std::size_t kMostLines = 4;     // of names for one reason

const char* SourceName(fabric::BandwidthSource source) {
  switch (source) {
    case fabric::BandwidthSource::kDeclared:
      return "declared";
    case fabric::BandwidthSource::kKnownType:
      return "known type";
    case fabric::BandwidthSource::kAssumed:
      return "assumed";
  }
  return "";
}

std::string LinkTable(const fabric::Fabric& fabric, const TextOptions& options) {
  Table table({{"LEVEL", Align::kLeft},
               {"DOMAINS", Align::kRight},
               {"LINK", Align::kLeft},
               {"PER GPU", Align::kRight},
               {"OVERSUBSCRIBED", Align::kRight},
               {"BANDWIDTH", Align::kLeft}});
  const auto add = [&](const std::string& name, std::size_t domains, const fabric::Link& link) {
    table.Add(
        {{Printable(name)},
         {Grouped(static_cast<std::int64_t>(domains))},
         {link.type.empty() ? "-" : Printable(link.type)},
         {RateText(link.bandwidth_per_gpu)},
         {std::to_string(link.oversubscription_percent) + " %"},
         {SourceName(link.source),
          link.source == fabric::BandwidthSource::kAssumed ? Colour::kYellow : Colour::kNone}});
  };
  for (Tier t{0}; t < fabric.node_tier(); ++t) {
    add(fabric.tiers()[t].name, fabric.domains(t).size(), fabric.tiers()[t].link);
  }
  for (const fabric::Plane& plane : fabric.planes()) add(plane.name, plane.size(), plane.link);
  if (const fabric::Torus* torus = fabric.torus()) {
    add(fabric.spec().torus->name, torus->count(), fabric.torus_link());
  }
  add(fabric.tiers().back().name, fabric.node_count(), fabric.node_link());
  return table.Show(options.colour);
}

// "8 x 10 x 28"; with `open`, which becomes the labels along which the torus does not wrap.
std::string SizesText(const std::vector<fabric::TorusDimension>& dimensions, std::string& open) {
  std::string sizes;
  for (const fabric::TorusDimension& dimension : dimensions) {
    sizes += (sizes.empty() ? "" : " x ") + std::to_string(dimension.size);
    if (!dimension.wraps) open += (open.empty() ? "" : ", ") + dimension.label_key;
  }
  return sizes;
}

// ", except pod-[3-4] (8 x 8 x 16) and ring-1 (16 x 1 x 1)"; "" if all toruses have one shape.
std::string OtherShapes(const fabric::TorusSpec& spec, const TextOptions& options) {
  const auto dimensions = fabric::DimensionsOfShapes(spec);
  std::string text, open_else;
  SizesText(spec.dimensions, open_else);
  for (std::size_t s = 0; s < spec.shapes.size(); ++s) {
    std::string open;
    const std::string sizes = SizesText(dimensions[s + 1], open);
    text += s == 0 ? ", except " : s + 1 == spec.shapes.size() ? " and " : ", ";
    text += ShortRanges(spec.shapes[s].domains, static_cast<std::size_t>(options.columns)) + " (" +
            sizes;
    if (!open.empty()) text += ", does not wrap along " + open;
    text += open.empty() && !open_else.empty() ? ", wraps)" : ")";
  }
  return text;
}

// "Each spine is a torus of 8 x 10 x 28 nodes. A byte pays the torus link once for each hop."
std::string TorusLine(const fabric::Fabric& fabric, const TextOptions& options) {
  if (fabric.torus() == nullptr) return "";
  const fabric::TorusSpec& spec = *fabric.spec().torus;
  std::string open;
  const std::string sizes = SizesText(spec.dimensions, open);
  std::string text = spec.level.empty() ? "The nodes are" : "Each " + spec.level + " is";
  text += " a torus of " + sizes + " nodes";
  if (!open.empty()) text += " that does not wrap along " + open;
  text += OtherShapes(spec, options);
  text += ". A byte pays the " + spec.name + " link once for each hop.";
  return Wrap("", Printable(text), 0, options.columns);
}

// Whether the pool also has accelerators of another vendor, so that its product does not tell
// which.
bool OffersOfOthers(const fabric::Fabric& fabric, fabric::PoolIndex pool,
                    const std::string& resource) {
  const std::string vendor = resource.substr(0, resource.find('/') + 1);
  for (fabric::ResourceIndex r{0}; r < fabric.resources().EndIndex(); ++r) {
    const bool other = !fabric.resources()[r].starts_with(vendor);
    if (other && fabric.IsAccelerator(r) && fabric.PoolOffers(pool, r)) return true;
  }
  return false;
}

// A table of pools and their resources, if the nodes have several products or capacity types.
std::string PoolTable(const cluster::ClusterFabric& cluster, const TextOptions& options) {
  const fabric::Fabric& fabric = *cluster.fabric;
  struct Figures {
    std::int64_t nodes = 0, free_nodes = 0, accelerators = 0, free = 0;
  };
  using Kind = std::pair<fabric::PoolIndex, fabric::ResourceIndex>;
  std::map<Kind, Figures> figures;
  for (const NodeIndex n : Range<NodeIndex>(fabric.node_count())) {
    for (fabric::ResourceIndex r{0}; r < fabric.resources().EndIndex(); ++r) {
      const std::int64_t offered = fabric.allocatable(n, r);
      if (!fabric.IsAccelerator(r) || fabric.capacity(n, r) == 0) continue;
      Figures& of = figures[{fabric.pool(n), r}];
      ++of.nodes;
      of.accelerators += offered;
      if (StateOf(fabric, n) != NodeState::kTakesPods) continue;
      of.free += std::max<std::int64_t>(0, cluster.claims.free(n, r));
      of.free_nodes += cluster.claims.wholly_free(n) ? 1 : 0;
    }
  }
  Table table({{"PRODUCT", Align::kLeft},
               {"NODES", Align::kRight},
               {"FREE", Align::kRight},
               {"ACCELERATORS", Align::kRight},
               {"FREE", Align::kRight}});
  // A row for all slices of one kind.
  std::map<std::pair<fabric::Pool, fabric::ResourceIndex>, std::vector<fabric::PoolIndex>> rows;
  for (const auto& [of, count] : figures) {
    fabric::Pool kind = fabric.pools()[of.first];
    if (!kind.slice.empty()) kind.slice = "any";
    if (count.accelerators > 0) rows[{std::move(kind), of.second}].push_back(of.first);
  }
  const std::size_t offering = rows.size();
  for (const auto& [kind, pools] : rows) {
    Figures sum;
    for (const fabric::PoolIndex p : pools) {
      const Figures& of = figures[{p, kind.second}];
      sum.nodes += of.nodes;
      sum.free_nodes += of.free_nodes;
      sum.accelerators += of.accelerators;
      sum.free += of.free;
    }
    const std::string& resource = fabric.resources()[kind.second];
    std::string name = cluster::PoolsText(fabric, pools, resource);
    if (OffersOfOthers(fabric, pools.front(), resource)) name += " (" + resource + ")";
    table.Add({{Printable(name)},
               {Grouped(sum.nodes)},
               {Grouped(sum.free_nodes)},
               {Grouped(sum.accelerators)},
               {Grouped(sum.free)}});
  }
  if (offering == 0 ||
      (offering == 1 && fabric.pools().size() == 1 && fabric.pools().front().product.empty())) {
    return "";
  }
  return table.Show(options.colour) + "\n";
}

// Names of nodes by the reason for which they are listed.
using ByReason = std::map<std::string, std::vector<std::string>>;

// "Unusable nodes (3):" and a line for each reason.
std::string Listed(const std::string& title, const ByReason& reasons, const TextOptions& options) {
  if (reasons.empty()) return "";
  std::int64_t count = 0;
  std::size_t shown = 0;
  std::string lines;
  for (const auto& [reason, names] : reasons) {
    count += static_cast<std::int64_t>(names.size());
    if (shown++ >= kMostReasons) continue;
    const auto most = static_cast<std::size_t>(std::max(options.columns, 0)) * kMostLines;
    lines += Wrap(std::string(kIndent, ' '),
                  (reason.empty() ? "" : reason + ": ") + ShortRanges(names, most), 2 * kIndent,
                  options.columns);
  }
  if (shown > kMostReasons) {
    lines +=
        "  and " + Counted(static_cast<std::int64_t>(shown - kMostReasons), "more reason") + "\n";
  }
  return title + " (" + Grouped(count) + "):\n" + lines;
}

// "7 of 8 nvidia.com/gpu are allocatable"; "" if all are.
std::string LackText(const fabric::Fabric& fabric, NodeIndex n) {
  std::string text;
  for (const auto& [resource, has] : fabric.node(n).capacity) {
    text += (text.empty() ? "" : ", ") +
            std::to_string(fabric.allocatable(n, *fabric.FindResource(resource))) + " of " +
            std::to_string(has) + " " + resource + " are allocatable";
  }
  return text;
}

std::string Absent(const fabric::Fabric& fabric, const TextOptions& options) {
  ByReason incomplete, unlabelled, unusable, cordoned, lacking;
  for (const fabric::IncompleteNode& node : fabric.incomplete()) {
    const std::string why = "no " + node.missing + " (" + node.label_key + ")" +
                            (node.why.empty() ? "" : ": " + node.why);
    incomplete[Printable(why)].push_back(Printable(node.node));
  }
  for (const fabric::UnlabelledKind& kind : fabric.unlabelled_kinds()) {
    const std::string what = kind.kind + ", no " + kind.level + " (" + kind.label_key + ")";
    for (const std::string& node : kind.nodes)
      unlabelled[Printable(what)].push_back(Printable(node));
  }
  for (const NodeIndex n : Range<NodeIndex>(fabric.node_count())) {
    const NodeState state = StateOf(fabric, n);
    const std::string name = Printable(fabric.node(n).name);
    if (state == NodeState::kUnusable) {
      unusable[Printable(fabric.unusable_why(n))].push_back(name);
    } else if (state == NodeState::kCordoned) {
      cordoned[""].push_back(name);
    } else if (const std::string lacks = LackText(fabric, n); !lacks.empty()) {
      lacking[Printable(lacks)].push_back(name);
    }
  }
  return Listed("Incomplete nodes, never used", incomplete, options) +
         Listed("Kinds of nodes without labels, each a flat pool", unlabelled, options) +
         Listed("Unusable nodes", unusable, options) +
         Listed("Nodes that offer only some of their accelerators", lacking, options) +
         Listed("Cordoned nodes", cordoned, options);
}

// The number of rails, and the nodes that lack some.
std::string Rails(const fabric::Fabric& fabric, const TextOptions& options) {
  const auto& rails = fabric.spec().rails;
  if (!rails) return "";
  std::string text = "A node has " + Counted(rails->count, "rail") + ".";
  if (!rails->leaf_label_keys.empty() && !fabric.spec().levels.empty()) {
    text += " A " + Printable(fabric.spec().levels.back().name) +
            " is a set of nodes that share most of their leaf switches.";
  }
  text = Wrap("", text, 0, options.columns);
  ByReason degraded;
  for (const NodeIndex n : Range<NodeIndex>(fabric.node_count())) {
    if (fabric.rails_of(n) == fabric.rails_full()) continue;
    degraded[std::to_string(fabric.rails_of(n)) + " of " + std::to_string(fabric.rails_full()) +
             " rails"]
        .push_back(Printable(fabric.node(n).name));
  }
  return text + Listed("Degraded nodes, whose links are slower because rails are missing", degraded,
                       options);
}

}  // namespace

std::string FabricText(const cluster::ClusterFabric& cluster, const TextOptions& options,
                       const TreeOptions& tree) {
  const fabric::Fabric& fabric = *cluster.fabric;
  std::string text =
      Paint("Fabric " + Printable(fabric.spec().name), Colour::kBold, options.colour);
  text += (cluster.recognised ? " (recognised from the nodes' labels)" : "") + std::string("\n");
  text += LinkTable(fabric, options) + TorusLine(fabric, options) + Rails(fabric, options) + "\n" +
          PoolTable(cluster, options) + DomainTree(cluster.claims, options, tree);
  const std::string absent = Absent(fabric, options);
  return absent.empty() ? text : text + "\n" + absent;
}

}  // namespace weft::render
