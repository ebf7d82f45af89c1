#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/fabric/node_facts.h"

namespace weft::fabric {

// What health monitors, operators, clouds and autoscalers say about a node that should get no more
// workers, as "condition GpuMemWatch=True", "taint KEY:EFFECT" or "label KEY=VALUE"; nothing if
// they say nothing. A toleration does not help: a training job that gets such a node fails with it.
std::optional<std::string> HealthSignal(const NodeFacts& node);

// One of these conditions, and since when the node has it.
struct HealthChange {
  std::string condition;   // "GpuXidError=True"
  std::int64_t since = 0;  // Unix seconds

  friend bool operator==(const HealthChange&, const HealthChange&) = default;
};
// In the order of the node's status, without those that have no time.
std::vector<HealthChange> HealthChanges(const NodeFacts& node);
// Whether a monitor of GPUs reports such a condition of the node, good or bad.
bool IsMonitored(const NodeFacts& node);

// When the condition Ready got another status than True; 0 if it is True, absent or has no time.
std::int64_t UnreadySince(const NodeFacts& node);

}  // namespace weft::fabric
