#include "operator/cluster/build_cluster.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "operator/cluster/accelerator_resources.h"
#include "operator/cluster/auto_compute_domain.h"
#include "operator/cluster/channel_claims.h"
#include "operator/cluster/claim_rules.h"
#include "operator/cluster/devices.h"
#include "operator/cluster/holders.h"
#include "operator/cluster/space_selectors.h"
#include "operator/cluster/text.h"
#include "operator/fabric/presets.h"
#include "operator/fabric/selector.h"
#include "operator/outlook/outlook.h"

namespace weft::cluster {
namespace {

bool SelectsNode(const fabric::FabricSpec& spec, const fabric::NodeFacts& node,
                 const std::vector<std::string>& accelerators) {
  return spec.node_selector ? fabric::Matches(*spec.node_selector, node)
                            : fabric::HasAccelerator(node, accelerators);
}

// Which of the Fabrics select which nodes. Resources that only jobs name add nodes that no Fabric
// has otherwise to the Fabrics without a selector.
class Selection {
 public:
  Selection(const api::Inputs& inputs, const SharedList<api::Node>& nodes,
            const AcceleratorNames& names)
      : inputs_(inputs), nodes_(nodes), names_(names) {}

  bool Selects(const fabric::FabricSpec& spec, const fabric::NodeFacts& node) const {
    if (SelectsNode(spec, node, names_.settled)) return true;
    if (spec.node_selector || names_.all.size() == names_.settled.size()) return false;
    if (!SelectsNode(spec, node, names_.all)) return false;
    return std::none_of(
        inputs_.fabrics.begin(), inputs_.fabrics.end(),
        [&](const api::Fabric& one) { return SelectsNode(one.spec, node, names_.settled); });
  }

  // Nodes that two Fabrics select, by name.
  std::vector<std::string> Overlapping() const {
    std::vector<std::string> names;
    if (inputs_.fabrics.size() < 2) return names;
    for (const api::Node& node : nodes_) {
      const auto selecting =
          std::count_if(inputs_.fabrics.begin(), inputs_.fabrics.end(),
                        [&](const api::Fabric& one) { return Selects(one.spec, node.facts); });
      if (selecting > 1) names.push_back(node.facts.name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  // The nodes that a Fabric selects, without those in `aside` (ascending).
  SharedList<fabric::NodeFacts> NodesOf(const fabric::FabricSpec& spec,
                                        const std::vector<std::string>& aside) const {
    return Where([&](const fabric::NodeFacts& facts) {
      return Selects(spec, facts) && !std::binary_search(aside.begin(), aside.end(), facts.name);
    });
  }

  // Those by which the family of labels is recognised.
  SharedList<fabric::NodeFacts> NodesToRecognise() const {
    const auto settled = Where(
        [&](const fabric::NodeFacts& facts) { return HasAccelerator(facts, names_.settled); });
    if (settled.size() > 0) return settled;
    return Where([&](const fabric::NodeFacts& facts) { return HasAccelerator(facts, names_.all); });
  }

 private:
  template <typename Wanted>
  SharedList<fabric::NodeFacts> Where(Wanted wanted) const {
    SharedList<fabric::NodeFacts> nodes;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      const fabric::NodeFacts& facts = nodes_[n].facts;
      if (wanted(facts)) {
        nodes.push_back(std::shared_ptr<const fabric::NodeFacts>(nodes_.Share(n), &facts));
      }
    }
    return nodes;
  }

  const api::Inputs& inputs_;
  const SharedList<api::Node>& nodes_;
  const AcceleratorNames& names_;
};

// The most that one accelerator of a product draws; 0 if the product is unknown.
auto PeakWattsOf(std::vector<fabric::AcceleratorSpec> added) {
  return [added = std::move(added)](std::string_view product) {
    const auto found = outlook::FindAccelerator(product, added);
    return found ? outlook::PeakPowerOf(*found) : 0.0;
  };
}

class Builder {
 public:
  Builder(const api::Inputs& inputs, OnBadFabric on_bad)
      : inputs_(inputs),
        nodes_(NodesWithDevices(inputs)),
        names_(NamedAcceleratorResources(inputs)),
        selection_(inputs_, nodes_, names_),
        on_bad_(on_bad) {}

  Result<Fabrics> Run() {
    fabrics_.accelerator_resources = names_.all;
    fabrics_.overlapping = selection_.Overlapping();
    if (!fabrics_.overlapping.empty()) {
      AddNote(
          Severity::kWarning, "Overlapping",
          std::to_string(fabrics_.overlapping.size()) +
              " nodes are in two Fabrics, so neither uses them: " + NameSome(fabrics_.overlapping));
    }
    const Status built = inputs_.fabrics.empty() ? BuildRecognised() : BuildGiven();
    if (!built) return built.error();
    for (const Fabrics::Built& one : fabrics_.built) NoteFabric(*one.fabric);
    return std::move(fabrics_);
  }

 private:
  void AddNote(Severity severity, std::string reason, std::string text) {
    fabrics_.notes.push_back({severity, std::move(reason), std::move(text)});
  }

  Status Add(fabric::FabricSpec spec, const std::string& place, bool recognised) {
    const std::string name = spec.name;
    if (Status known = AddAccelerators(spec, place); !known) return known;
    spec.accelerator_resources = fabrics_.accelerator_resources;
    SharedList<fabric::NodeFacts> nodes = selection_.NodesOf(spec, fabrics_.overlapping);
    fabric::Fabric::Options options;
    options.refuse_inconsistent = on_bad_ == OnBadFabric::kRefuse;
    options.peak_watts = PeakWattsOf(spec.accelerators);
    Result<fabric::Fabric> built =
        fabric::Fabric::Build(std::move(spec), std::move(nodes), std::move(options));
    if (built) {
      fabrics_.built.push_back(
          {std::make_shared<const fabric::Fabric>(*std::move(built)), recognised});
    } else if (on_bad_ == OnBadFabric::kRefuse) {
      return Error{built.error().kind, place + ": " + built.error().message};
    } else {
      fabrics_.not_built.push_back({name, built.error().message});
    }
    return {};
  }

  // Predictions of the operator use no calibration for one whose calibratedAs is wrong.
  Status AddAccelerators(fabric::FabricSpec& spec, const std::string& place) {
    if (const Status known = outlook::CheckAccelerators(spec.accelerators); !known) {
      const std::string why = place + ": spec.accelerators" + known.error().message;
      if (on_bad_ == OnBadFabric::kRefuse) return Invalid(why);
      AddNote(Severity::kWarning, "AcceleratorInvalid", why);
    }
    spec.accelerators.insert(spec.accelerators.begin(), inputs_.accelerators.begin(),
                             inputs_.accelerators.end());
    return {};
  }

  Status BuildGiven() {
    for (const api::Fabric& fabric : inputs_.fabrics) {
      fabric::FabricSpec spec = fabric.spec;
      spec.name = fabric.meta.key.name;
      if (Status added = Add(std::move(spec), fabric.place, false); !added) return added;
    }
    return {};
  }

  Status BuildRecognised() {
    fabric::FabricSpec spec;
    spec.accelerator_resources = fabrics_.accelerator_resources;
    const SharedList<fabric::NodeFacts> nodes = selection_.NodesToRecognise();
    const std::optional<std::string_view> family =
        fabric::RecognisePreset(nodes, spec.accelerator_resources);
    // GPU feature discovery writes the clique also where nothing tells of the network.
    if (!family) spec.scale_up = fabric::CliquesOf(nodes);
    if (family) {
      spec.preset = *family;
      AddNote(Severity::kInfo, "FabricRecognised",
              "no Fabric is given: the levels of fabric \"" + spec.name +
                  "\" come from the nodes' " + spec.preset + " labels");
    } else if (!inputs_.jobs.empty() || !inputs_.placements.empty()) {
      AddNote(Severity::kWarning, "FabricFlat",
              "no Fabric is given and the nodes have no topology labels that Weft knows" +
                  std::string(spec.scale_up ? " but NVLink cliques" : "") +
                  ": a flat network is assumed, where all traffic between " +
                  (spec.scale_up ? "cliques" : "nodes") + " costs the same");
    }
    return Add(std::move(spec), "no Fabric is given; levels recognised from node labels", true);
  }

  void NoteFabric(const fabric::Fabric& on) {
    const auto incomplete = on.incomplete();
    if (!incomplete.empty()) {
      std::vector<std::string> names;
      for (const auto& node : incomplete) names.push_back(node.node);
      const auto& first = incomplete.front();
      AddNote(Severity::kWarning, "Incomplete",
              "fabric \"" + on.spec().name +
                  "\": " + CountText(static_cast<std::int64_t>(incomplete.size()), "node") +
                  (incomplete.size() == 1 ? " is" : " are") +
                  " incomplete and never used: " + NameSome(names) + " (" + first.node +
                  (first.why.empty() ? " lacks the label " + first.label_key : ": " + first.why) +
                  ")");
    }
    NoteUnlabelled(on);
    if (on.crossing_scale_up() != nullptr) {
      const std::string& scale_up = on.spec().scale_up->name;
      AddNote(
          Severity::kInfo, "ScaleUpCrossesLevel",
          "fabric \"" + on.spec().name + "\": domains of " + scale_up +
              " cross the levels: they count in the cost of a placement, but a job cannot require "
              "or prefer them");
    }
    if (on.node_count() > 0 && !on.absent_toruses().empty()) {
      AddNote(Severity::kInfo, "TorusShapeUnused",
              "fabric \"" + on.spec().name + "\": " + AbsentTorusesText(on));
    }
    NotePower(on);
    if (!LinksDeclared(on) && on.node_count() > 0) {
      AddNote(
          Severity::kInfo, "LinksAssumed",
          "fabric \"" + on.spec().name +
              "\": the bandwidth of some links is assumed (LinksDeclared is False), and times and "
              "percentages depend on it");
    }
  }

  // Each of a few kinds, the largest, and the number of the others: a cluster may have hundreds of
  // instance types.
  void NoteUnlabelled(const fabric::Fabric& on) {
    constexpr std::size_t kMost = 5;
    std::vector<const fabric::UnlabelledKind*> kinds;
    for (const fabric::UnlabelledKind& kind : on.unlabelled_kinds()) kinds.push_back(&kind);
    const auto noted = kinds.begin() + static_cast<std::ptrdiff_t>(std::min(kinds.size(), kMost));
    if (noted != kinds.end()) {
      std::stable_sort(kinds.begin(), kinds.end(), [](const auto* a, const auto* b) {
        return a->nodes.size() > b->nodes.size();
      });
    }
    std::for_each(kinds.begin(), noted, [&](const auto* kind) { NoteUnlabelled(on, *kind); });
    if (noted == kinds.end()) return;
    const auto nodes = std::accumulate(noted, kinds.end(), std::int64_t{0},
                                       [](std::int64_t sum, const auto* kind) {
                                         return sum + static_cast<std::int64_t>(kind->nodes.size());
                                       });
    AddNote(Severity::kInfo, "UnlabelledKind",
            "fabric \"" + on.spec().name + "\": " + CountText(kinds.end() - noted, "more kind") +
                " of nodes, " + CountText(nodes, "node") +
                " together, lack labels too, and each is a flat pool");
  }

  void NoteUnlabelled(const fabric::Fabric& on, const fabric::UnlabelledKind& kind) {
    const auto nodes = static_cast<std::int64_t>(kind.nodes.size());
    AddNote(Severity::kInfo, "UnlabelledKind",
            "fabric \"" + on.spec().name + "\": no node of " + kind.kind + " has the label " +
                kind.label_key + " (" + kind.level + "); its " + CountText(nodes, "node") +
                (nodes == 1 ? " is" : " are") +
                " a flat pool, where all traffic between nodes costs the same: " +
                NameSome(kind.nodes));
  }

  void NotePower(const fabric::Fabric& on) {
    if (!on.limits_power()) return;
    for (const fabric::NodeIndex n : Range<fabric::NodeIndex>(on.node_count())) {
      if (on.accelerators(n) == 0 || on.peak_watts(on.pool(n)) > 0) continue;
      AddNote(Severity::kWarning, "PowerUnknown",
              "fabric \"" + on.spec().name + "\": the accelerator of node " + on.node(n).name +
                  " is unknown, so it counts as 0 W where a level has powerWatts; set "
                  "spec.acceleratorModel or spec.accelerators");
      return;
    }
  }

  const api::Inputs& inputs_;
  const SharedList<api::Node> nodes_;
  const AcceleratorNames names_;
  const Selection selection_;
  const OnBadFabric on_bad_;
  Fabrics fabrics_;
};

}  // namespace

Result<Fabrics> BuildFabrics(const api::Inputs& inputs, OnBadFabric on_bad) {
  return Builder(inputs, on_bad).Run();
}

Cluster BuildCluster(api::Inputs inputs, const Fabrics& fabrics) {
  Cluster cluster;
  ResolveDeviceClasses(inputs);
  ResolveChannelClaims(inputs);
  AskForOtherDevices(inputs);
  const std::vector<std::string> not_evaluated = LimitToClaims(inputs);
  CountClaims(inputs);
  const std::string assumed = ResolveSpaceSelectors(inputs);
  auto settled = std::make_unique<api::Inputs>(std::move(inputs));
  api::Inputs& own = *settled;
  cluster.inputs = std::move(settled);
  for (const std::string& note : cluster.inputs->notes) {
    cluster.notes.push_back({Severity::kInfo, "Ignored", note});
  }
  for (const std::string& note : not_evaluated) {
    cluster.notes.push_back({Severity::kInfo, "SelectorNotEvaluated", note});
  }
  if (!assumed.empty()) cluster.notes.push_back({Severity::kInfo, "NamespacesAssumed", assumed});
  cluster.notes.insert(cluster.notes.end(), fabrics.notes.begin(), fabrics.notes.end());
  cluster.overlapping = fabrics.overlapping;
  for (const Fabrics::Built& one : fabrics.built) {
    cluster.fabrics.emplace_back(one.fabric);
    cluster.fabrics.back().recognised = one.recognised;
  }
  SettleAutoComputeDomains(cluster, own);
  BookHolders(cluster);
  return cluster;
}

Result<Cluster> BuildCluster(api::Inputs inputs) {
  const Result<Fabrics> fabrics = BuildFabrics(inputs);
  if (!fabrics) return fabrics.error();
  return BuildCluster(std::move(inputs), *fabrics);
}

}  // namespace weft::cluster
