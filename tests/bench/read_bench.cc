// Reading a cluster: one List of Nodes of about 5 kB each, as kubectl prints it, to decoded
// objects.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <string>

#include "operator/manifest/inputs.h"

namespace weft {
namespace {

constexpr int kLabels = 24;
constexpr int kImages = 12;
constexpr const char* kConditions[] = {"MemoryPressure", "DiskPressure", "PIDPressure", "Ready"};

std::string Numbered(const char* prefix, int number) {
  char text[64];
  std::snprintf(text, sizeof text, "%s%05d", prefix, number);
  return text;
}

std::string Resources(const std::string& indent) {
  return indent + "cpu: \"224\"\n" + indent + "memory: 2113519664Ki\n" + indent +
         "nvidia.com/gpu: \"8\"\n" + indent + "pods: \"110\"\n";
}

std::string YamlNode(int number) {
  const std::string name = Numbered("node-", number);
  std::string text = "- apiVersion: v1\n  kind: Node\n  metadata:\n    labels:\n";
  for (int i = 0; i < kLabels; ++i) {
    text +=
        "      feature.example/" + Numbered("label-", i) + ": \"" + Numbered("value-", i) + "\"\n";
  }
  text += "      fabric.topograph.run/tier-0: " + Numbered("leaf-", number / 32) + "\n";
  text += "      kubernetes.io/hostname: " + name + "\n    name: " + name + "\n  spec:\n";
  text += "    podCIDR: 10.0.0.0/24\n  status:\n    allocatable:\n" + Resources("      ");
  text += "    capacity:\n" + Resources("      ") + "    conditions:\n";
  for (const char* type : kConditions) {
    text += "    - lastHeartbeatTime: \"2026-08-22T10:00:00Z\"\n      message: kubelet says so\n";
    text += std::string("      reason: Kubelet\n      status: \"") +
            (std::string(type) == "Ready" ? "True" : "False") + "\"\n      type: " + type + "\n";
  }
  text += "    images:\n";
  for (int i = 0; i < kImages; ++i) {
    text += "    - names:\n      - registry.example/team/" + Numbered("image-", i) +
            "@sha256:" + std::string(64, 'a') + "\n      - registry.example/team/" +
            Numbered("image-", i) + ":v1.0\n      sizeBytes: 123456789\n";
  }
  return text;
}

std::string JsonNode(int number) {
  const std::string name = Numbered("node-", number);
  const std::string resources =
      R"({"cpu": "224", "memory": "2113519664Ki", "nvidia.com/gpu": "8", "pods": "110"})";
  std::string text = R"({"apiVersion": "v1", "kind": "Node", "metadata": {"labels": {)";
  for (int i = 0; i < kLabels; ++i) {
    text += "\"feature.example/" + Numbered("label-", i) + "\": \"" + Numbered("value-", i) +
            "\",\n        ";
  }
  text += "\"fabric.topograph.run/tier-0\": \"" + Numbered("leaf-", number / 32) +
          "\"},\n      \"name\": \"" + name +
          "\"},\n    \"status\": {\"allocatable\": " + resources + ", \"capacity\": " + resources +
          ",\n      \"conditions\": [";
  for (const char* type : kConditions) {
    text += std::string(type == kConditions[0] ? "" : ",") +
            R"({"lastHeartbeatTime": "2026-08-22T10:00:00Z", "reason": "Kubelet", "status": ")" +
            (std::string(type) == "Ready" ? "True" : "False") + R"(", "type": ")" + type +
            "\"}\n        ";
  }
  text += "],\n      \"images\": [";
  for (int i = 0; i < kImages; ++i) {
    text += std::string(i == 0 ? "" : ",") + "{\"names\": [\"registry.example/team/" +
            Numbered("image-", i) + "@sha256:" + std::string(64, 'a') +
            "\"],\n        \"sizeBytes\": 123456789}";
  }
  return text + "]}}";
}

void Read(benchmark::State& state, const manifest::Source& source) {
  for (auto _ : state) {
    const auto inputs = manifest::ReadInputs({source});
    if (!inputs || inputs->nodes.size() != static_cast<std::size_t>(state.range(0))) {
      state.SkipWithError(inputs ? "nodes are missing" : inputs.error().message.c_str());
      return;
    }
  }
  state.counters["bytes_per_node"] =
      static_cast<double>(source.text.size()) / static_cast<double>(state.range(0));
}

void BM_ReadYaml(benchmark::State& state) {
  manifest::Source source{"nodes.yaml", "apiVersion: v1\nitems:\n"};
  for (int i = 0; i < state.range(0); ++i) source.text += YamlNode(i);
  source.text += "kind: List\n";
  Read(state, source);
}
BENCHMARK(BM_ReadYaml)->Arg(10'000)->Unit(benchmark::kMillisecond);

void BM_ReadJson(benchmark::State& state) {
  manifest::Source source{"nodes.json", "{\"apiVersion\": \"v1\", \"items\": [\n  "};
  for (int i = 0; i < state.range(0); ++i) source.text += (i == 0 ? "" : ",\n  ") + JsonNode(i);
  source.text += "], \"kind\": \"List\"}\n";
  Read(state, source);
}
BENCHMARK(BM_ReadJson)->Arg(10'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace weft
