#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weft::manifest {

// What is kept of an object while it is read: Weft's own kinds whole (snapshot writes them back),
// of Nodes and Pods what api/decode.h reads, of kinds that Weft ignores the name alone, so that
// neither size nor secrets of theirs stand in memory. `kubectl` writes `kind` before the bulk;
// where it comes late, only what no kind needs is dropped.
enum class Subject : std::uint8_t {
  kUnknown,  // the kind has not been read yet
  kWhole,    // Weft's own kinds, PriorityClass, Namespace, lists
  kNode,
  kPod,
  kIgnored,
  kEverything,  // not a Kubernetes object: nothing is dropped
};
Subject SubjectOfKind(std::string_view kind);

// A place inside an object, as far as the rules tell them apart.
enum class Where : std::uint8_t {
  kAround,  // of a watch event or a list, around the objects
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
