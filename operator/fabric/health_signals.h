#pragma once

#include <optional>
#include <string>

#include "operator/fabric/node_facts.h"

namespace weft::fabric {

// What health monitors, operators, clouds and autoscalers say about a node that should get no more
// workers, as "condition GpuMemWatch=True", "taint KEY:EFFECT" or "label KEY=VALUE"; nothing if
// they say nothing. A toleration does not help: a training job that gets such a node fails with it.
std::optional<std::string> HealthSignal(const NodeFacts& node);

}  // namespace weft::fabric
