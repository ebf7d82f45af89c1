#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "operator/api/kueue.h"
#include "operator/api/placement.h"
#include "operator/life/job_step.h"

namespace weft::life {

// The most bytes of a message of a check.
inline constexpr std::size_t kCheckMessageBytes = 4096;  // Kueue allows 32768

// The planner gives these Placements nodes, all or none; they need not exist yet.
struct RequestNodes {
  std::string reservation;
  std::vector<api::Placement> placements;
  std::int64_t seconds = 0;  // until the Workload must give its quota back
};
// Writes the Workload's entries of these checks.
struct AnswerCheck {
  std::vector<std::string> checks;  // names
  api::CheckState state = api::CheckState::kPending;
  std::string message;
  std::map<std::string, std::string> placements;  // by pod set: the label that its pods get
};
struct DropPlacements {
  std::vector<const api::Placement*> placements;
};
using CheckStep = std::variant<RequestNodes, AnswerCheck, DropPlacements, Wait>;

}  // namespace weft::life
