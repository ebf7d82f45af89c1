#include "operator/designs/design.h"

#include <array>

namespace weft::designs {
namespace {

constexpr auto kDesigns = std::to_array<Design>({
    {"dgx-h100-superpod", "DGX H100, 4 scalable units of 32 nodes, 8 rails, NDR400 fat tree 1:1",
     "NVIDIA DGX H100 SuperPOD Reference Architecture RA-11333-001 V11", 127, 8},
    {"dgx-b200-superpod", "DGX B200, units of 32 nodes, two tiers up to 8 units, three beyond",
     "NVIDIA DGX B200 SuperPOD Reference Architecture, 2025", 128, 8},
    {"gb200-nvl72", "GB200 NVL72 racks of 18 trays, 8 racks a unit, NVLink across the rack",
     "NVIDIA DGX GB200 SuperPOD Reference Architecture, 2025", 144, 4},
    {"roce-fat-tree-2to1", "H100 on RoCE400: 16-node leaves, 256-node pods, 2:1 above the leaf",
     "generic three-tier Clos network", 512, 8},
    {"roce-fat-tree-7to1", "H100 on RoCE400: pods of 3,072 GPUs 1:1, 7:1 between pods",
     "Gangidi et al., RDMA over Ethernet for Distributed AI Training at Meta Scale, SIGCOMM 2024",
     768, 8},
    {"dragonfly", "A100 on HDR: 16 routers of 8 nodes a group, groups all to all",
     "Kim et al., Technology-Driven, Highly-Scalable Dragonfly Topology, ISCA 2008", 512, 8},
    {"pcie-only", "8 x L40S boxes without NVLink, 2 x 100 Gb/s Ethernet, racks in zones",
     "generic inference fleet", 64, 8},
    {"mi355x", "8 x MI355X over xGMI, RoCE400, 32-node leaves, 256-node pods",
     "AMD Instinct MI355X platform brief, 2025", 256, 8},
    {"tpu-v5p-cube", "TPU v5p, 4-chip hosts on a 3D torus of 8 x 10 x 28, cubes of 4 x 4 x 4 chips",
     "Google Cloud TPU v5p documentation, 2025", 2240, 4},
    {"mixed", "half DGX H100, three tenths GB200 NVL72, the rest MI355X; one Fabric each",
     "the designs dgx-h100-superpod, gb200-nvl72 and mi355x", 320, 8},
});

}  // namespace

std::span<const Design> Designs() { return kDesigns; }

}  // namespace weft::designs
