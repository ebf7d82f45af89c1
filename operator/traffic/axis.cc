#include "operator/traffic/axis.h"

#include <array>

namespace weft::traffic {
namespace {

constexpr std::array<std::string_view, kAxisCount> kNames = {
    "Tensor", "Context", "Data", "Pipeline", "Expert", "ExpertTensor", "Sharding"};

}  // namespace

std::string_view AxisName(Axis axis) { return kNames[static_cast<std::size_t>(axis)]; }

std::optional<Axis> FindAxis(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Axis>(i);
  }
  return std::nullopt;
}

}  // namespace weft::traffic
