#include "operator/fabric/resource_words.h"

#include <algorithm>
#include <array>
#include <string>

namespace weft::fabric {

ResourceWords ReadResourceName(std::string_view name) {
  static constexpr std::array<std::string_view, 10> kKinds = {"gpu", "npu", "tpu", "xpu", "hpu",
                                                              "ipu", "gcu", "dcu", "mlu", "ppu"};
  static constexpr std::array<std::string_view, 15> kShares = {
      "mem",        "memory", "vmemory", "core", "cores",      "vcore",  "percentage", "ratio",
      "monitoring", "share",  "shares",  "smlu", "millicores", "shared", "vcores"};
  ResourceWords named;
  const std::size_t slash = name.find('/');
  if (slash == name.npos || name.substr(0, slash).ends_with("kubernetes.io")) return named;
  if (name == "koordinator.sh/gpu") return {true, true};  // per cent of a GPU
  std::string word;
  const auto judge = [&] {
    const auto is = [&](std::string_view known) { return word == known; };
    named.device =
        named.device || word.starts_with("ascend") || std::any_of(kKinds.begin(), kKinds.end(), is);
    // NVIDIA's device plug-in names a resource so whose units are time slices of whole GPUs.
    const bool slices = word == "shared" && name.starts_with("nvidia.com/");
    named.share = named.share || (!slices && std::any_of(kShares.begin(), kShares.end(), is));
    word.clear();
  };
  for (const char c : name.substr(slash + 1)) {
    const bool upper = c >= 'A' && c <= 'Z', lower = c >= 'a' && c <= 'z';
    if (upper || lower || (c >= '0' && c <= '9')) {
      word += upper ? static_cast<char>(c - 'A' + 'a') : c;
    } else {
      judge();
    }
  }
  judge();
  return named;
}

}  // namespace weft::fabric
