#pragma once

#include <functional>

#include "operator/fabric/claims.h"
#include "operator/objective/request.h"
#include "operator/placement/placement.h"

namespace weft::placement {

// Among plans that are as good, one whose least wanted node is wanted most (rules/unwanted.h): of
// equal preferences, rank of products and cost within the tolerance.
//
// `solve`  the best plan for a request, or nothing.
// Cost     nothing if all nodes of the plan are as wanted as any; else a solve for each halving of
//          the distinct values.
Plan OnWantedNodes(const fabric::Claims& claims, const objective::Request& request,
                   const objective::Options& options, Plan plan,
                   const std::function<std::optional<Plan>(const objective::Request&)>& solve);

}  // namespace weft::placement
