#include <algorithm>
#include <string_view>

#include "operator/manifest/imported_cluster.h"

namespace weft::manifest {
namespace {

constexpr std::size_t kBytesPerNode = 700;  // typical size of a Node's text, to reserve once
constexpr const char* kPauseImage = "registry.k8s.io/pause:3.9";

bool IsAlnum(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// A double-quoted YAML scalar, which is a JSON string too; bytes of UTF-8 pass as they are.
void AppendQuoted(std::string_view text, std::string& out) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\u00";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15U];
    } else {
      out += c;
    }
  }
  out += '"';
}

// Label keys and resource names: plain where no reader can take them for anything but a string.
void AppendKey(std::string_view key, std::string& out) {
  const bool letter =
      !key.empty() && IsAlnum(key.front()) && (key.front() < '0' || key.front() > '9');
  const bool plain = letter && key.find('/') != std::string_view::npos &&
                     std::all_of(key.begin(), key.end(), [](char c) {
                       return IsAlnum(c) || c == '.' || c == '/' || c == '-' || c == '_';
                     });
  if (plain || key == "cpu" || key == "memory" || key == "pods") {
    out += key;
  } else {
    AppendQuoted(key, out);
  }
}

class Writer {
 public:
  std::string Write(const ImportedCluster& cluster) {
    out_.reserve(kBytesPerNode * (cluster.nodes.size() + cluster.pods.size()) + 4096);
    WriteFabric(cluster.fabric);
    for (const fabric::FabricSpec& fabric : cluster.more_fabrics) WriteFabric(fabric);
    std::vector<const fabric::NodeFacts*> nodes;
    for (const auto& node : cluster.nodes) nodes.push_back(&node);
    std::sort(nodes.begin(), nodes.end(), [](auto* a, auto* b) { return a->name < b->name; });
    for (const fabric::NodeFacts* node : nodes) WriteNode(*node);
    std::vector<const BusyPod*> pods;
    for (const auto& pod : cluster.pods) pods.push_back(&pod);
    std::sort(pods.begin(), pods.end(), [](auto* a, auto* b) { return a->name < b->name; });
    for (const BusyPod* pod : pods) WritePod(*pod);
    return std::move(out_);
  }

 private:
  // "<indent><key>: "<value>"".
  void Field(std::string_view start, std::string_view value) {
    out_ += start;
    AppendQuoted(value, out_);
    out_ += '\n';
  }
  void Number(std::string_view start, std::int64_t value) {
    out_ += start;
    out_ += std::to_string(value);
    out_ += '\n';
  }

  void WriteLabels(std::string_view indent, const auto& labels) {
    for (const auto& [key, value] : labels) {
      out_ += indent;
      AppendKey(key, out_);
      Field(": ", value);
    }
  }

  void WriteResources(std::string_view indent, const fabric::Resources& resources) {
    for (const auto& [name, amount] : resources) {
      out_ += indent;
      AppendKey(name, out_);
      const bool millis = name == "cpu" && amount % 1000 != 0;
      const std::int64_t whole = name == "cpu" && !millis ? amount / 1000 : amount;
      Field(": ", std::to_string(whole) + (millis ? "m" : ""));
    }
  }

  void WriteLink(std::string_view key, const std::optional<fabric::LinkSpec>& link) {
    if (!link) return;
    out_ += key;
    out_ += ": {";
    std::string_view comma;
    const auto member = [&](std::string_view name) {
      out_ += comma;
      out_ += name;
      out_ += ": ";
      comma = ", ";
    };
    if (!link->type.empty()) {
      member("type");
      AppendQuoted(link->type, out_);
    }
    if (link->bandwidth_per_gpu) {
      member("bandwidthPerGPU");
      AppendQuoted(std::to_string(*link->bandwidth_per_gpu), out_);
    }
    if (link->oversubscription_percent != 100) {
      member("oversubscriptionPercent");
      out_ += std::to_string(link->oversubscription_percent);
    }
    if (link->latency_nanoseconds) {
      member("latencyNanoseconds");
      out_ += std::to_string(*link->latency_nanoseconds);
    }
    out_ += "}\n";
  }

  void WriteFabric(const fabric::FabricSpec& fabric) {
    out_ += "---\napiVersion: weft.dev/v1alpha1\nkind: Fabric\nmetadata:\n";
    Field("  name: ", fabric.name);
    out_ += "spec:\n";
    if (!fabric.preset.empty()) Field("  preset: ", fabric.preset);
    if (fabric.node_selector) WriteSelector(*fabric.node_selector);
    if (fabric.preset.empty()) {
      out_ += fabric.levels.empty() ? "  levels: []\n" : "  levels:\n";
    }
    for (const fabric::LevelSpec& level : fabric.levels) {
      Field("  - name: ", level.name);
      Field("    labelKey: ", level.label_key);
      out_ += level.identity == fabric::Identity::kPath ? "    identity: Path\n"
                                                        : "    identity: Value\n";
      WriteLink("    link", level.link);
    }
    WriteLink("  outside", fabric.outside);
    if (fabric.scale_up) {
      Field("  scaleUp:\n    name: ", fabric.scale_up->name);
      Field("    labelKey: ", fabric.scale_up->label_key);
      WriteLink("    link", fabric.scale_up->link);
      const bool claim = fabric.scale_up->requires_claim == fabric::ScaleUpRequires::kComputeDomain;
      out_ += claim ? "    requires: ComputeDomain\n" : "    requires: Nothing\n";
    }
    WriteLink("  nodeLink", fabric.node_link);
    if (fabric.rails) {
      Number("  rails:\n    count: ", fabric.rails->count);
      if (!fabric.rails->leaf_label_keys.empty()) out_ += "    leafLabelKeys:\n";
      for (const std::string& key : fabric.rails->leaf_label_keys) Field("    - ", key);
    }
    WriteUnusable(fabric.unusable);
    if (fabric.cost_tolerance_percent != 1) {
      Number("  costTolerancePercent: ", fabric.cost_tolerance_percent);
    }
    if (!fabric.accelerator_model.empty()) {
      Field("  acceleratorModel: ", fabric.accelerator_model);
    }
  }

  void WriteSelector(const fabric::LabelSelector& selector) {
    out_ += "  nodeSelector:\n";
    out_ += selector.match_labels.empty() ? "    matchLabels: {}\n" : "    matchLabels:\n";
    WriteLabels("      ", selector.match_labels);
    if (!selector.match_expressions.empty()) out_ += "    matchExpressions:\n";
    for (const fabric::SelectorExpression& expression : selector.match_expressions) {
      Field("    - key: ", expression.key);
      Field("      operator: ", expression.op);
      if (!expression.values.empty()) out_ += "      values:\n";
      for (const std::string& value : expression.values) Field("      - ", value);
    }
  }

  void WriteUnusable(const fabric::UnusableRules& rules) {
    if (rules == fabric::UnusableRules{}) return;
    out_ += "  unusable:\n";
    if (!rules.taints.empty()) out_ += "    taints:\n";
    for (const fabric::TaintMatch& taint : rules.taints) {
      Field("    - key: ", taint.key);
      if (!taint.value.empty()) Field("      value: ", taint.value);
      if (!taint.effect.empty()) Field("      effect: ", taint.effect);
    }
    if (!rules.conditions.empty()) out_ += "    conditions:\n";
    for (const fabric::ConditionMatch& condition : rules.conditions) {
      Field("    - type: ", condition.type);
      Field("      status: ", condition.status);
    }
    if (!rules.labels.empty()) out_ += "    labels:\n";
    for (const fabric::LabelMatch& label : rules.labels) {
      Field("    - key: ", label.key);
      if (!label.value.empty()) Field("      value: ", label.value);
    }
  }

  void WriteNode(const fabric::NodeFacts& node) {
    Field("---\napiVersion: v1\nkind: Node\nmetadata:\n  name: ", node.name);
    if (!node.labels.empty()) out_ += "  labels:\n";
    WriteLabels("    ", node.labels);
    if (node.unschedulable || !node.taints.empty()) out_ += "spec:\n";
    if (node.unschedulable) out_ += "  unschedulable: true\n";
    if (!node.taints.empty()) out_ += "  taints:\n";
    for (const fabric::Taint& taint : node.taints) {
      Field("  - key: ", taint.key);
      if (!taint.value.empty()) Field("    value: ", taint.value);
      Field("    effect: ", taint.effect);
    }
    out_ += "status:\n";
    for (const std::string_view list : {"  allocatable:\n", "  capacity:\n"}) {
      out_ += list;
      WriteResources("    ", node.allocatable);
    }
    if (!node.conditions.empty()) out_ += "  conditions:\n";
    for (const fabric::NodeCondition& condition : node.conditions) {
      Field("  - type: ", condition.type);
      Field("    status: ", condition.status);
    }
  }

  void WritePod(const BusyPod& pod) {
    Field("---\napiVersion: v1\nkind: Pod\nmetadata:\n  namespace: default\n  name: ", pod.name);
    Field("spec:\n  nodeName: ", pod.node);
    Field("  containers:\n  - name: main\n    image: ", kPauseImage);
    out_ += "    resources:\n      limits:\n";
    WriteResources("        ", pod.requests);
    out_ += "      requests:\n";
    WriteResources("        ", pod.requests);
    out_ += "status:\n  phase: Running\n";
  }

  std::string out_;
};

}  // namespace

std::string WriteManifests(const ImportedCluster& cluster) { return Writer().Write(cluster); }

}  // namespace weft::manifest
