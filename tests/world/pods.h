#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tests/world/cause.h"

namespace weft::world {

// What the API server adds to the spec of a new Pod, except for the priority.
void DefaultPod(nlohmann::json& pod);
// The status of a new Pod.
nlohmann::json NewPodStatus(const nlohmann::json& pod, const std::string& now);
// The few rules of built-in kinds that matter to Weft.
void CheckBuiltIn(const std::string& resource, const nlohmann::json& object, Causes& causes);
// What may not change in the spec of a Pod.
void CheckPodChange(const nlohmann::json& before, const nlohmann::json& after, Causes& causes);
bool HasGates(const nlohmann::json& pod);
// Sets the condition PodScheduled to True.
void SetScheduled(nlohmann::json& pod, const std::string& now);
bool IsTerminal(const nlohmann::json& pod);  // Succeeded or Failed
std::string NodeOf(const nlohmann::json& pod);

// Fields that the API server's own types write even when they are empty.
void AddNulls(const std::string& resource, nlohmann::json& object);
// Defaults of built-in kinds other than Pods.
void DefaultBuiltIn(const std::string& resource, nlohmann::json& object);
void DefaultNewNode(nlohmann::json& node, bool tainted);

}  // namespace weft::world
