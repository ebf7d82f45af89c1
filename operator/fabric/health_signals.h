#pragma once

#include <optional>
#include <string>

#include "operator/fabric/node_facts.h"

namespace weft::fabric {

// What health monitors, clouds and autoscalers say about a node that should get no more workers, as
// "condition GpuMemWatch=True" or "taint KEY:EFFECT"; nothing if they say nothing. A toleration
// does not help: a training job that gets such a node fails with it.
std::optional<std::string> HealthSignal(const NodeFacts& node);

}  // namespace weft::fabric
