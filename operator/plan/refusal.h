#pragma once

#include <string>
#include <vector>

#include "operator/cluster/cluster.h"
#include "operator/cluster/workload.h"
#include "operator/placement/place.h"
#include "operator/placement/relax.h"

namespace weft::plan {

// Whether admission may add a toleration that the pods lack: some node has a taint with the name of
// an accelerator resource, which ExtendedResourceToleration (and GKE) tolerates for the pods that
// request it, and no API server has admitted the job's pods yet.
bool AdmissionMayTolerate(const cluster::WorkloadView& workload, const placement::Unplaceable& no);

// The refusal in sentences. `relaxations` may be empty.
std::string RefusalText(const cluster::ClusterFabric& on, const cluster::WorkloadView& workload,
                        const placement::Unplaceable& no,
                        const std::vector<placement::Relaxation>& relaxations);

// A sentence about what nodes have of `requests` but do not offer now (NodeFacts::capacity), with
// the first such node; "" if there is none.
std::string WithheldText(const fabric::Fabric& on, const fabric::Resources& requests);

}  // namespace weft::plan
