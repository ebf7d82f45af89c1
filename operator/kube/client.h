#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "operator/base/result.h"
#include "operator/kube/rate_limit.h"
#include "operator/kube/resource.h"
#include "operator/kube/timer.h"
#include "operator/kube/transport.h"

namespace weft::kube {

// Which object a write is about: one of the same name that came later is another.
struct Precondition {
  std::string uid;               // "" any
  std::string resource_version;  // "" any
};

// Single requests to an API server, with their answers decoded. Waits its turn by a rate limit, and
// as long as a server that is too busy asks for (429 and 503 with Retry-After), a few times.
//
// Errors  kNotFound 404; kConflict 409 (changed, or exists already); kInvalid other 4xx, with the
//         server's words; kTransient: no answer, 401, 429, 5xx. A create that got no answer may
//         have happened: read before doing it again.
// Thread-safety  all calls may run at once.
class Client {
 public:
  struct Options {
    std::string field_manager = "weft";
    double requests_per_second = 500;
    int burst = 1'000;
    int tries = 4;
  };
  Client(Transport& transport, Timer& timer, Options options);

  Result<nlohmann::json> Get(const Resource& resource, const api::ObjectKey& key);
  Result<nlohmann::json> Create(const Resource& resource, const nlohmann::json& object,
                                bool dry_run = false);
  enum class PatchType : std::uint8_t { kMerge, kJson, kApply };
  // A merge patch carries the precondition in its metadata, a JSON patch as tests in front.
  Result<nlohmann::json> Patch(const Resource& resource, const api::ObjectKey& key, PatchType type,
                               const nlohmann::json& patch, std::string_view subresource = "");
  Result<nlohmann::json> Replace(const Resource& resource, const nlohmann::json& object);
  // What is gone already counts as done.
  Status Delete(const Resource& resource, const api::ObjectKey& key, const Precondition& only);
  Status Evict(const api::ObjectKey& pod, const Precondition& only);

  // One request, as often as it is worth; the body of a 2xx answer.
  Result<nlohmann::json> Do(Request request);

 private:
  Transport& transport_;
  Timer& timer_;
  const Options options_;
  RateLimit limit_;
};

// What an answer that is not 2xx means.
Error ErrorOf(const Request& request, const Response& response);

}  // namespace weft::kube
