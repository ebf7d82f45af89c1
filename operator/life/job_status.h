#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/placement.h"
#include "operator/api/training_job.h"
#include "operator/base/timestamp.h"

namespace weft::life {

// The status of a TrainingJob as a value: read from the object, changed, and written if it differs.
struct JobStatus {
  std::int64_t attempt = 0;
  std::string placement_name;
  std::vector<api::Condition> conditions;
  api::JobRecord record;

  friend bool operator==(const JobStatus&, const JobStatus&) = default;
};

JobStatus StatusOf(const api::TrainingJob& job);

const api::Condition* FindCondition(const JobStatus& status, std::string_view type);
bool Is(const JobStatus& status, std::string_view type);                    // its status is True
std::string_view ReasonOf(const JobStatus& status, std::string_view type);  // "" if absent
// Since when the condition has its present status; nothing if it is absent.
std::optional<UnixSeconds> Since(const JobStatus& status, std::string_view type);

// The reason of the condition Placed where the API server does not take a write of the job: True if
// the job has nodes, Unknown if it waited for Kueue until then, else False.
inline constexpr std::string_view kNotWritten = "NotWritten";

struct ConditionChange {
  std::string_view type;
  bool is = false;
  std::string_view reason;
  std::string message;
};
// The transition time changes only if the status does.
void SetCondition(JobStatus& status, const ConditionChange& change, UnixSeconds now);

// One word for people that sums up the conditions: Pending, Placed, Running, Restarting, Suspended,
// Complete, Failed, Invalid.
std::string PhaseOf(const JobStatus& status);
// Why a job is Invalid, has Failed, has no nodes, lacks what the API server refuses (NotWritten) or
// waits at its kubelets: the reason of that condition; else "".
std::string_view WhyOf(const JobStatus& status);

// The object's `status`, keys in the order of operator/docs/api.md.
nlohmann::ordered_json EncodeJobStatus(const JobStatus& status);

// Fills the printer columns that come from a Placement's status: spans, bytes across nodes, the
// cost relative to the best, and the predicted step, tokens per second and memory.
void Summarise(const api::Placement& placement, api::Summary& summary);

}  // namespace weft::life
