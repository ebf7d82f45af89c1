#pragma once

#include "operator/kube/resource.h"

namespace weft::kube {

// Kinds of Kueue, which need not be installed.
inline constexpr Resource kWorkloads{"kueue.x-k8s.io", "v1beta2", "workloads", "Workload", true};
inline constexpr Resource kAdmissionChecks{"kueue.x-k8s.io", "v1beta2", "admissionchecks",
                                           "AdmissionCheck", false};
inline constexpr Resource kResourceFlavors{"kueue.x-k8s.io", "v1beta2", "resourceflavors",
                                           "ResourceFlavor", false};
inline constexpr Resource kWorkloadPriorityClasses{
    "kueue.x-k8s.io", "v1beta2", "workloadpriorityclasses", "WorkloadPriorityClass", false};

}  // namespace weft::kube
