#pragma once

#include "operator/api/json_reader.h"
#include "operator/fabric/pod_terms.h"

namespace weft::api {

// What the PodSpec of a pod with these labels demands of the pods beside it.
//
// Ports   hostPort of containers and sidecars; with hostNetwork also containerPort, as the API
//         server fills it in when it makes the pod.
// Spaces  a namespaceSelector that is empty becomes PodTerm::all_namespaces, any other
//         PodTerm::space_selector.
// Volumes those of PersistentVolumeClaims, and ephemeral ones, whose claims the pod will own.
// Labels  matchLabelKeys and mismatchLabelKeys become requirements of the selector.
// Source  Kubernetes 1.36 pkg/scheduler/util, GetHostPorts; pkg/registry/core/pod/strategy.go.
// `name`  of the pod, which the claims of its ephemeral volumes begin with; "" for a template.
fabric::PodTerms DecodePodTerms(const Field& pod_spec, const TextMap& labels,
                                const std::string& name = "");

// Adds it to the PodSpec of the pod of that name, in the same shape.
void EncodePodTerms(const fabric::PodTerms& terms, nlohmann::ordered_json& pod_spec,
                    const std::string& name = "");

}  // namespace weft::api
