#pragma once

#include <string>
#include <vector>

#include "operator/api/inputs.h"

namespace weft::cluster {

// Adds to jobs, proposals and pods that wait at Weft's gate where their ResourceClaims let them
// run, beyond the devices that count as a resource (devices.h, other_devices.h):
// - A claim that they name and that is allocated: its allocation's nodeSelector is a place that
//   every worker must be in, as that of a bound volume is. A claim that only pods of the job itself
//   use is not: it loses its allocation with them.
// - A request of a template that has selectors, tolerations, alternatives or allocationMode All: a
//   node takes as many workers as its devices can serve by any of the alternatives, and of those
//   that no claim has but claims of pods of the job. A request of accelerators limits nothing here.
// They stand among the rules of volumes, which limit nodes alike. A second call changes nothing.
//
// Returns what is not evaluated (below) for any of them, each text once.
// Precondition  the inputs have their claims: before CountClaims.
// Cost  nothing without claims; else O(slices + nodes) for each request with such a rule.
std::vector<std::string> LimitToClaims(api::Inputs& inputs);

// What of the selectors of the templates that these claims name, and of the classes that those and
// `device_class` ("": none) name, is not evaluated: one text each. Of accelerators all but what
// DeviceClass::driver, type and product hold; of other devices what api::DeviceSelector cannot
// read.
std::vector<std::string> SelectorsNotEvaluated(const api::Inputs& inputs, const std::string& space,
                                               const std::vector<api::ClaimReference>& claims,
                                               const std::string& device_class);

}  // namespace weft::cluster
