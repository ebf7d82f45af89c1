#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/pod.h"
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
// Cost  O(members).
BindVerdict JudgeBinding(const std::vector<GangMember>& gang, const BindWindow& window,
                         UnixSeconds now);

// Seconds until the window ends; 0 or less if it has ended.
std::int64_t WindowLeft(const BindWindow& window, UnixSeconds now);

}  // namespace weft::life
