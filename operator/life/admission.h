#pragma once

#include <optional>
#include <string>

#include "operator/api/admission.h"
#include "operator/api/pod.h"

namespace weft::life {

// What admission changed in a worker's pod: `sent` as Weft sent it, `tried` as a dry run returned
// it. Nothing if that is nothing that the choice of nodes depends on; tolerations that every pod
// gets from DefaultTolerationSeconds do not count. `node` is the one that Weft pinned the pod to.
std::optional<api::Admission> AdmissionOf(const api::Pod& sent, const api::Pod& tried,
                                          const std::string& node);

}  // namespace weft::life
