#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/kinds.h"
#include "operator/base/timestamp.h"
#include "operator/life/retry.h"

namespace weft::life {

// The time in which kube-scheduler must bind the whole gang, for TrainingJobs and gangs of other
// controllers. Only our own conditions open it, never a time that the API server wrote.

// A pod of the gang and the node that it is pinned to.
struct GangMember {
  const api::Pod* pod = nullptr;
  const std::string* node = nullptr;  // null: no Placement says
  bool node_exists = true;
};

struct BindWindow {
  std::optional<UnixSeconds> opened;  // nothing: it is not open
  bool silent = false;                // the last one ended in silence
  std::int64_t seconds = 0;           // how long it is
};

enum class Binding : std::uint8_t {
  kDone,    // every pod is bound
  kOpen,    // kube-scheduler is at work: the window is to be opened
  kWait,    // it is open
  kGated,   // pods wait for a scheduling gate of others: kube-scheduler does not look at them
  kSilent,  // none is bound, and kube-scheduler reported nothing about any
  kUndo,    // a gang is never left half bound
};

struct BindVerdict {
  Binding binding = Binding::kDone;
  std::int64_t seconds = 0;                // kWait: until the window ends
  Cause cause = Cause::kSchedulerRefused;  // kUndo
  std::vector<std::string> refused;        // kUndo: nodes of the pods that were refused
  std::string message;                     // kUndo, kGated, kSilent: a sentence
};

// Silence is not a refusal: an unbound gang waits for kube-scheduler; a partly bound gang is taken
// down at the end of the window, without excluding a node.
// Cost  O(members).
BindVerdict JudgeBinding(const std::vector<GangMember>& gang, const BindWindow& window,
                         UnixSeconds now);

// Seconds until the window ends; at most 0 where it has ended.
std::int64_t WindowLeft(const BindWindow& window, UnixSeconds now);

}  // namespace weft::life
