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

// Single requests to an API server, with their answers decoded. Waits its turn by a rate limit.
//
// If the server is too busy (429, 503, 504, or a 5xx with Retry-After), the request is retried a
// few times, after the server's Retry-After or a jittered backoff. Only safe requests are retried:
// after a 429 nothing was done, but after the others a POST or a JSON patch may have been applied.
// If the server asks for a wait longer than longest_pause, the caller's backoff provides it.
//
// Errors  kNotFound 404; kConflict 409 (changed, or exists already), or a patch whose precondition
//         does not hold; kInvalid other 4xx, with the server's words; kTransient: no answer, 401,
//         429, 5xx. A create that got no answer may have happened: read before doing it again.
// Thread-safety  all calls may run at once.
class Client {
 public:
  struct Options {
    std::string field_manager = "weft";
    double requests_per_second = 500;
    int burst = 1'000;
    int tries = 4;
    Millis first_pause{500};
    Millis longest_pause{10'000};
    std::uint64_t seed = 1;  // of the pauses' jitter: another one for each replica
    // Of every request, see Request::until; null: never.
    std::function<Instant()> until = nullptr;
  };
  using PatchType = kube::PatchType;
  Client(Transport& transport, Timer& timer, Options options);

  Result<nlohmann::json> Get(const Resource& resource, const api::ObjectKey& key);
  Result<nlohmann::json> Create(const Resource& resource, const nlohmann::json& object,
                                bool dry_run = false);
  // Apply takes the fields that it names from other managers.
  Result<nlohmann::json> Patch(const Resource& resource, const api::ObjectKey& key, PatchType type,
                               const nlohmann::json& patch, std::string_view subresource = "");
  Result<nlohmann::json> Replace(const Resource& resource, const nlohmann::json& object,
                                 std::string_view subresource = "");
  // An object that is gone already counts as deleted, even if another one has its name.
  Status Delete(const Resource& resource, const api::ObjectKey& key, const Precondition& only);
  // One try: 429 says that a disruption budget forbids it at present (kTransient).
  Status Evict(const api::ObjectKey& pod, const Precondition& only);

  // Sends a request of requests.h with retries; returns the body of a 2xx answer.
  Result<nlohmann::json> Do(const Request& request);

 private:
  Result<nlohmann::json> Do(Request request, int tries);

  Transport& transport_;
  Timer& timer_;
  const Options options_;
  RateLimit limit_;
  std::atomic<std::uint64_t> seed_;
};

// The Error of an answer that is not 2xx.
Error ErrorOf(const Request& request, const Response& response);

}  // namespace weft::kube
