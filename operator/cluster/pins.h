#pragma once

#include "operator/rules/pod_requirements.h"

namespace weft::cluster {

// The requirements of a pod that runs without those that pin it to one chosen node (spec.nodeName,
// the host name, the field metadata.name), to find where else it could run.
rules::PodRequirements WithoutPins(rules::PodRequirements pod);

}  // namespace weft::cluster
