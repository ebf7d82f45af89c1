#include "operator/import/slurm_torus.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "operator/fabric/torus.h"
#include "operator/import/import_text.h"
#include "operator/import/import_tree.h"

namespace weft::import {
namespace {

using api::Field;

constexpr std::size_t kAxes = fabric::kTorusDimensions;
constexpr std::array<const char*, kAxes> kAxisKeys = {"x", "y", "z"};
constexpr std::array<const char*, kAxes> kAxisLabels = {"weft.dev/torus-x", "weft.dev/torus-y",
                                                        "weft.dev/torus-z"};
constexpr const char* kLevel = "leaf";
constexpr std::size_t kNodesOfARing = 16;  // MAX_RING_SIZE of Slurm

using Sizes = std::array<std::uint32_t, kAxes>;  // or a place: x, y, z

std::uint64_t Volume(const Sizes& sizes) { return std::uint64_t{sizes[0]} * sizes[1] * sizes[2]; }

std::string Show(const Sizes& sizes) {
  return std::to_string(sizes[0]) + " x " + std::to_string(sizes[1]) + " x " +
         std::to_string(sizes[2]);
}

// Reads {x, y, z}; invalid values become `least`.
Sizes ReadSizes(const Field& field, std::uint32_t least) {
  field.Require().RefuseUnknown({"x", "y", "z"});
  Sizes sizes{};
  for (std::size_t axis = 0; axis < kAxes; ++axis) {
    const Field value = field[kAxisKeys[axis]];
    if (field.present()) value.Require();
    sizes[axis] = static_cast<std::uint32_t>(
        value.Int({.min = least, .max = fabric::kTorusSizeAtMost}, least));
  }
  return sizes;
}

// The toruses of one size, by the labels of their domains.
struct SameSize {
  Sizes sizes{};
  std::vector<std::string> domains;
};

// The nodes of toruses, each with its place.
class Toruses {
 public:
  // Toruses with `axes` dimensions.
  Toruses(std::size_t axes, const api::Decoding& decoding, const ImportOptions& options)
      : axes_(axes), decoding_(decoding), options_(options) {}

  Status ReadTorus(const Field& item) {
    item.RefuseUnknown({"name", "dims", "nodes", "regions", "placements"});
    const Field regions = item["regions"], nodes = item["nodes"];
    if (Status named = Begin(item["name"]); !named) return named;
    const Sizes sizes = ReadSizes(item["dims"], 1);
    if (decoding_.failed()) return decoding_.status();
    if (Status fits = CheckSizes(item["dims"], sizes); !fits) return fits;
    placements_ = placements_ || item["placements"].present();
    if (nodes.present() && regions.present()) {
      return AtField(regions, "must be absent where nodes are given");
    }
    if (nodes.present()) return PutNodes(nodes, {}, sizes);
    for (const Field& region : regions.Items()) {
      if (Status read = ReadRegion(region); !read) return read;
    }
    return decoding_.status();
  }

  Status ReadRing(const Field& item) {
    item.RefuseUnknown({"ring", "nodes"});
    const Field nodes = item["nodes"];
    if (Status named = Begin(item["ring"]); !named) return named;
    const std::string list = nodes.Require().Str();
    if (decoding_.failed()) return decoding_.status();
    auto names = ExpandHostList(list, kMaxImportedNodes);
    if (!names) return AtField(nodes, names.error().message);
    if (names->size() > kNodesOfARing) {
      return AtField(nodes, "names " + std::to_string(names->size()) +
                                " nodes; a ring may have at most " + std::to_string(kNodesOfARing));
    }
    sizes_ = {static_cast<std::uint32_t>(names->size()), 1, 1};
    toruses_.emplace_back(name_, sizes_);
    taken_.assign(names->size(), false);
    return PutNodes(nodes, {}, sizes_);
  }

  Result<ImportedCluster> Finish(const Field& config) {
    if (nodes_.empty()) return AtField(config, "names no node");
    fabric::TorusSpec torus = SpecOf(DomainLabels(nodes_));
    if (torus.shapes.size() > fabric::kMostTorusShapes) {
      return AtField(config, "has toruses of too many sizes: they need " +
                                 std::to_string(torus.shapes.size()) +
                                 " entries of torus.shapes, and a Fabric may have " +
                                 std::to_string(fabric::kMostTorusShapes));
    }
    ImportedCluster cluster = BuildTree({{kLevel, "weft.dev/leaf"}}, std::move(nodes_), options_);
    cluster.fabric.torus = std::move(torus);
    return cluster;
  }

  bool placements() const { return placements_; }

 private:
  // The size of most toruses (on a tie, the first of the file) is that of the dimensions; shapes
  // name the other toruses. `labels`: of toruses with nodes, by name.
  fabric::TorusSpec SpecOf(const std::map<std::string, std::string>& labels) const {
    std::vector<SameSize> all;
    for (const auto& torus : toruses_) {
      const auto label = labels.find(torus.first);
      if (label == labels.end()) continue;
      const auto& sizes = torus.second;
      auto same = std::find_if(all.begin(), all.end(),
                               [&](const SameSize& one) { return one.sizes == sizes; });
      if (same == all.end()) same = all.insert(all.end(), {sizes, {}});
      same->domains.push_back(label->second);
    }
    const auto most = std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return a.domains.size() < b.domains.size();
    });
    fabric::TorusSpec torus;
    torus.level = kLevel;
    for (std::size_t axis = 0; axis < axes_; ++axis) {
      torus.dimensions.push_back({kAxisLabels[axis], most->sizes[axis], true});
    }
    for (auto same = all.begin(); same != all.end(); ++same) {
      if (same != most) AddShape(*same, torus);
    }
    return torus;
  }

  void AddShape(const SameSize& same, fabric::TorusSpec& torus) const {
    const auto axes = static_cast<std::ptrdiff_t>(axes_);
    for (std::size_t d = 0; d < same.domains.size(); ++d) {
      if (d % fabric::kMostDomainsOfShape == 0) {
        torus.shapes.push_back({{}, {same.sizes.begin(), same.sizes.begin() + axes}, {}});
      }
      torus.shapes.back().domains.push_back(same.domains[d]);
    }
  }

  Status Begin(const Field& name) {
    name_ = name.Require().Str();
    if (decoding_.failed()) return decoding_.status();
    const auto [seen, fresh] = names_.emplace(name_, name.path());
    if (fresh && !name_.empty()) return {};
    return AtField(name, fresh ? "the name is empty"
                               : Quoted(name_) + " is already defined in " + seen->second);
  }

  Status CheckSizes(const Field& dims, const Sizes& sizes) {
    if (Volume(sizes) > kMaxImportedNodes) {
      return AtField(
          dims, Show(sizes) + " has more than " + std::to_string(kMaxImportedNodes) + " places");
    }
    sizes_ = sizes;
    toruses_.emplace_back(name_, sizes);
    taken_.assign(Volume(sizes), false);
    return {};
  }

  Status ReadRegion(const Field& region) {
    region.RefuseUnknown({"anchor", "dims", "nodes"});
    const Sizes anchor = ReadSizes(region["anchor"], 0), sizes = ReadSizes(region["dims"], 1);
    const Field nodes = region["nodes"];
    nodes.Require().Str();
    if (decoding_.failed()) return decoding_.status();
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      if (anchor[axis] + sizes[axis] > sizes_[axis]) {
        return AtField(region, "reaches out of the torus along " + std::string(kAxisKeys[axis]) +
                                   ", which has " + std::to_string(sizes_[axis]) + " places");
      }
    }
    return PutNodes(nodes, anchor, sizes);
  }

  // Puts one node at each place of the box, x fastest.
  Status PutNodes(const Field& field, const Sizes& anchor, const Sizes& sizes) {
    const std::string list = field.Str();
    if (decoding_.failed()) return decoding_.status();
    auto names = ExpandHostList(list, kMaxImportedNodes - nodes_.size());
    if (!names) return AtField(field, names.error().message);
    if (names->size() != Volume(sizes)) {
      return AtField(field, "names " + std::to_string(names->size()) + " nodes for the " +
                                std::to_string(Volume(sizes)) + " places of " + Show(sizes));
    }
    for (std::uint32_t i = 0; i < names->size(); ++i) {
      const Sizes place = {anchor[0] + i % sizes[0], anchor[1] + i / sizes[0] % sizes[1],
                           anchor[2] + i / sizes[0] / sizes[1]};
      if (Status put = Put(field, (*names)[i], place); !put) return put;
    }
    return {};
  }

  Status Put(const Field& field, const std::string& node, const Sizes& place) {
    const auto [seen, fresh] = node_path_.emplace(LowerCase(node), field.path());
    if (!fresh) {
      return AtField(field, "node " + Quoted(node) + " is already in " + seen->second);
    }
    const std::size_t flat = (place[2] * sizes_[1] + place[1]) * sizes_[0] + place[0];
    if (taken_[flat]) {
      return AtField(field,
                     "node " + Quoted(node) + " has the same place as a node of another region");
    }
    taken_[flat] = true;
    TreeNode tree_node{node, {name_}};
    for (std::size_t axis = 0; axis < axes_; ++axis) {
      tree_node.labels[kAxisLabels[axis]] = std::to_string(place[axis]);
    }
    nodes_.push_back(std::move(tree_node));
    return {};
  }

  const std::size_t axes_;
  const api::Decoding& decoding_;
  const ImportOptions& options_;
  std::string name_;  // of the current torus
  Sizes sizes_{};
  std::vector<bool> taken_;  // places of the current torus
  std::map<std::string, std::string> names_, node_path_;
  std::vector<TreeNode> nodes_;
  std::vector<std::pair<std::string, Sizes>> toruses_;  // by name, as in the file
  bool placements_ = false;
};

}  // namespace

Error AtField(const Field& field, const std::string& what) {
  return Invalid(field.path() + ": " + what);
}

Result<ImportedCluster> ReadSlurmToruses(const api::Decoding& decoding, const Field& config,
                                         const ImportOptions& options) {
  config.RefuseUnknown({"toruses"});
  Toruses toruses(kAxes, decoding, options);
  for (const Field& item : config["toruses"].Require().Items()) {
    if (Status read = toruses.ReadTorus(item); !read) return read.error();
  }
  if (decoding.failed()) return decoding.status().error();
  auto cluster = toruses.Finish(config);
  if (cluster && toruses.placements()) {
    cluster->notes.insert(cluster->notes.begin(),
                          "placements only say which boxes Slurm may give a job: Weft takes any");
  }
  return cluster;
}

Result<ImportedCluster> ReadSlurmRings(const api::Decoding& decoding, const Field& config,
                                       const ImportOptions& options) {
  config.RefuseUnknown({"rings"});
  Toruses toruses(1, decoding, options);
  for (const Field& item : config["rings"].Require().Items()) {
    if (Status read = toruses.ReadRing(item); !read) return read.error();
  }
  if (decoding.failed()) return decoding.status().error();
  return toruses.Finish(config);
}

}  // namespace weft::import
