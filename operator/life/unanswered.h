#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "operator/life/job_status.h"
#include "operator/life/job_view.h"

namespace weft::life {

// How long a job's writes may fail before its status says so: a change of leaders or a short outage
// is worth no event. What the API server refuses is said at once.
inline constexpr std::int64_t kUnansweredSeconds = 10;

// The status of a job whose next write is refused, or fails for a passing reason, such as a webhook
// that is down: NotWritten in Placed, with the server's words. Nothing if it says so already,
// whatever the words, so that repeats are written once; if the spec is unreadable; or if the job
// has no nodes and is being deleted, suspended already, has ended, or has given back a quota that
// cannot be used.
std::optional<JobStatus> AfterUnanswered(const JobView& view, const std::string& why);

// The status of a job with nodes after all that it needs was written: NotWritten has gone. Nothing
// if it does not say so, or if its Service is not there yet. Without nodes the next answer about
// them replaces NotWritten.
std::optional<JobStatus> AfterWritten(const JobView& view);

}  // namespace weft::life
