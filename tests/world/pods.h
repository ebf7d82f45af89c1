#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tests/world/cause.h"

namespace weft::world {

// What the API server adds to the spec of a new Pod, except for the priority.
void DefaultPod(nlohmann::json& pod);
// The status of a new Pod.
nlohmann::json NewPodStatus(const nlohmann::json& pod);
void CheckPod(const nlohmann::json& pod, Causes& causes);
// What may not change in the spec of a Pod.
void CheckPodChange(const nlohmann::json& before, const nlohmann::json& after, Causes& causes);
bool HasGates(const nlohmann::json& pod);
// Sets the condition PodScheduled to True.
void SetScheduled(nlohmann::json& pod, const std::string& now);
bool IsTerminal(const nlohmann::json& pod);  // Succeeded or Failed
std::string NodeOf(const nlohmann::json& pod);

// Defaults of built-in kinds other than Pods.
void DefaultBuiltIn(const std::string& resource, nlohmann::json& object);

}  // namespace weft::world
