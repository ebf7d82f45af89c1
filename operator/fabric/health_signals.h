#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "operator/fabric/node_facts.h"

namespace weft::fabric {

// What health monitors, operators, clouds and autoscalers say about a node that should get no more
// workers, as "condition GpuMemWatch=True", "taint KEY:EFFECT" or "label KEY=VALUE"; nothing if
// they say nothing. A toleration does not help: a training job that gets such a node fails with it.
std::optional<std::string> HealthSignal(const NodeFacts& node);

// The last of these conditions that a node has got, and when.
struct HealthChange {
  std::string condition;
  std::int64_t since = 0;  // Unix seconds
};
// Nothing if the node has none, or none with a time.
std::optional<HealthChange> LastHealthChange(const NodeFacts& node);

// When the condition Ready got another status than True; 0 if it is True, absent or has no time.
std::int64_t UnreadySince(const NodeFacts& node);

}  // namespace weft::fabric
