#pragma once

#include <nlohmann/json_fwd.hpp>

#include "operator/base/timestamp.h"

namespace weft::life {

// A node's name and creationTimestamp together name its machine: a node that is made again under
// its name gets a later one, however soon it is made again; an earlier one is late news.

// The annotation of a worker's pod: the creationTimestamp of its node when the pod was created.
inline constexpr const char* kNodeCreatedAnnotation = "weft.dev/node-created";

// Writes the annotation to a pod that is about to be created. `made`: the creationTimestamp of its
// node; 0: it is not known, and nothing is written.
void NameMachine(UnixSeconds made, nlohmann::json& pod);

}  // namespace weft::life
