#include "operator/render/fabric_text.h"

#include <algorithm>
#include <map>

#include "operator/render/node_ranges.h"
#include "operator/render/table.h"

namespace weft::render {

namespace {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;

constexpr std::size_t kMostListed = 20;  // incomplete or unusable nodes named one by one

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
  for (Tier t = 0; t < fabric.tiers().size(); ++t) {
    const fabric::TierInfo& tier = fabric.tiers()[t];
    const fabric::Link& link = t == fabric.node_tier() ? fabric.node_link() : tier.link;
    table.Add(
        {{Printable(tier.name)},
         {Grouped(t == fabric.node_tier() ? fabric.node_count() : fabric.domains(t).size())},
         {link.type.empty() ? "-" : Printable(link.type)},
         {RateText(link.bandwidth_per_gpu)},
         {std::to_string(link.oversubscription_percent) + " %"},
         {SourceName(link.source),
          link.source == fabric::BandwidthSource::kAssumed ? Colour::kYellow : Colour::kNone}});
  }
  return table.Show(options.colour);
}

class Tree {
 public:
  Tree(const decide::ClusterFabric& cluster, const TextOptions& options, const TreeOptions& tree)
      : fabric_(*cluster.fabric), claims_(cluster.claims), options_(options), tree_(tree) {}

  std::string Show() {
    if (fabric_.node_count() == 0) return "";
    text_ = Line(fabric::kOutside, 0, 0, "") + "\n";
    Visit(fabric::kOutside, 0, 1);
    return text_;
  }

 private:
  struct Count {
    NodeIndex nodes = 0;
    std::int64_t total = 0, free = 0;
  };

  Count CountIn(Tier tier, DomainIndex domain) const {
    const auto& begin = fabric_.domains(tier).begin;
    Count count;
    for (NodeIndex n = begin[domain]; n < begin[domain + 1]; ++n) {
      ++count.nodes;
      count.total += fabric_.accelerators(n);
      count.free += std::max<std::int64_t>(0, claims_.free_accelerators(n));
    }
    return count;
  }

  std::string Name(Tier tier, DomainIndex domain) const {
    if (tier == fabric::kOutside) return fabric_.spec().name;
    if (tier == fabric_.node_tier()) return fabric_.node(domain).name;
    return fabric_.domains(tier).names[domain];
  }

  // "  spine-1: 64 nodes, 118/512 GPUs free".
  std::string Line(Tier tier, DomainIndex domain, std::size_t depth,
                   const std::string& more) const {
    const Count count = CountIn(tier, domain);
    std::string line = std::string(2 * depth, ' ') + Printable(Name(tier, domain)) + more + ": ";
    if (tier != fabric_.node_tier()) line += Counted(count.nodes, "node") + ", ";
    const std::string free = Grouped(count.free) + "/" + Grouped(count.total) + " GPUs free";
    const Colour colour = count.free == 0             ? Colour::kRed
                          : count.free == count.total ? Colour::kGreen
                                                      : Colour::kNone;
    return line + Paint(free, colour, options_.colour);
  }

  void Visit(Tier tier, DomainIndex domain, std::size_t depth) {
    const Tier child = tier + 1;
    if (child == fabric_.node_tier() && !tree_.nodes) return Ranges(tier, domain, depth);
    if (child > fabric_.node_tier()) return;
    const auto& begin = fabric_.domains(tier).child_begin;
    for (DomainIndex d = begin[domain]; d < begin[domain + 1]; ++d) {
      text_ += Line(child, d, depth, "") + "\n";
      Visit(child, d, depth + 1);
    }
  }

  // The nodes of one narrowest domain: ranges by what is free.
  void Ranges(Tier tier, DomainIndex domain, std::size_t depth) {
    const auto& begin = fabric_.domains(tier).begin;
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::string>> by_free;
    for (NodeIndex n = begin[domain]; n < begin[domain + 1]; ++n) {
      by_free[{-std::max<std::int64_t>(0, claims_.free_accelerators(n)), fabric_.accelerators(n)}]
          .push_back(fabric_.node(n).name);
    }
    for (const auto& [free, names] : by_free) {
      const std::string lead = std::string(2 * depth, ' ') + Grouped(-free.first) + "/" +
                               Grouped(free.second) + " free: ";
      text_ += Wrap(lead, Printable(NodeRanges(names)), lead.size(), options_.columns);
    }
  }

  const fabric::Fabric& fabric_;
  const fabric::Claims& claims_;
  const TextOptions& options_;
  const TreeOptions& tree_;
  std::string text_;
};

std::string Listed(const std::string& title, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string text = title + " (" + Grouped(static_cast<std::int64_t>(lines.size())) + "):\n";
  const std::size_t shown = std::min(lines.size(), kMostListed);
  for (std::size_t i = 0; i < shown; ++i) text += "  " + lines[i] + "\n";
  if (shown < lines.size()) {
    text += "  and " + Grouped(static_cast<std::int64_t>(lines.size() - shown)) + " more\n";
  }
  return text;
}

}  // namespace

std::string FabricTree(const decide::ClusterFabric& cluster, const TextOptions& options,
                       const TreeOptions& tree) {
  const fabric::Fabric& fabric = *cluster.fabric;
  std::string text =
      Paint("Fabric " + Printable(fabric.spec().name), Colour::kBold, options.colour);
  text += (cluster.recognised ? " (recognised from the nodes' labels)" : "") + std::string("\n");
  text += LinkTable(fabric, options) + "\n" + Tree(cluster, options, tree).Show();
  std::vector<std::string> incomplete, unusable;
  for (const fabric::IncompleteNode& node : fabric.incomplete()) {
    incomplete.push_back(Printable(node.node + ": no " + node.missing + " (" + node.label_key +
                                   ")" + (node.why.empty() ? "" : ": " + node.why)));
  }
  for (NodeIndex n = 0; n < fabric.node_count(); ++n) {
    if (fabric.usable(n)) continue;
    unusable.push_back(Printable(fabric.node(n).name + ": " + fabric.unusable_why(n)));
  }
  return text + Listed("Incomplete nodes, never used", incomplete) +
         Listed("Unusable nodes", unusable);
}

}  // namespace weft::render
