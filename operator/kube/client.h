#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "operator/base/result.h"
#include "operator/kube/rate_limit.h"
#include "operator/kube/requests.h"
#include "operator/kube/resource.h"
#include "operator/kube/timer.h"
#include "operator/kube/transport.h"

namespace weft::kube {

// Whether a create was refused because a ResourceQuota of its namespace was written at the same
// time (kubernetes/kubernetes 67761), which is usual while many pods are created: 409 with the
// reason Conflict. Nothing was created, unlike after a 409 whose reason is AlreadyExists.
bool MetBusyQuota(const Request& request, const Response& response);

// Single requests to an API server, with decoded answers. Requests wait for a rate limit.
//
// If the server is too busy (429, 503, 504, or a 5xx with Retry-After), the request is retried a
// few times, after the server's Retry-After or a jittered backoff, and so is, within a fifth of a
// second, a create that met a busy quota. Only safe requests are retried: after a
// 429 or such a 409 the server did nothing, but after the others it may have applied a POST or JSON
// patch. If the server asks for a wait longer than 10 s, the error is returned, and the caller's
// backoff must wait.
//
// Errors  kNotFound 404; kConflict 409 (changed, or exists already), or a patch whose precondition
//         does not hold; kInvalid other 4xx, with the server's message; kTransient: no answer, 401,
//         429, 5xx, a busy ResourceQuota. A create without an answer may have happened: read before
//         retrying.
// Thread-safety  all calls may run at once.
class Client {
 public:
  struct Options {
    std::string field_manager = "weft";
    double requests_per_second = 500;
    int burst = 1'000;
    int tries = 4;
    std::uint64_t seed = 1;  // of the jitter; different in each replica
    // Sets Request::until of every request; null: no limit.
    std::function<Instant()> until = nullptr;
  };
  using PatchType = kube::PatchType;
  Client(Transport& transport, Timer& timer, Options options);

  Result<nlohmann::json> Get(const Resource& resource, const api::ObjectKey& key);
  Result<nlohmann::json> Create(const Resource& resource, const nlohmann::json& object,
                                bool dry_run = false);
  // An apply patch takes over its fields from other managers.
  Result<nlohmann::json> Patch(const Resource& resource, const api::ObjectKey& key, PatchType type,
                               const nlohmann::json& patch, std::string_view subresource = "");
  Result<nlohmann::json> Replace(const Resource& resource, const nlohmann::json& object,
                                 std::string_view subresource = "");
  // An object that is already gone counts as deleted, even if a new object has its name.
  Status Delete(const Resource& resource, const api::ObjectKey& key, const Precondition& only);
  // Tries once: 429 means that a disruption budget forbids it now (kTransient).
  Status Evict(const api::ObjectKey& pod, const Precondition& only);

  // Sends a request of requests.h with retries; returns the body of a 2xx answer.
  Result<nlohmann::json> Do(const Request& request);
  Result<nlohmann::json> Do(Request request, int tries);

 private:
  Transport& transport_;
  Timer& timer_;
  const Options options_;
  RateLimit limit_;
  std::atomic<std::uint64_t> seed_;
};

// The Error for an answer that is not 2xx.
Error ErrorOf(const Request& request, const Response& response);

}  // namespace weft::kube
