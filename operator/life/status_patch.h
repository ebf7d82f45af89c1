#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>

namespace weft::life {

// The fields of status that this version of Weft knows, as in crds/. Fields of newer versions are
// not changed.
inline constexpr std::array<std::string_view, 15> kJobStatusFields = {"observedGeneration",
                                                                      "phase",
                                                                      "reason",
                                                                      "summary",
                                                                      "attempt",
                                                                      "restarts",
                                                                      "placementName",
                                                                      "workers",
                                                                      "startTime",
                                                                      "completionTime",
                                                                      "lastFailure",
                                                                      "suspendedSeconds",
                                                                      "excludedNodes",
                                                                      "retry",
                                                                      "conditions"};
inline constexpr std::array<std::string_view, 6> kFabricStatusFields = {
    "nodes", "accelerators", "levels", "incompleteCount", "incomplete", "conditions"};

// A merge patch that sets the fields of status named in `own` to `after`, and leaves the others.
// Null if nothing changes.
nlohmann::json StatusPatch(const nlohmann::json& before, nlohmann::json after,
                           std::span<const std::string_view> own);

}  // namespace weft::life
