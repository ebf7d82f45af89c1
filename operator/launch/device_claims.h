#pragma once

#include <nlohmann/json_fwd.hpp>

#include "operator/launch/gang.h"

namespace weft::launch {

// A job with accelerator.deviceClassName has its devices by dynamic resource allocation: one claim
// a worker, of the attempt's ResourceClaimTemplate, which Weft makes. Source
// k8s.io/api/resource/v1; Kubernetes serves it since 1.34.

// "<job>-<attempt>-weft-devices", owned by the Placement: perWorker devices of the class.
// Precondition  the job has a deviceClassName.
nlohmann::json MakeClaimTemplate(const Gang& gang);

// Adds the pod's claim `accelerators` of that template, and to the container that has the worker's
// accelerators (framework::WorkerContainer) unless containers name the claim themselves. Changes
// nothing for a job without deviceClassName.
void AddDeviceClaim(const Gang& gang, nlohmann::json& spec);

// The pod template for Kueue, which counts no claims: it asks for the same number of the resource
// that the class has by itself (api::kClassResourcePrefix), which a ClusterQueue may cover.
void CountDeviceClaim(const api::TrainingJob& job, nlohmann::json& spec);

}  // namespace weft::launch
