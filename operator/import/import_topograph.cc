#include "operator/import/import_topograph.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "operator/api/json_text.h"
#include "operator/import/import_slurm.h"
#include "operator/import/import_text.h"
#include "operator/import/import_tree.h"
#include "operator/manifest/locate.h"
#include "operator/manifest/reader.h"

namespace weft::import {
namespace {

using nlohmann::json;
using Labels = std::map<std::string, std::string>;

constexpr const char* kDomainLabel = "accelerator.topograph.run/domain";
constexpr const char* kSubDomainLabel = "accelerator.topograph.run/sub-domain";
constexpr int kGpusPerTray = 4;  // NVIDIA GB200 NVL72: 18 compute trays of 4 GPUs
constexpr const char* kTierLabel = "fabric.topograph.run/tier-";

std::string Item(const std::string& path, std::size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

// A string, or an unquoted number as text.
Result<std::string> Text(const json& value, const std::string& place) {
  if (value.is_string() && !value.get_ref<const std::string&>().empty()) {
    return value.get<std::string>();
  }
  if (value.is_number_integer()) return api::JsonText(value);
  return Invalid(place + ": " + Quoted(api::JsonText(value)) + " must be a name");
}

// The member `key` of an object; `empty` if it is absent or null.
Result<json> Member(const json& object, const char* key, const json& empty,
                    const std::string& place) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return empty;
  if (found->type() != empty.type()) {
    return Invalid(place + "." + key + ": must be " + (empty.is_array() ? "a list" : "a map"));
  }
  return *found;
}

class ModelReader {
 public:
  ModelReader(const std::string& source, const ImportOptions& options)
      : source_(source), options_(options) {}

  Result<ImportedCluster> Read(const json& model) {
    if (!model.is_object()) return Invalid(source_ + ": must be a map with switches and blocks");
    for (const auto& [key, unused] : model.items()) {
      if (key != "switches" && key != "blocks") {
        return Invalid(source_ + ": " + Quoted(key) +
                       ": unknown field; a topograph model has "
                       "switches and blocks");
      }
    }
    const Result<json> switches = Member(model, "switches", json::object(), source_ + ": model");
    if (!switches) return switches.error();
    for (const auto& [name, value] : switches->items()) {
      if (Status status = ReadSwitch(name, value); !status) return status.error();
    }
    const Result<json> blocks = Member(model, "blocks", json::array(), source_ + ": model");
    if (!blocks) return blocks.error();
    for (std::size_t i = 0; i < blocks->size(); ++i) {
      Status status = ReadBlock((*blocks)[i], source_ + ": " + Item("blocks", i));
      if (!status) return status.error();
    }
    return Finish();
  }

 private:
  Status ReadSwitch(const std::string& name, const json& value) {
    const std::string place = source_ + ": switches." + name;
    if (name.empty() || !value.is_object()) {
      return Invalid(place + ": must be a map, and its name must not be empty");
    }
    const Result<json> labels = Member(value, "labels", json::object(), place);
    if (!labels) return labels.error();
    const std::string labels_place = place + ".labels.";
    for (const auto& [key, label] : labels->items()) {
      Result<std::string> text = Text(label, labels_place + key);
      if (!text) return text.error();
      switch_labels_[name][key] = label_names_.Shorten(*text);
    }
    const Result<json> children = Member(value, "switches", json::array(), place);
    if (!children) return children.error();
    const SwitchTree::Index parent = tree_.Intern(name);
    for (std::size_t i = 0; i < children->size(); ++i) {
      Result<std::string> child = Text((*children)[i], Item(place + ".switches", i));
      if (!child) return child.error();
      tree_.Link(parent, tree_.Intern(*child));
    }
    return {};
  }

  Status ReadBlock(const json& block, const std::string& place) {
    if (!block.is_object()) return Invalid(place + ": must be a map");
    if (!block.contains("switch")) return Invalid(place + ".switch: is missing");
    Result<std::string> name = Text(block["switch"], place + ".switch");
    if (!name) return name.error();
    Result<Labels> labels = BlockLabels(block, place);
    if (!labels) return labels.error();
    const Result<json> lists = Member(block, "nodes", json::array(), place);
    if (!lists) return lists.error();
    const SwitchTree::Index at = tree_.Intern(*name);
    for (std::size_t i = 0; i < lists->size(); ++i) {
      const std::string item = Item(place + ".nodes", i);
      Result<std::string> list = Text((*lists)[i], item);
      if (!list) return list.error();
      auto nodes = ExpandHostList(*list, kMaxImportedNodes - node_place_.size());
      if (!nodes) return Invalid(item + ": " + nodes.error().message);
      for (const std::string& node : *nodes) {
        const auto [seen, fresh] = node_place_.emplace(LowerCase(node), item);
        if (!fresh)
          return Invalid(item + ": node " + Quoted(node) + " is already in " + seen->second);
        node_labels_[node] = *labels;
        tree_.Attach(node, at);
      }
    }
    return {};
  }

  Result<Labels> BlockLabels(const json& block, const std::string& place) {
    const Result<json> annotations = Member(block, "annotations", json::object(), place);
    if (!annotations) return annotations.error();
    Labels labels;
    const std::string annotations_place = place + ".annotations.";
    for (const auto& [key, value] : annotations->items()) {
      const bool domain = key == "accelerator.topology.test/domain";
      if (!domain && key != "accelerator.topology.test/sub-domain") continue;
      Result<std::string> text = Text(value, annotations_place + key);
      if (!text) return text.error();
      labels[domain ? kDomainLabel : kSubDomainLabel] = label_names_.Shorten(*text);
    }
    return labels;
  }

  Result<ImportedCluster> Finish() {
    Result<SwitchTree::Paths> paths = tree_.Resolve();
    if (!paths) return Invalid(source_ + ": switches: " + paths.error().message);
    if (paths->nodes.empty()) return Invalid(source_ + ": blocks: the model has no nodes");
    std::size_t without_domain = 0;
    for (TreeNode& node : paths->nodes) {
      node.labels = std::move(node_labels_[node.name]);
      if (!node.labels.contains(kDomainLabel)) ++without_domain;
      for (auto name = node.path.rbegin(); name != node.path.rend(); ++name) {
        const auto labels = switch_labels_.find(*name);
        if (labels != switch_labels_.end()) {
          node.labels.insert(labels->second.begin(), labels->second.end());
        }
      }
    }
    const std::size_t count = paths->nodes.size();
    const std::string trays = GuessTrays(paths->nodes);
    std::vector<TreeLevel> levels;
    for (const std::string& name : PortableLevelNames(paths->depth)) {
      levels.push_back({name, kTierLabel + std::to_string(paths->depth - 1 - levels.size())});
    }
    std::vector<std::string> notes = NotesOn(*paths);
    ImportedCluster cluster = BuildTree(levels, std::move(paths->nodes), options_);
    if (without_domain < count) {
      cluster.fabric.scale_up = fabric::ScaleUpSpec{"nvlink", kDomainLabel, {}, {}};
      cluster.fabric.scale_up->requires_claim = fabric::ScaleUpRequires::kNothing;
      if (without_domain > 0) {
        notes.push_back(std::to_string(without_domain) +
                        " nodes are in no accelerator domain: each is its own");
      }
    }
    if (!trays.empty()) notes.insert(notes.begin(), trays);
    cluster.notes.insert(cluster.notes.begin(), notes.begin(), notes.end());
    return cluster;
  }

  // An accelerator domain of several nodes is taken as a rack of trays with four GPUs each. Returns
  // a note about it, or "".
  std::string GuessTrays(std::vector<TreeNode>& nodes) const {
    std::map<std::string, std::size_t> sizes;
    for (const TreeNode& node : nodes) {
      const auto domain = node.labels.find(kDomainLabel);
      if (domain != node.labels.end()) ++sizes[domain->second];
    }
    std::size_t largest = 0;
    for (const auto& [domain, size] : sizes) largest = std::max(largest, size);
    if (options_.gpus_per_node || largest < 2) return "";
    for (TreeNode& node : nodes) node.gpus = kGpusPerTray;
    return "accelerator domains hold up to " + std::to_string(largest) +
           " nodes: each node is given " + std::to_string(kGpusPerTray) + " " +
           options_.resource_name +
           ", as a tray of a GB200 NVL72 rack has; --gpus-per-node sets another number";
  }

  const std::string& source_;
  const ImportOptions& options_;
  SwitchTree tree_;
  LabelNames label_names_;
  std::map<std::string, Labels> switch_labels_;
  std::map<std::string, Labels> node_labels_;
  std::map<std::string, std::string> node_place_;
};

}  // namespace

bool LooksLikeTopograph(std::string_view text) {
  return HasAny(text, {"switches:", "blocks:", "\"switches\""}) && !LooksLikeSlurm(text);
}

Result<ImportedCluster> ImportTopograph(const nlohmann::json& model, const std::string& source,
                                        const ImportOptions& options) {
  return ModelReader(source, options).Read(model);
}

Result<ImportedCluster> ImportTopographText(const manifest::Source& source,
                                            const ImportOptions& options) {
  const auto model = manifest::ReadDocument(source);
  if (!model) return model.error();
  auto cluster = ImportTopograph(*model, source.name, options);
  if (cluster) return cluster;
  return Error{cluster.error().kind, manifest::WithLine({source}, cluster.error().message)};
}

}  // namespace weft::import
