#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "operator/api/encode.h"
#include "operator/manifest/imported_cluster.h"
#include "operator/manifest/writer.h"

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

  // By the one encoder of Fabrics: there are few of them, and text that is made value by value
  // costs nothing beside 100,000 nodes.
  void WriteFabric(const fabric::FabricSpec& spec) {
    api::Fabric fabric;
    fabric.meta.key.name = spec.name;
    fabric.spec = spec;
    out_ += "---\n" + ToYaml(api::EncodeFabric(fabric));
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
