#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/kinds.h"
#include "operator/api/resource_quota.h"

namespace weft::life {

// Why the quotas of a job's namespace have no room for all of its workers at once, in the API
// server's words; nothing if they have room. Checked before the job is planned: otherwise the
// operator would create some of the pods, be refused, and delete them again. Quotas with scopes and
// limits.* are left to the API server, which refuses the pods then.
// Shapes  `worker`: a pod of the job as admission leaves it.
// Source  kubernetes.io/docs/concepts/policy/resource-quotas; the words of
//         k8s.io/apiserver pkg/admission/plugin/resourcequota (checkRequest).
std::optional<std::string> ExceededQuota(const api::Pod& worker, std::int64_t workers,
                                         const std::vector<api::ResourceQuota>& quotas);

}  // namespace weft::life
