#include "operator/fabric/link_types.h"

#include <algorithm>
#include <array>

namespace weft::fabric {
namespace {

// Nominal bytes per second of one GPU in ONE direction. Vendors quote NVLink and xGMI for both
// directions together, but InfiniBand and Ethernet for one: 900 GB/s of NVLink4 is 450 here.
constexpr std::int64_t kMB = 1'000'000;

constexpr auto kLinkTypes = std::to_array<LinkType>({
    {"NVLink2", 150'000 * kMB, "V100: 6 links x 25 GB/s"},
    {"NVLink3", 300'000 * kMB, "A100: 12 links x 25 GB/s, 600 GB/s bidirectional"},
    {"NVLink4", 450'000 * kMB, "H100, H200: 18 links x 25 GB/s, 900 GB/s bidirectional"},
    {"NVLink5", 900'000 * kMB, "B200, GB200: 18 links x 50 GB/s, 1.8 TB/s bidirectional"},
    {"NVLinkC2C", 450'000 * kMB, "Grace-Hopper, Grace-Blackwell: 900 GB/s bidirectional"},
    {"PCIeGen3", 15'750 * kMB, "x16, 8 GT/s a lane, 128b/130b"},
    {"PCIeGen4", 31'500 * kMB, "x16, 16 GT/s a lane, 128b/130b"},
    {"PCIeGen5", 63'000 * kMB, "x16, 32 GT/s a lane, 128b/130b"},
    {"PCIeGen6", 121'000 * kMB, "x16, 64 GT/s a lane, flit mode"},
    {"InfiniBandFDR10", 5'000 * kMB, "4 lanes x 10.3125 Gb/s, 64b/66b; one port per GPU"},
    {"InfiniBandFDR", 6'800 * kMB, "4 lanes x 14.0625 Gb/s, 64b/66b; one port per GPU"},
    {"InfiniBandEDR", 12'500 * kMB, "100 Gb/s, one port per GPU"},
    {"InfiniBandHDR", 25'000 * kMB, "200 Gb/s, one port per GPU"},
    {"InfiniBandNDR", 50'000 * kMB, "400 Gb/s, one port per GPU (DGX H100)"},
    {"InfiniBandXDR", 100'000 * kMB, "800 Gb/s, one port per GPU (DGX B300)"},
    {"RoCE100", 12'500 * kMB, "100 Gb/s Ethernet, one port per GPU"},
    {"RoCE200", 25'000 * kMB, "200 Gb/s Ethernet, one port per GPU"},
    {"RoCE400", 50'000 * kMB, "400 Gb/s Ethernet, one port per GPU"},
    {"RoCE800", 100'000 * kMB, "800 Gb/s Ethernet, one port per GPU"},
    {"EFAP4d", 6'250 * kMB, "p4d, p4de: 4 x 100 Gb/s for 8 GPUs"},
    {"EFAP5", 50'000 * kMB, "p5: 32 x 100 Gb/s for 8 GPUs"},
    {"EFAP5en", 50'000 * kMB, "p5en: 16 x 200 Gb/s for 8 GPUs"},
    {"EFAP6", 50'000 * kMB, "p6: 8 x 400 Gb/s for 8 GPUs"},
    // A full mesh: the sum of a GPU's links, although each peer has only one of them.
    {"xGMIMI210", 150'000 * kMB, "hive of 4: 3 links x 50 GB/s (KFD io_links)"},
    {"xGMIMI300X", 448'000 * kMB, "MI300X, MI325X: 7 links x 64 GB/s, full mesh"},
    {"xGMIMI355X", 537'600 * kMB, "MI355X: 7 links x 76.8 GB/s, full mesh"},
    {"Gaudi3ScaleUp", 525'000 * kMB, "21 x 200 Gb/s Ethernet inside the box"},
    {"Gaudi3ScaleOut", 75'000 * kMB, "3 x 200 Gb/s Ethernet out of the box"},
    {"ICIv5p", 600'000 * kMB, "TPU v5p: 6 links, 3D torus, 1.2 TB/s bidirectional"},
    {"ICIv6e", 400'000 * kMB, "TPU v6e: 4 links, 2D torus, 800 GB/s bidirectional"},
    {"ICI7x", 600'000 * kMB, "TPU7x: 3D torus, 1.2 TB/s bidirectional"},
    {"NeuronLinkTrainium2", 640'000 * kMB, "1.28 TB/s bidirectional, 4x4 torus"},
    {"NeuronLinkTrainium3", 1'280'000 * kMB, "2.56 TB/s bidirectional"},
});

}  // namespace

std::span<const LinkType> KnownLinkTypes() { return kLinkTypes; }

std::optional<LinkType> FindLinkType(std::string_view name) {
  const auto found = std::find_if(kLinkTypes.begin(), kLinkTypes.end(),
                                  [&](const LinkType& type) { return type.name == name; });
  if (found == kLinkTypes.end()) return std::nullopt;
  return *found;
}

}  // namespace weft::fabric
