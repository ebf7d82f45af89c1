#pragma once

#include <string>
#include <vector>

#include "operator/base/result.h"
#include "operator/base/timestamp.h"
#include "operator/kube/transport.h"
#include "operator/report/usage_report.h"

namespace weft::cli {

// The answer of a Prometheus server to one instant query at a time. Works with servers that speak
// its API, such as Thanos and Mimir.
// Source  Prometheus, "HTTP API", /api/v1/query.
// Errors  kTransient: no answer, another status than 200, or no vector; the message has the
// server's
//         own words.
Result<std::vector<report::Series>> AskPrometheus(kube::Transport& server, const std::string& query,
                                                  UnixSeconds at);

// "7d", "36h", "1w", "1d12h": whole numbers with units w, d, h and m. Nothing for other texts, for
// less than ten minutes and for more than ten years.
std::optional<std::int64_t> ParsePeriod(const std::string& text);

}  // namespace weft::cli
