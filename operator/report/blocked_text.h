#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "operator/fabric/claims.h"
#include "operator/objective/request.h"
#include "operator/placement/replace.h"
#include "operator/traffic/worker_graph.h"

namespace weft::report {

// "l3"; of the node level the node's name.
std::string DomainName(const fabric::Fabric& fabric, fabric::Tier tier, fabric::DomainIndex domain);

// Failed workers without a node whose rules keep them in the same domain.
struct BlockedGroup {
  fabric::Tier tier{0};  // kOutside: no rule of topology
  fabric::DomainIndex domain{0};
  std::vector<WorkerIndex> workers;  // ascending
};
// Domains without a free node that a text names.
inline constexpr std::size_t kMostDomainsNamed = 3;

// In the order of their first workers.
std::vector<BlockedGroup> GroupBlocked(const std::vector<placement::Blocked>& blocked);

// "1100 workers are lost, and replacements are computed for at most 1024".
std::string TooManyText(std::size_t lost);

// placement::Replace without the nodes that the job avoids, unless that would miss more preferred
// levels or move more groups.
placement::ReplaceAnswer ReplaceCarefully(const fabric::Claims& claims,
                                          const objective::Request& request,
                                          const std::vector<fabric::NodeIndex>& avoided,
                                          const traffic::WorkerGraph& graph,
                                          const placement::Loss& loss);
// The request with the avoided nodes excluded too. Both lists ascend.
objective::Request WithoutAvoided(const objective::Request& request,
                                  const std::vector<fabric::NodeIndex>& avoided);

}  // namespace weft::report
