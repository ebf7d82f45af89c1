#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/meta.h"

namespace weft::api {

// What the operator knows of a workload that waits for nodes, beside what its author wrote: it
// comes from status, from the operator's memory and from its clock (life/as_of.h), so that
// decisions need neither. A snapshot carries it as annotations; they are read from files only,
// because in a cluster anybody may write them.
struct WaitFacts {
  std::vector<std::string> excluded_nodes;
  std::vector<std::string> avoided_nodes;  // used only if others are not as good
  // Of the last attempt, by worker: they still have its images and checkpoints.
  std::vector<std::string> previous_nodes;
  std::optional<std::int64_t> waited_seconds;

  friend bool operator==(const WaitFacts&, const WaitFacts&) = default;
};

// Lists are names with commas between.
inline constexpr const char* kExcludedNodesAnnotation = "weft.dev/excluded-nodes";
inline constexpr const char* kAvoidedNodesAnnotation = "weft.dev/avoided-nodes";
inline constexpr const char* kPreviousNodesAnnotation = "weft.dev/previous-nodes";
inline constexpr const char* kWaitedAnnotation = "weft.dev/waited-seconds";

class Field;
// From an object's metadata. Notes an error if the wait is not a number of seconds.
WaitFacts DecodeWaitFacts(const Field& metadata);
// Replaces the four annotations.
void EncodeWaitFacts(const WaitFacts& facts, TextMap& annotations);

}  // namespace weft::api
