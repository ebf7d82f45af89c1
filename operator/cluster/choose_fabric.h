#pragma once

#include <cstddef>
#include <string>
#include <variant>

#include "operator/base/result.h"
#include "operator/cluster/workload.h"

namespace weft::cluster {

// Why no Fabric can be chosen for a workload: a refusal, not an error.
struct NoFabric {
  std::string reason;  // "FabricAmbiguous", "NoFabric"
  std::string message;
};
// The index of the workload's fabric: by spec.fabricName, else by the namespace's label, else the
// only fabric that fits.
// Errors  kInvalid for an unknown name; the message lists the known ones.
Result<std::variant<std::size_t, NoFabric>> ChooseFabric(const Cluster& cluster,
                                                         const WorkloadView& workload);

}  // namespace weft::cluster
