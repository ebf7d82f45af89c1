#pragma once

#include <string_view>

namespace weft::fabric {

// What the words, parted by what is no letter or digit, of a resource's name in a vendor's domain
// tell.
//
// Source  koordinator.sh/docs, "Device Scheduling" (100 units of koordinator.sh/gpu are a GPU);
//         Cambricon/cambricon-k8s-device-plugin, README (mlu.smlu.vcore, mlu.smlu.vmemory);
//         Project-HAMi/HAMi and AliyunContainerService/gpushare-device-plugin, READMEs.
struct ResourceWords {
  bool device = false;  // one is a kind of accelerator: "gpu", "npu", "ascend910"
  bool share = false;   // one is of a share of it: memory, cores, per cent
};
ResourceWords ReadResourceName(std::string_view name);

}  // namespace weft::fabric
