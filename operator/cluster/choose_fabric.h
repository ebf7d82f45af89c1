#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>

#include "operator/base/refusal.h"
#include "operator/base/result.h"
#include "operator/cluster/workload.h"

namespace weft::cluster {

// The index of the fabric that spec.fabricName, else the namespace's label, names; absent if
// neither names one that is known.
std::optional<std::size_t> NamedFabric(const Cluster& cluster, const WorkloadView& workload);

// The index of the workload's fabric: by spec.fabricName, else by the namespace's label, else the
// only fabric that fits. The reason of a refusal is FabricAmbiguous or NoFabric.
// Errors  kInvalid for an unknown name; the message lists the known ones.
Result<std::variant<std::size_t, Refusal>> ChooseFabric(const Cluster& cluster,
                                                        const WorkloadView& workload);

}  // namespace weft::cluster
