#pragma once

#include "operator/fabric/fabric.h"
#include "operator/objective/request.h"

namespace weft::placement {

// A level that must hold workers together is none where nodes lack its label: a kind without labels
// (fabric::UnlabelledKind) is one domain of it by assumption only. Sets pod.level_labels to the
// labels of the levels that are required of more than one worker; to none where the fabric has no
// such kind. To be called again after what is required has changed.
void RequireLevelLabels(const fabric::Fabric& fabric, objective::Request& request);

}  // namespace weft::placement
