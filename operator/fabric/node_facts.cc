#include "operator/fabric/node_facts.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace weft::fabric {

namespace {

// The words, parted by what is no letter or digit, of a name in a vendor's domain: one of them must
// be a kind of accelerator, and none a share of one.
bool NamesDevice(std::string_view name) {
  static constexpr std::array<std::string_view, 10> kKinds = {"gpu", "npu", "tpu", "xpu", "hpu",
                                                              "ipu", "gcu", "dcu", "mlu", "ppu"};
  static constexpr std::array<std::string_view, 9> kShares = {"mem",   "memory",     "core",
                                                              "cores", "percentage", "monitoring",
                                                              "share", "shares",     "millicores"};
  const std::size_t slash = name.find('/');
  if (slash == name.npos || name.substr(0, slash).ends_with("kubernetes.io")) return false;
  bool device = false;
  std::string word;
  const auto judge = [&] {
    const auto is = [&](std::string_view known) { return word == known; };
    device = device || word.starts_with("ascend") || std::any_of(kKinds.begin(), kKinds.end(), is);
    const bool share = std::any_of(kShares.begin(), kShares.end(), is);
    word.clear();
    return share;
  };
  for (const char c : name.substr(slash + 1)) {
    const bool upper = c >= 'A' && c <= 'Z', lower = c >= 'a' && c <= 'z';
    if (upper || lower || (c >= '0' && c <= '9')) {
      word += upper ? static_cast<char>(c - 'A' + 'a') : c;
    } else if (judge()) {
      return false;
    }
  }
  return !judge() && device;
}

}  // namespace

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
  return NamesDevice(name);
}

bool IsAcceleratorResource(const std::string& name, std::span<const std::string> more) {
  return std::find(more.begin(), more.end(), name) != more.end() || IsAcceleratorResource(name);
}

}  // namespace weft::fabric
