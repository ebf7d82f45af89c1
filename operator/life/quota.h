#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/pod.h"
#include "operator/api/resource_quota.h"

namespace weft::life {

// Why the quotas of a job's namespace have no room for all its workers at once, in the API server's
// words; nothing if they have room. It is checked before the job is planned, because otherwise the
// operator would create some pods, be refused, and delete them again. Quotas with scopes, and
// limits.*, are not checked here: the API server then refuses the pods.
// Shapes  `worker`: a pod of the job as it is after admission.
// Source  kubernetes.io/docs/concepts/policy/resource-quotas; the text is that of k8s.io/apiserver
//         pkg/admission/plugin/resourcequota (checkRequest).
std::optional<std::string> ExceededQuota(const api::Pod& worker, std::int64_t workers,
                                         const std::vector<api::ResourceQuota>& quotas);

}  // namespace weft::life
