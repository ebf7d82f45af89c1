#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weft::manifest {

// The parts of an object that are kept while it is read: everything of Weft's own kinds (snapshot
// writes them back), the fields of Nodes and Pods that api/decode.h reads, and only the name of
// ignored kinds, so that neither their size nor their secrets are in memory. `kubectl` writes
// `kind` before the large fields; if it comes late, only fields that no kind needs are dropped.
enum class Subject : std::uint8_t {
  kUnknown,  // the kind has not been read yet
  kWhole,    // Weft's own kinds, PriorityClass, Namespace, lists
  kNode,
  kPod,
  kIgnored,
  kEverything,  // not a Kubernetes object: nothing is dropped
};
Subject SubjectOfKind(std::string_view kind);

// A position inside an object, as far as the rules distinguish them.
enum class Where : std::uint8_t {
  kAround,  // the frame around objects: a watch event or a list
  kRoot,
  kMetadata,
  kAnnotations,
  kSpec,
  kStatus,
  kConditions,
  kContainers,
  kElsewhere,  // no rule below here
};

// Where the member `key` of an object at `where` is; nullopt: drop it. Elements of a list are where
// the list is.
std::optional<Where> Enter(Subject subject, Where where, std::string_view key);

}  // namespace weft::manifest
