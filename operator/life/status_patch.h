#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>

namespace weft::life {

// The fields of status that this version of Weft knows, as in crds/. Fields of newer versions are
// not changed.
inline constexpr auto kJobStatusFields = std::to_array<std::string_view>(
    {"observedGeneration", "phase", "reason", "summary", "attempt", "restarts", "placementName",
     "workers", "completedIndexes", "startTime", "completionTime", "lastFailure",
     "suspendedSeconds", "excludedNodes", "retry", "checkpoint", "recovery", "lost", "conditions"});
// Those of the objects in it, and in a Placement's status, that may be absent. What else is in
// these objects is of a newer version.
inline constexpr auto kInnerFields = std::to_array<std::string_view>({"workers",
                                                                      "spans",
                                                                      "crossNode",
                                                                      "ofBest",
                                                                      "step",
                                                                      "tokensPerSecond",
                                                                      "memory",
                                                                      "node",
                                                                      "worker",
                                                                      "reason",
                                                                      "exitCode",
                                                                      "time",
                                                                      "cause",
                                                                      "notBefore",
                                                                      "message",
                                                                      "counted",
                                                                      "lastTime",
                                                                      "lastStep",
                                                                      "advisedIntervalSeconds",
                                                                      "effectivePercent",
                                                                      "countedUntil"});
inline constexpr std::array<std::string_view, 6> kFabricStatusFields = {
    "nodes", "accelerators", "levels", "incompleteCount", "incomplete", "conditions"};

// The fields of a Placement's status that a choice of nodes writes.
inline constexpr std::array<std::string_view, 4> kDecisionFields = {"nodes", "spans", "traffic",
                                                                    "outlook"};

// The JSON merge patch (RFC 7386) that turns `before` into `after`: a merge patch keeps members
// that it does not name, at every depth, so those that `after` lacks are set to null. Empty if both
// are equal objects. A patch that sets only lists and plain values needs no difference: those are
// replaced whole.
nlohmann::json MergePatch(const nlohmann::json& before, const nlohmann::json& after);

// A merge patch of status: turns each field that `after` has into that, removes those named in
// `own` that `after` lacks, and leaves the others. Null if nothing changes.
nlohmann::json StatusPatch(const nlohmann::json& before, const nlohmann::json& after,
                           std::span<const std::string_view> own);
// The same, but of what the objects in it lack now, only members named in `inside` are removed: a
// newer version's stay.
nlohmann::json StatusPatch(const nlohmann::json& before, const nlohmann::json& after,
                           std::span<const std::string_view> own,
                           std::span<const std::string_view> inside);

}  // namespace weft::life
