#pragma once

#include <string>

#include "operator/api/placement.h"
#include "operator/api/training_job.h"

namespace weft::life {

// An attempt is for one spec. Only a suspended job may change its workers, accelerator,
// parallelism, topology, Fabric and framework; but it may be suspended, changed and resumed before
// the operator looks, or while its nodes are being chosen.

// The annotation of a job's Placement: "GENERATION HASH", of the spec that it was made for.
inline constexpr const char* kMadeForAnnotation = "weft.dev/made-for";

// Its value for the job's present spec.
std::string MadeFor(const api::TrainingJob& job);

// Whether the Placement was made for the job's present spec. It must have as many nodes as the job
// has workers; one of an earlier version has no such annotation, and nothing else is compared.
// Cost  O(1) if the generation is the same, else O(template).
bool IsMadeFor(const api::Placement& placement, const api::TrainingJob& job);

}  // namespace weft::life
