#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "operator/life/job_status.h"
#include "operator/life/job_view.h"

namespace weft::life {

// The reason of Placed=False where the API server does not take a write that the job waits for.
inline constexpr std::string_view kNotWritten = "NotWritten";

// How long a job's writes may fail before its status says so: a change of leaders or a short outage
// is worth no event.
inline constexpr std::int64_t kUnansweredSeconds = 10;

// The status of a job without nodes whose next write fails for a passing reason, such as a webhook
// that is down: Placed=False, NotWritten, with the server's words. Nothing if it says so
// already, whatever the words, so that repeats are written once; if it has nodes, loses them, is
// being deleted, unreadable or suspended already, or has ended.
std::optional<JobStatus> AfterUnanswered(const JobView& view, const std::string& why);

}  // namespace weft::life
