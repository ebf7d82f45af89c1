#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weft::import {

// The width and the rate of a port, as ibnetdiscover prints them: "4xNDR", "2xHDR".
struct IbSpeed {
  int lanes = 0;
  std::string_view rate;              // of the text
  std::int64_t bytes_per_second = 0;  // payload of all lanes in one direction, after line coding
};

// Nothing if the text is no such speed, or the rate is not known.
//
// Source  InfiniBand Architecture Specification, signalling rates; 8b/10b up to QDR, 64b/66b from
//         FDR10 on.
std::optional<IbSpeed> ReadIbSpeed(std::string_view text);

}  // namespace weft::import
