#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/framework.h"
#include "operator/api/json_reader.h"

namespace weft::api {

// Names of enum values as manifests write them, in the order of the C++ enum.
using Names = std::span<const std::string_view>;
#define WEFT_FRAMEWORK_NAME(name, ...) #name,
inline constexpr auto kFrameworkNames =
    std::to_array<std::string_view>({WEFT_FRAMEWORKS(WEFT_FRAMEWORK_NAME)});
#undef WEFT_FRAMEWORK_NAME
inline constexpr auto kRendezvousNames = std::to_array<std::string_view>({"Static", "C10d"});
inline constexpr auto kMpiNames = std::to_array<std::string_view>({"OpenMPI", "Intel", "MPICH"});
inline constexpr auto kPrecisionNames =
    std::to_array<std::string_view>({"FP32", "TF32", "FP16", "BF16", "FP8", "MXFP8", "NVFP4"});
inline constexpr auto kGradientPrecisionNames =
    std::to_array<std::string_view>({"FP32", "BF16", "FP16", "INT8"});
inline constexpr auto kRecomputationNames =
    std::to_array<std::string_view>({"None", "Selective", "Full"});
inline constexpr auto kShardingNames =
    std::to_array<std::string_view>({"None", "OptimizerState", "Gradients", "Full", "Hybrid"});
inline constexpr auto kIdentityNames = std::to_array<std::string_view>({"Value", "Path"});
inline constexpr auto kScaleUpRequiresNames =
    std::to_array<std::string_view>({"ComputeDomain", "Nothing"});
inline constexpr auto kInfrastructureNames =
    std::to_array<std::string_view>({"RestartUncounted", "RestartCounted", "Fail"});
// By FailureAction.
inline constexpr auto kFailureActionNames =
    std::to_array<std::string_view>({"FailJob", "ReplaceNode", "Ignore", "Restart"});
// By RecoveryPhase.
inline constexpr auto kRecoveryPhaseNames =
    std::to_array<std::string_view>({"Detecting", "Stopping", "Replacing", "Starting", "Loading"});
inline constexpr auto kExclusionEffectNames =
    std::to_array<std::string_view>({"NoSchedule", "PreferNoSchedule"});
// Names of axes: in measured traffic, in a topology group, in rankOrder.
inline constexpr auto kMeasuredAxisNames = std::to_array<std::string_view>(
    {"Tensor", "Context", "Data", "Pipeline", "Expert", "ExpertTensor", "Sharding"});
inline constexpr auto kGroupAxisNames = std::to_array<std::string_view>(
    {"Tensor", "Context", "Data", "Pipeline", "Expert", "ExpertTensor"});
inline constexpr auto kRankAxisNames =
    std::to_array<std::string_view>({"Tensor", "Context", "Data", "Pipeline"});

template <typename Enum>
std::string_view NameOf(Names names, Enum value) {
  return names[static_cast<std::size_t>(value)];
}

// Bounds of the CRD schemas (crds/), which the decoders check too.
inline constexpr IntRange kReplicas = {.min = 1, .max = 16'384};
// Devices of one worker: over twice the number in the largest server with all devices partitioned.
inline constexpr IntRange kPerWorker = {.min = 1, .max = 256};
inline constexpr IntRange kDegree = {.min = 1, .max = std::int64_t{1} << 20};
inline constexpr IntRange kCount = {.min = 0, .max = std::int64_t{1} << 20};
inline constexpr IntRange kWidth = {.min = 1, .max = std::int64_t{1} << 30};
inline constexpr IntRange kParameters = {.min = 1, .max = 1'000'000'000'000'000};
// 2^31 - 1 seconds are 68 years.
inline constexpr IntRange kSeconds = {.min = 1, .max = 2'147'483'647};
inline constexpr IntRange kSecondsOrZero = {.min = 0, .max = 2'147'483'647};
// Of a container; more than 255 on Windows.
inline constexpr IntRange kExitCode = {.min = -2'147'483'648, .max = 2'147'483'647};
inline constexpr IntRange kRestarts = {.min = 0, .max = 2'147'483'647};
inline constexpr IntRange kPort = {.min = 1, .max = 65'535};
inline constexpr IntRange kPercent = {.min = 0, .max = 100};
inline constexpr IntRange kOversubscriptionPercent = {.min = 1, .max = 1'000'000};
inline constexpr IntRange kNanoseconds = {.min = 0, .max = 1'000'000'000};
inline constexpr IntRange kWatts = {.min = 1, .max = 1'000'000'000};
inline constexpr IntRange kRails = {.min = 1, .max = 64};
inline constexpr std::size_t kGroupsAtMost = 3;
inline constexpr std::size_t kLevelsAtMost = 16;
inline constexpr std::size_t kFailureRatesAtMost = kLevelsAtMost + 2;  // scale-up, node
inline constexpr std::size_t kModelsAtMost = 16;
inline constexpr std::size_t kRulesAtMost = 64;
inline constexpr std::size_t kIndexLabelsAtMost = 8;
inline constexpr std::size_t kIndexValuesAtMost = 16;
inline constexpr std::size_t kSelectorValuesAtMost = 256;
inline constexpr std::size_t kTextAtMost = 253;
inline constexpr std::size_t kConditionsAtMost = 16;
inline constexpr std::size_t kReasonAtMost = 1'024;
inline constexpr std::size_t kExcludedNodesAtMost = 1'024;

// Whether the name matches ^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$, so that it is still a DNS label with
// "-<attempt>-<worker>" appended.
bool IsJobName(std::string_view name);
// Whether the name matches ^[a-z0-9]([-.a-z0-9]{0,61}[a-z0-9])?$, so that it is also a label value.
bool IsFabricName(std::string_view name);
// Whether the name matches ^[A-Za-z]([-_.A-Za-z0-9]{0,38}[A-Za-z0-9])?$.
bool IsLevelName(std::string_view name);
// Whether the name matches ^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$, as names of objects do.
bool IsSubdomain(std::string_view name);
// Whether the name has the form of a label key or resource name: "name" or "prefix/name".
bool IsQualifiedName(std::string_view name);
// Whether the name is an extended resource: qualified, with a prefix that is not Kubernetes' own.
bool IsExtendedResource(std::string_view name);

// Readers that check a text: they note an error and still return the text; "" if absent.
std::string ReadJobName(const Field& field);
std::string ReadFabricName(const Field& field);
std::string ReadLevelName(const Field& field);
std::string ReadLabelKey(const Field& field);
std::string ReadLabelValue(const Field& field);
std::string ReadText(const Field& field);
// A quantity, given as text or integer: in our own kinds a fraction needs quotes, as in the API
// server.
std::optional<std::int64_t> ReadQuantity(const Field& field);
// The index of the field's text in `names`; `fallback` if absent.
std::size_t ReadName(const Field& field, Names names, std::size_t fallback);
template <typename Enum>
Enum ReadEnum(const Field& field, Names names, Enum fallback = {}) {
  return static_cast<Enum>(ReadName(field, names, static_cast<std::size_t>(fallback)));
}
// The items of a list; notes an error if it has more than `at_most`.
std::vector<Field> ReadItems(const Field& field, std::size_t at_most);

}  // namespace weft::api
