#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/inputs.h"
#include "operator/api/placement.h"
#include "operator/life/kueue_check.h"

namespace weft::life {

// A Workload of Kueue that waits for quota, or has quota and waits for nodes.
struct WaitingWorkload {
  const api::Workload* workload = nullptr;  // of the inputs
  std::string reason, message;              // as the condition Placed of a TrainingJob would say
  std::string fabric_name;                  // that the AdmissionCheck names; "" if it names none
  std::uint32_t workers = 0;                // pods that request accelerators
  std::int64_t accelerators = 0;            // of all workers
  std::optional<std::int64_t> waited_seconds;
  std::vector<api::Placement> asked;  // what the planner tries; empty without quota
};

// The Workloads with Weft's AdmissionCheck in their status that wait, without those of
// TrainingJobs, those that request no accelerator, and those whose nodes are chosen. Kueue enters a
// check that has onFlavors only when quota is reserved.
// `fabrics`: as built.
// Cost  O((Workloads + Placements) log Placements).
std::vector<WaitingWorkload> WaitingWorkloads(
    const api::Inputs& inputs, const std::vector<const fabric::FabricSpec*>& fabrics);

// Adds the Placements that the Workloads ask for to the inputs, as the planner does, for
// plan::Plan. A Placement that exists keeps its object, which may name excluded nodes.
void AddAsked(const std::vector<WaitingWorkload>& waiting, api::Inputs& inputs);

}  // namespace weft::life
