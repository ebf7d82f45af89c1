#pragma once

#include "operator/api/json_reader.h"
#include "operator/fabric/pod_terms.h"

namespace weft::api {

// What the PodSpec of a pod with these labels demands of the pods beside it.
//
// Ports   hostPort of containers and sidecars; with hostNetwork also containerPort, as the API
// server
//         fills it in when it makes the pod.
// Spaces  a term with a namespaceSelector that is not empty is left out: the labels of Namespaces are
//         not read.
// Labels  matchLabelKeys and mismatchLabelKeys become requirements of the selector.
// Source  Kubernetes 1.36 pkg/scheduler/util, GetHostPorts; pkg/registry/core/pod/strategy.go.
fabric::PodTerms DecodePodTerms(const Field& pod_spec, const TextMap& labels);

// Adds it to the PodSpec, in the same shape.
void EncodePodTerms(const fabric::PodTerms& terms, nlohmann::ordered_json& pod_spec);

}  // namespace weft::api
