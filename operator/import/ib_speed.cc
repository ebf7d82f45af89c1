#include "operator/import/ib_speed.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace weft::import {
namespace {

struct Lane {
  std::string_view name;
  std::int64_t bytes_per_second;
};
constexpr auto kLanes = std::to_array<Lane>({{"SDR", 250'000'000},
                                             {"DDR", 500'000'000},
                                             {"QDR", 1'000'000'000},
                                             {"FDR10", 1'250'000'000},
                                             {"FDR", 1'700'000'000},
                                             {"EDR", 3'125'000'000},
                                             {"HDR", 6'250'000'000},
                                             {"NDR", 12'500'000'000},
                                             {"XDR", 25'000'000'000}});

}  // namespace

std::optional<IbSpeed> ReadIbSpeed(std::string_view text) {
  const std::size_t x = text.find('x');
  if (x == text.npos) return std::nullopt;
  IbSpeed speed{0, text.substr(x + 1), 0};
  const auto [end, error] = std::from_chars(text.data(), text.data() + x, speed.lanes);
  const auto lane = std::find_if(kLanes.begin(), kLanes.end(),
                                 [&](const Lane& one) { return one.name == speed.rate; });
  if (error != std::errc() || end != text.data() + x || lane == kLanes.end()) return std::nullopt;
  speed.bytes_per_second = lane->bytes_per_second * speed.lanes;
  return speed;
}

}  // namespace weft::import
