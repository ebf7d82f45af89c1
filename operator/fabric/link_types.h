#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace weft::fabric {

struct LinkType {
  std::string_view name;           // as written in Fabric.spec, "InfiniBandNDR"
  std::int64_t bandwidth_per_gpu;  // bytes/s, one direction, one GPU alone
  std::string_view source;
};

// Every link type that needs no explicit bandwidth.
std::span<const LinkType> KnownLinkTypes();
std::optional<LinkType> FindLinkType(std::string_view name);

}  // namespace weft::fabric
