#include "operator/decide/cluster.h"

#include <algorithm>
#include <utility>

#include "operator/decide/holders.h"
#include "operator/decide/text.h"
#include "operator/fabric/presets.h"

namespace weft::decide {
namespace {

// Nodes named in one note; the rest are counted.
constexpr std::size_t kNamedNodes = 5;

std::string NameSome(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kNamedNodes; ++i) {
    text += (i > 0 ? ", " : "") + names[i];
  }
  if (names.size() > kNamedNodes) {
    text += " and " + std::to_string(names.size() - kNamedNodes) + " more";
  }
  return text;
}

bool Selects(const fabric::FabricSpec& spec, const fabric::NodeFacts& node) {
  return spec.node_selector ? fabric::Matches(*spec.node_selector, node)
                            : fabric::HasAccelerator(node);
}

// Nodes that two Fabrics select, by name.
std::vector<std::string> FindOverlapping(const api::Inputs& inputs) {
  std::vector<std::string> names;
  if (inputs.fabrics.size() < 2) return names;
  for (const api::Node& node : inputs.nodes) {
    const auto selecting =
        std::count_if(inputs.fabrics.begin(), inputs.fabrics.end(),
                      [&](const api::Fabric& fabric) { return Selects(fabric.spec, node.facts); });
    if (selecting > 1) names.push_back(node.facts.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// The nodes that a Fabric selects, but those in `aside` (ascending).
std::vector<fabric::NodeFacts> NodesOf(const fabric::FabricSpec& spec, const api::Inputs& inputs,
                                       const std::vector<std::string>& aside) {
  std::vector<fabric::NodeFacts> nodes;
  for (const api::Node& node : inputs.nodes) {
    if (!Selects(spec, node.facts)) continue;
    if (std::binary_search(aside.begin(), aside.end(), node.facts.name)) continue;
    nodes.push_back(node.facts);
  }
  return nodes;
}

class Builder {
 public:
  Builder(api::Inputs inputs, const ClusterOptions& options) : options_(options) {
    cluster_.inputs = std::make_unique<const api::Inputs>(std::move(inputs));
  }

  Result<Cluster> Run() {
    const api::Inputs& inputs = *cluster_.inputs;
    for (const std::string& note : inputs.notes) Say(Severity::kInfo, "Ignored", note);
    cluster_.overlapping = FindOverlapping(inputs);
    if (!cluster_.overlapping.empty()) {
      Say(Severity::kWarning, "Overlapping",
          std::to_string(cluster_.overlapping.size()) +
              " nodes are in two Fabrics and used by neither: " + NameSome(cluster_.overlapping));
    }
    const Status built = inputs.fabrics.empty() ? BuildRecognised() : BuildGiven();
    if (!built) return built.error();
    for (const ClusterFabric& on : cluster_.fabrics) NoteFabric(on);
    BookHolders(cluster_);
    return std::move(cluster_);
  }

 private:
  void Say(Severity severity, std::string reason, std::string text) {
    cluster_.notes.push_back({severity, std::move(reason), std::move(text)});
  }

  Status Add(fabric::FabricSpec spec, const std::string& place, bool recognised) {
    std::vector<fabric::NodeFacts> nodes = NodesOf(spec, *cluster_.inputs, cluster_.overlapping);
    Result<fabric::Fabric> built = fabric::Fabric::Build(
        std::move(spec), std::move(nodes), {.refuse_inconsistent = options_.refuse_inconsistent});
    if (!built) return Error{built.error().kind, place + ": " + built.error().message};
    cluster_.fabrics.emplace_back(std::make_unique<const fabric::Fabric>(*std::move(built)));
    cluster_.fabrics.back().recognised = recognised;
    return {};
  }

  Status BuildGiven() {
    for (const api::Fabric& fabric : cluster_.inputs->fabrics) {
      fabric::FabricSpec spec = fabric.spec;
      spec.name = fabric.meta.key.name;
      if (Status added = Add(std::move(spec), fabric.place, false); !added) return added;
    }
    return {};
  }

  Status BuildRecognised() {
    fabric::FabricSpec spec;
    const std::optional<std::string_view> family =
        fabric::RecognisePreset(NodesOf(spec, *cluster_.inputs, {}));
    if (family) {
      spec.preset = *family;
      Say(Severity::kInfo, "FabricRecognised",
          "no Fabric is given; the nodes carry the labels of " + spec.preset +
              ", whose levels are used as fabric \"" + spec.name + "\"");
    } else if (!cluster_.inputs->jobs.empty() || !cluster_.inputs->placements.empty()) {
      Say(Severity::kWarning, "FabricFlat",
          "no Fabric is given and the nodes carry no labels of a known family: one flat network "
          "is assumed, so only node borders count");
    }
    return Add(std::move(spec), "no Fabric is given; levels recognised from node labels", true);
  }

  void NoteFabric(const ClusterFabric& on) {
    const auto incomplete = on.fabric->incomplete();
    if (!incomplete.empty()) {
      std::vector<std::string> names;
      for (const auto& node : incomplete) names.push_back(node.node);
      const auto& first = incomplete.front();
      Say(Severity::kWarning, "Incomplete",
          "fabric \"" + on.name() +
              "\": " + CountText(static_cast<std::int64_t>(incomplete.size()), "node") +
              (incomplete.size() == 1 ? " is" : " are") +
              " incomplete and never used: " + NameSome(names) + " (" + first.node +
              (first.why.empty() ? " lacks the label " + first.label_key : ": " + first.why) + ")");
    }
    if (!on.fabric->crossing_scale_up().empty()) {
      const std::string& scale_up = on.fabric->spec().scale_up->name;
      Say(Severity::kInfo, "ScaleUpCrossesLevel",
          "fabric \"" + on.name() + "\": domains of " + scale_up +
              " cross the levels; they count for cost, but are no level that a job can name");
    }
    if (!on.LinksDeclared() && on.fabric->node_count() > 0) {
      Say(Severity::kInfo, "LinksAssumed",
          "fabric \"" + on.name() +
              "\": the bandwidth of some links is assumed (LinksDeclared is False); times and "
              "percentages rest on that assumption");
    }
  }

  ClusterOptions options_;
  Cluster cluster_;
};

}  // namespace

std::string_view SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return "info";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      return "error";
  }
  return "";
}

bool ClusterFabric::LinksDeclared() const {
  const auto assumed = [](const fabric::Link& link) {
    return link.source == fabric::BandwidthSource::kAssumed;
  };
  if (!fabric->crossing_scale_up().empty() && assumed(fabric->scale_up_link())) return false;
  return std::none_of(fabric->tiers().begin(), fabric->tiers().end(),
                      [&](const fabric::TierInfo& tier) { return assumed(tier.link); });
}

std::optional<std::size_t> Cluster::FindFabric(const std::string& name) const {
  for (std::size_t f = 0; f < fabrics.size(); ++f) {
    if (fabrics[f].name() == name) return f;
  }
  return std::nullopt;
}

Result<Cluster> BuildCluster(api::Inputs inputs, const ClusterOptions& options) {
  return Builder(std::move(inputs), options).Run();
}

bool MatchesLabels(const fabric::LabelSelector& selector,
                   const std::map<std::string, std::string>& labels) {
  for (const auto& [key, wanted] : selector.match_labels) {
    const auto found = labels.find(key);
    if (found == labels.end() || found->second != wanted) return false;
  }
  for (const fabric::SelectorExpression& expression : selector.match_expressions) {
    const auto found = labels.find(expression.key);
    const bool has = found != labels.end();
    const bool listed = has && std::find(expression.values.begin(), expression.values.end(),
                                         found->second) != expression.values.end();
    const bool holds = expression.op == "Exists"         ? has
                       : expression.op == "DoesNotExist" ? !has
                       : expression.op == "In"           ? listed
                       : expression.op == "NotIn"        ? !listed
                                                         : false;
    if (!holds) return false;
  }
  return true;
}

}  // namespace weft::decide
