#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weft::manifest {

// Which parts of an object are kept while it is read: all of Weft's own kinds (`weft snapshot`
// writes them back), the fields of Nodes, Pods and Workloads that api/decode.h reads, and only the
// name of ignored kinds, so that their bulk and their secrets are never in memory. `kubectl` writes
// `kind` before the large fields; until `kind` is known, only fields that no kind needs are
// dropped.
enum class Subject : std::uint8_t {
  kUnknown,  // the kind has not been read yet
  kWhole,    // Weft's own kinds, PriorityClass, Namespace, ConfigMap, those of devices and volumes,
             // most of Kueue's, lists
  kNode,
  kPod,
  kWorkload,  // of Kueue; its pod templates as kPod
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
  kVolumes,      // of a pod
  kPodSets,      // of a Workload
  kPodTemplate,  // of a Workload
  kPodSpec,      // of a Workload's pod template
  kElsewhere,    // no rule applies below
};

// The position of the member `key` of an object at `where`; nullopt: drop the member. Elements of a
// list have the list's position.
std::optional<Where> Enter(Subject subject, Where where, std::string_view key);

}  // namespace weft::manifest
