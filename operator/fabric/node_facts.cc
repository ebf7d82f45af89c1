#include "operator/fabric/node_facts.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "operator/fabric/resource_words.h"

namespace weft::fabric {

bool IsAcceleratorResource(const std::string& name) {
  // The resources of device plug-ins: NVIDIA (".shared" if time-sliced), AMD, Intel GPU (i915 and
  // xe drivers; their "_monitoring" and share resources are not devices), Intel Gaudi, Google TPU.
  static constexpr std::array<std::string_view, 7> kNames = {
      "nvidia.com/gpu",   "nvidia.com/gpu.shared", "amd.com/gpu",   "gpu.intel.com/i915",
      "gpu.intel.com/xe", "habana.ai/gaudi",       "google.com/tpu"};
  if (std::find(kNames.begin(), kNames.end(), name) != kNames.end()) return true;
  // NVIDIA MIG profiles ("mig-1g.10gb"), AWS Neuron ("neuron", "neuroncore", "neurondevice").
  if (name.starts_with("nvidia.com/mig-") || name.starts_with("aws.amazon.com/neuron")) return true;
  // AMD partitions are named by compute mode and memory mode: "cpx_nps4".
  if (name.starts_with("amd.com/") && name.find("_nps") != std::string::npos) return true;
  const ResourceWords words = ReadResourceName(name);
  return words.device && !words.share;
}

bool IsAcceleratorResource(const std::string& name, std::span<const std::string> more) {
  return std::find(more.begin(), more.end(), name) != more.end() || IsAcceleratorResource(name);
}

}  // namespace weft::fabric
