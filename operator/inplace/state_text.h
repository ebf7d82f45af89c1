#pragma once

#include <optional>
#include <string>

#include "operator/base/timestamp.h"
#include "operator/inplace/member.h"

namespace weft::inplace {

// What the answer to GET /state holds beside the member's own state.
struct ParentState {
  std::optional<int> pid;  // of the trainer's main process, while it runs
  std::optional<UnixSeconds> last_checkpoint;
};

// JSON, one line: {"rank": 1, "workers": 3, "revision": 4, "startedRevision": 4, "phase":
// "running", "pid": 17, "exitCode": null, "inContact": true, "missing": 0, "lastCheckpointTime":
// "2026-08-22T10:00:00Z"}. What is not known is null; exitCode is that of the last trainer that
// ended, and null once another was started.
std::string StateText(const Member& member, const ParentState& parent);

}  // namespace weft::inplace
