#include "operator/render/fabric_text.h"

#include <algorithm>
#include <map>

#include "operator/render/domain_count.h"
#include "operator/render/node_ranges.h"
#include "operator/render/table.h"

namespace weft::render {

namespace {

using fabric::NodeIndex;
using fabric::Tier;

constexpr std::size_t kIndent = 2;
constexpr std::size_t kMostReasons = 10;  // by which absent nodes are listed
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

// Nodes by why they are listed.
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

std::string Absent(const fabric::Fabric& fabric, const TextOptions& options) {
  ByReason incomplete, unusable, cordoned;
  for (const fabric::IncompleteNode& node : fabric.incomplete()) {
    const std::string why = "no " + node.missing + " (" + node.label_key + ")" +
                            (node.why.empty() ? "" : ": " + node.why);
    incomplete[Printable(why)].push_back(Printable(node.node));
  }
  for (NodeIndex n = 0; n < fabric.node_count(); ++n) {
    const NodeState state = StateOf(fabric, n);
    const std::string name = Printable(fabric.node(n).name);
    if (state == NodeState::kUnusable) {
      unusable[Printable(fabric.unusable_why(n))].push_back(name);
    } else if (state == NodeState::kCordoned) {
      cordoned[""].push_back(name);
    }
  }
  return Listed("Incomplete nodes, never used", incomplete, options) +
         Listed("Unusable nodes", unusable, options) + Listed("Cordoned nodes", cordoned, options);
}

}  // namespace

std::string FabricText(const decide::ClusterFabric& cluster, const TextOptions& options,
                       const TreeOptions& tree) {
  const fabric::Fabric& fabric = *cluster.fabric;
  std::string text =
      Paint("Fabric " + Printable(fabric.spec().name), Colour::kBold, options.colour);
  text += (cluster.recognised ? " (recognised from the nodes' labels)" : "") + std::string("\n");
  text += LinkTable(fabric, options) + "\n" + DomainTree(cluster.claims, options, tree);
  const std::string absent = Absent(fabric, options);
  return absent.empty() ? text : text + "\n" + absent;
}

}  // namespace weft::render
