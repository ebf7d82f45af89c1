#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/pod.h"
#include "operator/api/pod_group.h"
#include "operator/base/timestamp.h"
#include "operator/life/retry.h"

namespace weft::life {

// The bind window: the time in which kube-scheduler must bind a whole gang, of a TrainingJob or of
// another controller. It starts at the transition time of a condition that Weft wrote, never at a
// time that the API server wrote.

// A pod of the gang and the node that it is pinned to.
struct GangMember {
  const api::Pod* pod = nullptr;
  const std::string* node = nullptr;  // null: no Placement names one
  bool node_exists = true;
};

// The PodGroup that the gang's pods name.
struct GangGroup {
  bool known = false;                    // PodGroups are listed: one that is missing is gone
  const api::PodGroup* group = nullptr;  // null: missing, or the pods name none
};

// Where kube-scheduler preempts for a gang in a PodGroup that it heeds, the window lasts longer by
// so much: the pods that go have their grace period, in which a training job writes a checkpoint.
inline constexpr std::int64_t kPreemptionSeconds = 1'800;

// The window is a second longer for each so many pods: the last of a large gang is created later.
// Any API server can create so many in a second.
inline constexpr std::int64_t kCreatesPerSecond = 100;

struct BindWindow {
  std::optional<UnixSeconds> opened;  // nothing: the window is not open
  bool silent = false;                // in the last window kube-scheduler reported nothing
  std::int64_t seconds = 0;           // the window's length
};

enum class Binding : std::uint8_t {
  kDone,    // every pod is bound
  kOpen,    // the caller must open the window
  kWait,    // the window is open
  kGated,   // pods wait for another controller's scheduling gate: kube-scheduler skips them
  kSilent,  // no pod is bound, and kube-scheduler reported nothing about any pod
  kUndo,    // the gang must be taken down: it must not stay half bound
};

struct BindVerdict {
  Binding binding = Binding::kDone;
  std::int64_t seconds = 0;                // kWait: until the window ends
  Cause cause = Cause::kSchedulerRefused;  // kUndo
  std::vector<std::string> refused;        // kUndo: nodes of the pods that were refused
  std::string message;                     // kUndo, kGated, kSilent: a sentence
};

// If kube-scheduler reports nothing, that is not a refusal: an unbound gang keeps waiting, and a
// partly bound gang is taken down at the end of the window without excluding a node.
//
// Of a PodGroup kube-scheduler tries the pods in turn until one is refused; only that one has a
// reason of its own, and only its node is excluded. Pods whose PodGroup is gone are not tried, in
// silence: the gang is taken down at the end of the window.
// Source  kubernetes 1.37 pkg/scheduler/schedule_one_podgroup.go, plugins/gangscheduling.
// Cost  O(members).
BindVerdict JudgeBinding(const std::vector<GangMember>& gang, const GangGroup& group,
                         const BindWindow& window, UnixSeconds now);

// Seconds until the window ends; 0 or less if it has ended.
std::int64_t WindowLeft(const BindWindow& window, UnixSeconds now);

}  // namespace weft::life
