#include "operator/designs/reference_design.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "operator/base/random.h"
#include "operator/designs/design.h"
#include "operator/designs/earlier_jobs.h"
#include "operator/designs/fleet_recipe.h"
#include "operator/import/import_links.h"

namespace weft::designs {
namespace {

// One family's share of a cluster.
struct Part {
  FleetRecipe recipe;
  std::string fabric_name;
  int nodes;
  // The label by which the Fabric selects its nodes; absent: it selects all nodes.
  std::optional<std::pair<std::string, std::string>> selector = {};
};

constexpr const char* kFabricLabel = "weft.dev/fabric";  // of nodes, if the Fabric has a name
constexpr std::size_t kMaxFabricName = 32;  // leaves room for the rest of a node's name

std::string Padded(int number, int largest, std::size_t least_width) {
  const std::size_t width = std::max(least_width, std::to_string(largest).size());
  std::string digits = std::to_string(number);
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  return digits;
}

int DomainCount(int nodes, int nodes_each) {
  return nodes_each == 0 ? 1 : (nodes + nodes_each - 1) / nodes_each;
}

// "7b968a6d-c8aa-45e1-9e07-e1e51be99c31.32766": ClusterUUID.CliqueID, as the driver reports for a
// rack with one clique. The UUID (version 4 in form) is fixed by the rack's number.
std::string CliqueOf(int rack) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr std::string_view kForm = "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx";
  SplitMix64 random(static_cast<std::uint64_t>(rack));
  std::string clique;
  for (const char c : kForm) {
    if (c == 'x') {
      clique += kDigits[random.Below(16)];
    } else {
      clique += c == 'y' ? kDigits[8 + random.Below(4)] : c;
    }
  }
  return clique + ".32766";
}

// In designs with racks the rack is in the name: gb200-r01-t07. In other designs nodes are numbered
// consecutively.
std::string NodeName(const FleetRecipe& recipe, int index, int nodes) {
  const int rack = recipe.nodes_per_clique;
  if (!recipe.clique_in_name) return recipe.node_prefix + Padded(index + 1, nodes, 3);
  return recipe.node_prefix + "r" + Padded(index / rack + 1, DomainCount(nodes, rack), 2) + "-t" +
         Padded(index % rack + 1, rack, 2);
}

std::string RailLabel(int rail) { return "weft.dev/rail-" + std::to_string(rail); }

// The number of the node's domain within its level. If a pod is not a multiple of the narrower
// level's domain (127 nodes, domains of 32), each pod starts a new domain.
int DomainOf(const FleetRecipe& recipe, std::size_t level, int index) {
  const int each = recipe.levels[level].nodes_each;
  if (each == 0) return 0;
  const int wider = level == 0 ? 0 : recipe.levels[level - 1].nodes_each;
  if (wider == 0) return index / each;
  return index / wider * DomainCount(wider, each) + index % wider / each;
}

constexpr std::array<const char*, 3> kTorusLabels = {"weft.dev/torus-x", "weft.dev/torus-y",
                                                     "weft.dev/torus-z"};

fabric::TorusSpec TorusOf(const FleetRecipe& recipe) {
  fabric::TorusSpec torus;
  for (std::size_t d = 0; d < kTorusLabels.size(); ++d) {
    const int size = recipe.torus->cube[d] * recipe.torus->cubes[d];
    torus.dimensions.push_back({kTorusLabels[d], static_cast<std::uint32_t>(size), true});
  }
  torus.level = recipe.levels.front().name;
  torus.link = recipe.torus->link;
  return torus;
}

// The place of a node, from its number within its torus.
std::array<int, 3> PlaceOf(const RecipeTorus& torus, int index) {
  int in_cube = index % (torus.cube[0] * torus.cube[1] * torus.cube[2]);
  int cube = index / (torus.cube[0] * torus.cube[1] * torus.cube[2]);
  std::array<int, 3> place{};
  for (std::size_t d = 0; d < 3; ++d) {
    place[d] = cube % torus.cubes[d] * torus.cube[d];
    cube /= torus.cubes[d];
  }
  for (std::size_t d = 3; d-- > 0;) {
    place[d] += in_cube % torus.cube[d];
    in_cube /= torus.cube[d];
  }
  return place;
}

class Cluster {
 public:
  explicit Cluster(const DesignOptions& options) : options_(options), random_(options.seed) {}

  import::ImportedCluster Build(const std::vector<Part>& parts){
      for (const Part& part:parts){if (part.nodes > 0) AddFleet(part);
} std::sort(cluster_.nodes.begin(), cluster_.nodes.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
return std::move(cluster_);
}  // namespace

private:
void AddFleet(const Part& part) {
  const FleetRecipe& recipe = part.recipe;
  const int gpus =
      options_.gpus_per_node > 0 ? options_.gpus_per_node : recipe.design.gpus_per_node;
  fabric::FabricSpec fabric = FabricOf(recipe);
  fabric.name = part.fabric_name;
  if (part.selector) fabric.node_selector = fabric::LabelSelector{{*part.selector}, {}};
  if (cluster_.nodes.empty()) {
    cluster_.fabric = std::move(fabric);
  } else {
    cluster_.more_fabrics.push_back(std::move(fabric));
  }
  Fleet fleet{{}, recipe.resource, gpus};
  for (int i = 0; i < part.nodes; ++i) {
    cluster_.nodes.push_back(NodeOf(recipe, i, part.nodes, gpus));
    fleet.nodes.push_back(cluster_.nodes.back().name);
  }
  const std::string prefix = part.selector ? "earlier-" + part.fabric_name : "earlier";
  auto pods = EarlierJobs(fleet, options_.fragmented_percent, prefix, random_);
  cluster_.pods.insert(cluster_.pods.end(), pods.begin(), pods.end());
}

fabric::FabricSpec FabricOf(const FleetRecipe& recipe) const {
  fabric::FabricSpec fabric;
  fabric.accelerators = options_.accelerators;
  for (const RecipeLevel& level : recipe.levels) {
    fabric.levels.push_back({level.name, level.label_key, fabric::Identity::kValue, level.link});
  }
  if (options_.geometry.rack_watts > 0) {
    fabric.levels.back().power_watts = options_.geometry.rack_watts;
  }
  fabric.accelerator_model = recipe.accelerator_model;
  fabric.outside = recipe.outside;
  fabric.node_link = recipe.node_link;
  if (recipe.torus) fabric.torus = TorusOf(recipe);
  if (recipe.rails > 0) fabric.rails = fabric::RailsSpec{recipe.rails, {}};
  for (int rail = 0; recipe.rail_labels && rail < recipe.rails; ++rail) {
    fabric.rails->leaf_label_keys.push_back(RailLabel(rail));
  }
  if (recipe.nodes_per_clique > 0) {
    fabric.scale_up = fabric::ScaleUpSpec{"nvlink", "nvidia.com/gpu.clique", recipe.node_link,
                                          fabric::ScaleUpRequires::kComputeDomain};
  }
  return fabric;
}

static fabric::NodeFacts NodeOf(const FleetRecipe& recipe, int index, int nodes, int gpus) {
  fabric::NodeFacts node = import::MakeNode(NodeName(recipe, index, nodes), recipe.resource, gpus);
  for (const auto& [key, value] : recipe.labels) node.labels.Set(key, value);
  if (!recipe.count_label.empty()) node.labels.Set(recipe.count_label, std::to_string(gpus));
  for (std::size_t l = 0; l < recipe.levels.size(); ++l) {
    const RecipeLevel& level = recipe.levels[l];
    node.labels.Set(level.label_key,
                    level.domain_prefix + Padded(DomainOf(recipe, l, index) + 1,
                                                 DomainOf(recipe, l, nodes - 1) + 1, 2));
  }
  // A rail has its own leaf switch in each domain of the narrowest level.
  for (int rail = 0; recipe.rail_labels && rail < recipe.rails; ++rail) {
    const std::string leaf(*node.labels.At(recipe.levels.back().label_key));
    node.labels.Set(RailLabel(rail), leaf + "-rail-" + std::to_string(rail));
  }
  if (recipe.nodes_per_clique > 0) {
    node.labels.Set("nvidia.com/gpu.clique", CliqueOf(index / recipe.nodes_per_clique));
  }
  if (recipe.torus) {
    const auto place = PlaceOf(*recipe.torus, index % recipe.levels.front().nodes_each);
    for (std::size_t d = 0; d < kTorusLabels.size(); ++d) {
      node.labels.Set(kTorusLabels[d], std::to_string(place[d]));
    }
  }
  return node;
}

const DesignOptions& options_;
SplitMix64 random_;
import::ImportedCluster cluster_;
};  // namespace weft::designs

Result<Design> FindDesign(const std::string& name) {
  std::string known;
  for (const Design& design : Designs()) {
    if (design.name == name) return design;
    known += (known.empty() ? "" : ", ") + std::string(design.name);
  }
  return Invalid("--design: unknown design \"" + name.substr(0, 60) + "\"; known: " + known);
}

Status CheckNumbers(const DesignOptions& options) {
  for (const Status& status :
       {CheckRange("--fragmented", options.fragmented_percent, 0, 100),
        CheckRange("--gpus-per-node", options.gpus_per_node, 0, import::kMaxGpusPerNode)}) {
    if (!status) return status;
  }
  return {};
}

Status CheckFabricName(const std::string& name) {
  if (name.empty()) return {};
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (name.size() <= kMaxFabricName && plain(name.front()) && plain(name.back()) &&
      std::all_of(name.begin(), name.end(), [&](char c) { return plain(c) || c == '-'; })) {
    return {};
  }
  return Invalid("--fabric-name: \"" + name.substr(0, 60) + "\" is not a name of at most " +
                 std::to_string(kMaxFabricName) +
                 " lower-case letters, digits and, between them, hyphens");
}

Result<std::vector<Part>> PartsOfGeometry(const DesignOptions& options) {
  Geometry geometry = options.geometry;
  if (geometry.racks > 0 && options.nodes > 0) {
    return Invalid(
        "--nodes: is only for a design; with --racks the number of nodes is racks x nodes per "
        "rack");
  }
  const bool described = geometry.racks > 0 && geometry.nodes_per_rack == 0;
  if (described) geometry.nodes_per_rack = kDefaultNodesPerRack;
  if (Status good = CheckGeometry(geometry); !good) return good.error();
  return std::vector<Part>{
      {RecipeOf(geometry), "default", geometry.racks * geometry.nodes_per_rack}};
}

Result<std::vector<Part>> PartsOfDesign(const DesignOptions& options) {
  const Result<Design> design = FindDesign(options.design);
  if (!design) return design.error();
  if (Status none = CheckNoGeometry(options.geometry); !none) return none.error();
  const int nodes = options.nodes == 0 ? design->default_nodes : options.nodes;
  if (Status range = CheckRange("--nodes", nodes, 1, kMaxDesignNodes); !range) return range.error();
  const auto part = [](const char* name, const char* fabric, int count) {
    return Part{RecipeFor(name, count), fabric, count};
  };
  if (options.design != "mixed") return std::vector{part(options.design.c_str(), "default", nodes)};
  const int h100 = (nodes + 1) / 2, gb200 = nodes * 3 / 10;
  std::vector parts{part("dgx-h100-superpod", "h100", h100), part("gb200-nvl72", "gb200", gb200),
                    part("mi355x", "mi355x", nodes - h100 - gb200)};
  for (Part& one : parts) one.selector = one.recipe.labels.front();
  return parts;
}

// Gives the Fabrics, their nodes and the label that joins them the name. Several Fabrics keep their
// own names behind it.
void Rename(const std::string& name, std::vector<Part>& parts) {
  for (Part& part : parts) {
    part.fabric_name = parts.size() > 1 ? name + "-" + part.fabric_name : name;
    part.recipe.node_prefix = name + "-" + part.recipe.node_prefix;
    part.selector = {kFabricLabel, part.fabric_name};
    part.recipe.labels.push_back(*part.selector);
  }
}

}  // namespace

Result<import::ImportedCluster> GenerateDesign(const DesignOptions& options) {
  if (Status numbers = CheckNumbers(options); !numbers) return numbers.error();
  if (Status name = CheckFabricName(options.fabric_name); !name) return name.error();
  auto parts = options.design.empty() ? PartsOfGeometry(options) : PartsOfDesign(options);
  if (!parts) return parts.error();
  if (!options.fabric_name.empty()) Rename(options.fabric_name, *parts);
  import::ImportedCluster cluster = Cluster(options).Build(*parts);
  const import::ImportLinks links{options.geometry.links, {}, ""};
  if (Status added = import::AddLinks(links, cluster); !added) return added.error();
  return cluster;
}

}  // namespace weft::designs
