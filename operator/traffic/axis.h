#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weft::traffic {

// A way to divide the work of a step among ranks. The ranks of one group of an axis exchange bytes.
enum class Axis : std::uint8_t {
  kTensor,
  kContext,
  kData,
  kPipeline,
  kExpert,
  kExpertTensor,
  kSharding
};
inline constexpr int kAxisCount = 7;
std::string_view AxisName(Axis axis);  // "Tensor", ... as written in manifests
std::optional<Axis> FindAxis(std::string_view name);

}  // namespace weft::traffic
