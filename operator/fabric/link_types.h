#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace weft::fabric {

struct LinkType {
  std::string_view name;           // as written in Fabric.spec, "InfiniBandNDR"
  std::int64_t bandwidth_per_gpu;  // bytes/s in one direction, for one GPU
  std::string_view source;
};

// Every link type with a known bandwidth.
std::span<const LinkType> KnownLinkTypes();
std::optional<LinkType> FindLinkType(std::string_view name);

}  // namespace weft::fabric
