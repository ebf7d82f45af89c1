#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/kinds.h"
#include "operator/base/timestamp.h"

namespace weft::life {

// The status of a TrainingJob as a value: read from the object, changed, written where it differs.
struct JobStatus {
  std::int64_t attempt = 0;
  std::string placement_name;
  std::vector<api::Condition> conditions;
  api::JobRecord record;

  friend bool operator==(const JobStatus&, const JobStatus&) = default;
};

JobStatus StatusOf(const api::TrainingJob& job);

const api::Condition* FindCondition(const JobStatus& status, std::string_view type);
bool Is(const JobStatus& status, std::string_view type);                    // the condition is True
std::string_view ReasonOf(const JobStatus& status, std::string_view type);  // "" without it
// When the condition came to its present status; nothing without it.
std::optional<UnixSeconds> Since(const JobStatus& status, std::string_view type);

struct ConditionChange {
  std::string_view type;
  bool is = false;
  std::string_view reason;
  std::string message;
};
// The transition time moves only where the status does.
void SetCondition(JobStatus& status, const ConditionChange& change, UnixSeconds now);

// One word for people, from the conditions: Pending, Placed, Running, Restarting, Suspended,
// Complete, Failed, Invalid.
std::string PhaseOf(const JobStatus& status);

// `status` of the object, in the order of the reference.
nlohmann::ordered_json EncodeJobStatus(const JobStatus& status);

// The printer columns that a Placement's status gives: spans, bytes across nodes, and how far that
// is from the best.
void Summarise(const api::Placement& placement, api::Summary& summary);

}  // namespace weft::life
