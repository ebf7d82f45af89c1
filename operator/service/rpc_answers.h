#pragma once

#include <weft/v1/placement_service.pb.h>

#include <cstddef>
#include <string>
#include <vector>

#include "operator/base/result.h"
#include "operator/base/timestamp.h"
#include "operator/service/rpc_source.h"

namespace weft::service {

// The answers to the calls of proto/weft/v1 about the cluster at `now`; pure functions of their
// arguments. Errors kInvalid: the request is wrong, its place first; kNotFound.

// The namespaces of the TrainingJobs and Placements of a request, each once. They are the caller's
// to see before the request is answered. Errors  kInvalid too where they are more than kMostSpaces.
inline constexpr std::size_t kMostSpaces = 16;
Result<std::vector<std::string>> SpacesOf(const v1::PlanRequest& request);

Result<v1::PlanResponse> AnswerPlan(RpcSource::Live live, const v1::PlanRequest& request,
                                    UnixSeconds now);
Result<v1::ExplainResponse> AnswerExplain(RpcSource::Live live, const v1::ExplainRequest& request,
                                          UnixSeconds now);
Result<v1::GetFabricResponse> AnswerFabric(RpcSource::Live live,
                                           const v1::GetFabricRequest& request);

// A Placement of the cluster.
v1::Placement MessageOf(const api::Placement& placement);

}  // namespace weft::service
