#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "operator/base/result.h"
#include "operator/base/sample.h"
#include "operator/base/timestamp.h"
#include "operator/kube/config.h"
#include "operator/kube/transport.h"

namespace weft::promql {

// A Prometheus server, or one that speaks its API, such as Thanos and Mimir.
struct Server {
  std::string url;                                   // "http://127.0.0.1:9090"
  std::string token_file = {}, authority_file = {};  // a bearer token, and PEM; "": none
  bool insecure = false;                             // does not verify the server's certificate
};
// For kube::MakeHttpTransport.
// Errors  kInvalid if the URL is not one of http or https; the message names --prometheus.
Result<kube::Config> ConfigOf(const Server& server);

// An instant query.
struct Query {
  std::string text;
  UnixSeconds at = 0;
  // Prometheus gives up a query after two minutes by default.
  std::chrono::milliseconds timeout{130'000};
  std::function<kube::Instant()> until = nullptr;  // as kube::Request::until
};

// The answer of a server to an instant query.
// Source  Prometheus, "HTTP API", /api/v1/query.
// Errors  kInvalid: the server refuses this query (400, 422), others may be answered; kTransient:
// no
//         answer, another status, or no vector. The message has the server's own words.
Result<std::vector<Sample>> QueryPrometheus(kube::Transport& server, const Query& query);

}  // namespace weft::promql
