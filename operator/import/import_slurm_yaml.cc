#include "operator/import/import_slurm_yaml.h"

#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "operator/api/json_reader.h"
#include "operator/import/import_text.h"
#include "operator/import/slurm_domains.h"
#include "operator/import/slurm_torus.h"
#include "operator/manifest/locate.h"
#include "operator/manifest/reader.h"

namespace weft::import {
namespace {

using api::Field;
using nlohmann::json;

constexpr std::size_t kNamesShown = 20;

// The keys of the lists in which a plug-in names its domains.
struct DomainKeys {
  const char *list, *name, *children;  // for blocks, which have no children, `name` again
};
constexpr DomainKeys kTree = {"switches", "switch", "children"};
constexpr DomainKeys kBlock = {"blocks", "block", "block"};

class TopologyFile {
 public:
  TopologyFile(const json& document, const manifest::Source& source, const ImportOptions& options)
      : source_(source),
        options_(options),
        decoding_(document, source.name),
        skipped_(source.name) {}

  Result<ImportedCluster> Read(const std::string& name) {
    const Field root = decoding_.Root();
    const bool single = root.present() && root.json()->is_object();  // Slurm accepts one map too
    if (!single && (!root.present() || !root.json()->is_array())) {
      root.Fail("must be a list of topologies");
      return decoding_.status().error();
    }
    const std::vector<Field> topologies = single ? std::vector{root} : root.Items();
    Result<Field> chosen = Choose(topologies, name);
    if (!chosen) return Placed(chosen.error());
    Result<ImportedCluster> cluster = ReadTopology(*chosen);
    if (!decoding_.status()) return decoding_.status().error();
    if (!cluster) return skipped_.FirstOr(Placed(cluster.error()));
    if (topologies.size() > 1) {
      cluster->notes.insert(cluster->notes.begin(),
                            "reads topology " + Quoted((*chosen)["topology"].Str()) + " of " +
                                Names() + "; --topology chooses another");
    }
    return skipped_.Judge(*std::move(cluster));
  }

 private:
  Error Placed(const Error& error) const {
    if (!decoding_.status()) return decoding_.status().error();
    return Invalid(source_.name + ": " + error.message);
  }

  std::string Names() const {
    std::string list;
    for (std::size_t i = 0; i < names_.size() && i < kNamesShown; ++i) {
      list += (i == 0 ? "" : ", ") + Quoted(names_[i]);
    }
    if (names_.size() <= kNamesShown) return list;
    return list + " and " + std::to_string(names_.size() - kNamesShown) + " more";
  }

  Result<Field> Choose(const std::vector<Field>& topologies, const std::string& name) {
    const Field *called = nullptr, *by_default = nullptr;
    std::set<std::string> seen;
    for (const Field& topology : topologies) {
      const Field key = topology["topology"];
      names_.push_back(key.Require().Str());
      if (decoding_.failed()) return decoding_.status().error();
      if (!seen.insert(names_.back()).second) {
        return AtField(key, Quoted(names_.back()) + " is the name of two topologies");
      }
      if (names_.back() == name) called = &topology;
      if (topology["cluster_default"].Bool() && by_default == nullptr) by_default = &topology;
    }
    if (decoding_.failed()) return decoding_.status().error();
    if (topologies.empty()) return Invalid("has no topology");
    if (called != nullptr) return *called;
    if (!name.empty()) {
      return Invalid("has no topology " + Quoted(name) + ", which --topology names; it has " +
                     Names());
    }
    if (by_default != nullptr) return *by_default;
    if (topologies.size() == 1) return topologies.front();
    return Invalid(
        "has " + std::to_string(topologies.size()) +
        " topologies and none with cluster_default: choose one with --topology: " + Names());
  }

  Result<ImportedCluster> ReadTopology(const Field& topology) {
    topology.RefuseUnknown(
        {"topology", "cluster_default", "block", "flat", "ring", "torus3d", "tree"});
    const Result<std::string> plugin = PluginOf(topology);
    if (!plugin) return plugin.error();
    const Field config = topology[*plugin];
    if (*plugin == "tree") return ReadDomains(config, kTree);
    if (*plugin == "block") return ReadBlocks(config);
    if (*plugin == "ring") return ReadSlurmRings(decoding_, config, options_);
    if (*plugin == "torus3d") return ReadSlurmToruses(decoding_, config, options_);
    return ReadFlat(config);
  }

  // The one plug-in that the topology sets. Slurm's own output also has the others, with empty
  // values.
  Result<std::string> PluginOf(const Field& topology) {
    std::string found;
    for (const char* plugin : {"tree", "block", "ring", "torus3d", "flat"}) {
      const Field config = topology[plugin];
      if (!config.present() || *config.json() == false) continue;
      if (config.json()->is_object() && config.json()->empty()) {
        if (std::string_view(plugin) != "flat" || !found.empty()) continue;
      }
      if (!found.empty()) return AtField(config, "the topology already has the plug-in " + found);
      found = plugin;
    }
    if (!found.empty()) return found;
    return AtField(topology["topology"],
                   "the topology has none of tree, block, ring, torus3d and flat");
  }

  Result<ImportedCluster> ReadDomains(const Field& config, const DomainKeys& keys) {
    SlurmDomains domains(skipped_);
    for (const Field& item : config[keys.list].Require().Items()) {
      item.RefuseUnknown({keys.name, "nodes", keys.children});
      const Status status = ReadDomain(item, keys, domains);
      if (!status) return status.error();
    }
    return domains.Finish(config.path() + ": ", options_);
  }

  // A list that cannot be read is left out.
  Status ReadDomain(const Field& item, const DomainKeys& keys, SlurmDomains& domains) {
    const Field name = item[keys.name], children = item[keys.children], nodes = item["nodes"];
    const std::string text = name.Require().Str();
    // Slurm prints an absent list as "".
    const std::string child_list = keys.children == keys.name ? "" : children.Str();
    const std::string node_list = nodes.Str();
    if (decoding_.failed()) return decoding_.status();
    const auto keep = [&](const Status& status, const Field& field) {
      if (!status) skipped_.SkipLine(field.path(), status.error().message);
      return static_cast<bool>(status);
    };
    if (!keep(domains.Begin(text, item.path()), name)) return {};
    if (keep(domains.AddChildren(child_list, children.path()), children) &&
        keep(domains.AddNodes(node_list, item.path()), nodes)) {
      skipped_.CountRead();
    }
    return {};
  }

  Result<ImportedCluster> ReadBlocks(const Field& config) {
    config.RefuseUnknown({"block_sizes", "blocks"});
    std::string sizes;
    for (const Field& size : config["block_sizes"].Items()) {
      sizes += (sizes.empty() ? "block_sizes " : ", ") + std::to_string(size.Int({.min = 1}));
    }
    Result<ImportedCluster> cluster = ReadDomains(config, kBlock);
    if (!cluster) return cluster;
    const std::vector<std::string> notes = NotesOnBlocks(sizes);
    cluster->notes.insert(cluster->notes.begin(), notes.begin(), notes.end());
    return cluster;
  }

  Result<ImportedCluster> ReadFlat(const Field& config) {
    if (config.json()->is_object()) {
      config.RefuseUnknown({"alpha_step_rank"});
    } else {
      config.Bool();
    }
    ImportedCluster cluster = BuildTree({}, {}, options_);
    cluster.notes = {
        "a flat topology names no nodes: only a Fabric without levels is written; the Nodes come "
        "from the cluster",
        kNoLinksNote};
    return cluster;
  }

  const manifest::Source& source_;
  const ImportOptions& options_;
  api::Decoding decoding_;
  SkippedLines skipped_;
  std::vector<std::string> names_;
};

}  // namespace

bool HasTopologyKey(std::string_view text) {
  constexpr std::string_view kKey = "topology";
  Lines lines(text);
  while (lines.Next()) {
    std::string_view line = lines.line();
    line.remove_prefix(std::min(line.find_first_not_of(" \t-[{\""), line.size()));
    if (!line.starts_with(kKey)) continue;
    line.remove_prefix(kKey.size());
    if (line.starts_with('"')) line.remove_prefix(1);
    if (Trim(line).starts_with(':')) return true;
  }
  return false;
}

Result<ImportedCluster> ImportSlurmYaml(const manifest::Source& source, const std::string& name,
                                        const ImportOptions& options) {
  const Result<json> document = manifest::ReadDocument(source);
  if (!document) return document.error();
  auto cluster = TopologyFile(*document, source, options).Read(name);
  if (cluster) {
    for (std::string& one : cluster->warnings) one = manifest::WithLine({source}, one);
    return cluster;
  }
  return Error{cluster.error().kind, manifest::WithLine({source}, cluster.error().message)};
}

}  // namespace weft::import
