#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "operator/fabric/node_facts.h"

namespace weft::fabric {

// What one unit of an accelerator resource is on a node: a whole accelerator, or a part of one.
struct Partition {
  enum class Kind {
    kWhole,
    kTimeSlice,  // takes turns with others on one accelerator
    kMps,        // runs beside others on one accelerator
    kHardware,   // has units and memory of its own: MIG, AMD's compute partitions
    kVirtual,    // a vGPU of a virtual machine
  };
  // Of the compute, the memory or the links of the whole; 0 if labels do not tell.
  static constexpr double kUnknown = 0;

  Kind kind = Kind::kWhole;
  std::string name;    // "" if whole: "time slice 1/4", "MPS 1/4", "MIG 1g.10gb", "CPX 1/8"
  double compute = 1;  // also of the links and the power
  double memory = 1;
  double memory_bytes = 0;  // if labels or the name tell how many; else 0

  bool whole() const { return kind == Kind::kWhole; }
};

// By the resource's name (nvidia.com/mig-1g.10gb, amd.com/cpx_nps4) and the node's labels:
//
//   time slices, MPS  more units than GPUs (nvidia.com/gpu.count, kRegisteredGpus; of Intel's
//                     plug-in gpu.intel.com/device.count), else
//                     gpu.replicas and gpu.sharing-strategy, a product that ends with -SHARED;
//                     GKE's sharing labels
//   MIG               the profile in the resource's name, in the product (strategy single), in
//                     GKE's partition size. 1g has one of 7 compute slices, of 4 on A30 and RTX PRO
//   AMD               compute-memory-partition: DPX, TPX, QPX and CPX are 2, 3, 4 and 8 parts (CPX:
//                     6 on MI300A, 4 on MI308X). With several memory domains (NPS) a part may use
//                     more than its share while others are idle; its share counts. Without that
//                     label, gpu.cu-count below the compute units of the whole product
//   vNPU              the cores in the name of a Huawei Ascend resource (Ascend910-8c)
//   other names       NVIDIA's GPUs under another plug-in's resource (volcano.sh/vgpu-number): more
//                     units than GPUs, as above; a name of memory or cores is a share
//   vGPU              a product such as GRID-V100-8Q, or nvidia.com/vgpu.present: its memory tells
//                     its share
//
// Cost    O(labels).
// Source  NVIDIA/k8s-device-plugin, README (shared access) and docs/gpu-feature-discovery, 2026.
//         NVIDIA, "Multi-Instance GPU user guide", 2026, supported profiles.
//         AMD, "Instinct MI300X GPU partitioning overview", 2025. ROCm/k8s-device-plugin,
//         docs/user-guide/resource-allocation, 2026. GKE, "About GPU sharing strategies", 2026.
//         intel/intel-device-plugins-for-kubernetes, cmd/gpu_plugin/labels.md.
//         AMD, "Accelerator and GPU hardware specifications" (compute units), rocm.docs.amd.com.
Partition PartitionOf(const NodeFacts& node, const std::string& resource);

// What one unit is of each accelerator resource of the node that is not a whole accelerator, except
// for a MIG slice that its resource's name describes. A node may have both: whole GPUs and MIG
// slices, NPUs and virtual ones, eight GPUs and the one of its processor.
// `more`: resources that count as accelerators too (FabricSpec::accelerator_resources).
std::map<std::string, Partition> PartsOf(const NodeFacts& node,
                                         std::span<const std::string> more = {});

// The product without what names its part: NVIDIA-H100-80GB-HBM3 of
// NVIDIA-H100-80GB-HBM3-MIG-1g.10gb-SHARED.
std::string_view WholeProduct(std::string_view product);

// Stands among the labels of a node whose GPUs HAMi shares: how many it has, by an annotation of
// HAMi's (api/node.h). kube-scheduler does not see it. So its name has blanks, which the API server
// admits in no label key: no node has such a label, and no selector that is stored names it.
// Source  kubernetes.io/docs/concepts/overview/working-with-objects/labels (syntax and character
//         set).
inline constexpr const char* kRegisteredGpus = "weft.dev registered GPUs";

// "MIG 1g.10gb" of nvidia.com/mig-1g.10gb; "" if the name tells no part.
std::string PartByName(std::string_view resource);

// The share of a whole accelerator, in compute, that a unit of this name is (Pool::UnitOf): 1 of
// "H100", 1/4 of "H100 time slice 1/4", 1/7 of "H100 MIG 1g.10gb"; nothing if it does not tell.
std::optional<double> ShareOfUnit(std::string_view unit);

// The number of GPUs that the node's labels count (GPU feature discovery, kRegisteredGpus); 0 if
// none does.
double LabelledGpus(const NodeFacts& node);

}  // namespace weft::fabric
