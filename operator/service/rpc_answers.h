#pragma once

#include <weft/v1/placement_service.pb.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/base/result.h"
#include "operator/base/timestamp.h"
#include "operator/service/rpc_source.h"

namespace weft::service {

// The answers to the calls of proto/weft/v1 about the cluster at `now`; pure functions of their
// arguments.
// Errors  kInvalid, starting with the wrong field of the request; kNotFound.

// The namespaces of the TrainingJobs and Placements in a request, each once. The request is
// answered only if the caller may see all of them.
// Errors  also kInvalid: more than kMostSpaces namespaces.
inline constexpr std::size_t kMostSpaces = 16;
Result<std::vector<std::string>> SpacesOf(const v1::PlanRequest& request);

Result<v1::PlanResponse> AnswerPlan(RpcSource::Live live, const v1::PlanRequest& request,
                                    UnixSeconds now);
Result<v1::ExplainResponse> AnswerExplain(RpcSource::Live live, const v1::ExplainRequest& request,
                                          UnixSeconds now);
Result<v1::GetFabricResponse> AnswerFabric(RpcSource::Live live,
                                           const v1::GetFabricRequest& request);

// The cursor of a stream, "EPOCH:NUMBER", and its number; nothing if it is of another epoch or not
// a cursor.
std::string CursorOf(const std::string& epoch, std::uint64_t number);
std::optional<std::uint64_t> NumberOf(const std::string& cursor, const std::string& epoch);

// A Placement of the cluster as a message.
v1::Placement MessageOf(const api::Placement& placement);

}  // namespace weft::service
