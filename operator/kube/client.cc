#include "operator/kube/client.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/json_member.h"
#include "operator/api/json_text.h"
#include "operator/kube/backoff.h"
#include "operator/kube/status_code.h"

namespace weft::kube {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kJsonPatch = "application/json-patch+json";
constexpr std::size_t kMostWords = 2'000;  // most bytes of a server's message
// Pauses between tries. The caller's thread waits, so a longer pause is left to its own backoff.
constexpr Millis kFirstRetryPause{500}, kLongestRetryPause{10'000};
// A quota is written within milliseconds, and whoever creates holds one of few threads.
constexpr Millis kFirstQuotaPause{20}, kLongestQuotaPause{100};

bool IsBusy(const Response& response) {
  const int status = response.status;
  return status == kTooManyRequests || status == kUnavailable || status == kGatewayTimeout ||
         (status >= 500 && response.retry_after);
}

// Whether sending the request twice has the effect of sending it once. This holds for PUT and merge
// patches, because their preconditions no longer hold after the first.
bool MayRepeat(const Request& request) {
  return request.method != Method::kPost && request.content_type != kJsonPatch;
}

Json Member(const Json& json, const char* key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return json.is_object() && found != json.end() ? *found : Json();
}

// Whether a precondition of a patch failed; the server reports this as Invalid too. If a JSON patch
// does not fit the object (a failed `test`), the details have no kind, unlike for an invalid
// object. Another uid in a merge patch is reported as an immutable field.
bool IsOutdated(const Request& request, const Response& response, const Json& status) {
  constexpr int kUnprocessable = 422;
  if (request.method != Method::kPatch || response.status != kUnprocessable) return false;
  const Json details = Member(status, "details");
  if (request.content_type == kJsonPatch && !details.contains("kind")) return true;
  const Json causes = Member(details, "causes");
  return causes.is_array() && !causes.empty() &&
         std::all_of(causes.begin(), causes.end(), [](const Json& cause) {
           return api::TextAt(cause, "field") == "metadata.uid";
         });
}

Error Stopping() { return {ErrorKind::kTransient, "the program is stopping"}; }

}  // namespace

bool MetBusyQuota(const Request& request, const Response& response) {
  if (request.method != Method::kPost || request.path.ends_with("/eviction")) return false;
  if (response.status != kConflict) return false;
  const Json status = api::ParseJson(response.body);
  return status.is_object() && api::TextAt(status, "reason") == "Conflict";
}

Error ErrorOf(const Request& request, const Response& response) {
  const Json status = api::ParseJson(response.body);
  std::string message = status.is_object() ? api::TextAt(status, "message") : response.body;
  if (message.size() > kMostWords) message.resize(kMostWords);
  const std::string words = std::string(NameOf(request.method)) + " " + request.path + ": " +
                            std::to_string(response.status) + " " + message;
  if (IsOutdated(request, response, status)) return {ErrorKind::kConflict, words};
  switch (response.status) {
    case kNotFound:
      return {ErrorKind::kNotFound, words};
    case kConflict:
      return {MetBusyQuota(request, response) ? ErrorKind::kTransient : ErrorKind::kConflict,
              words};
    case kUnauthorized:
    case kTooManyRequests:
      return {ErrorKind::kTransient, words};
    default:
      return {response.status / 100 == 4 ? ErrorKind::kInvalid : ErrorKind::kTransient, words};
  }
}

Client::Client(Transport& transport, Timer& timer, Options options)
    : transport_(transport),
      timer_(timer),
      options_(std::move(options)),
      limit_(options_.requests_per_second, options_.burst),
      seed_(options_.seed) {}

Result<Json> Client::Do(const Request& request) { return Do(request, options_.tries); }

Result<Json> Client::Do(Request request, int tries) {
  request.until = options_.until;
  Backoff backoff({.first = kFirstRetryPause, .longest = kLongestRetryPause}, seed_++);
  Backoff of_quota({.first = kFirstQuotaPause, .longest = kLongestQuotaPause}, seed_++);
  for (;; --tries) {
    const Millis turn = limit_.Take(timer_.Now());
    if (turn.count() > 0 && !timer_.Wait(turn)) return Stopping();
    if (!MaySend(request, timer_.Now())) return NotSent();
    Result<Response> response = transport_.Send(request);
    if (!response) return response.error();
    if (response->status / 100 == 2) {
      Json body = api::ParseJson(response->body);
      if (!body.is_discarded()) return body;
      return Error{ErrorKind::kTransient, request.path + ": the answer is not JSON"};
    }
    const bool quota = MetBusyQuota(request, *response);
    const bool not_done = quota || response->status == kTooManyRequests;
    const bool again = not_done || (IsBusy(*response) && MayRepeat(request));
    const bool soon = response->retry_after.value_or(Millis{0}) <= kLongestRetryPause;
    if (!again || !soon || tries <= 1) return ErrorOf(request, *response);
    Backoff& pauses = quota ? of_quota : backoff;
    if (!timer_.Wait(pauses.Failed(timer_.Now(), response->retry_after))) return Stopping();
  }
}

Result<Json> Client::Get(const Resource& resource, const api::ObjectKey& key) {
  return Do(GetRequest(resource, key));
}

Result<Json> Client::Create(const Resource& resource, const Json& object, bool dry_run) {
  return Do(CreateRequest(resource, object,
                          {.field_manager = options_.field_manager, .dry_run = dry_run}));
}

Result<Json> Client::Patch(const Resource& resource, const api::ObjectKey& key, PatchType type,
                           const Json& patch, std::string_view subresource) {
  return Do(PatchRequest(resource, key, {type, patch},
                         {.field_manager = options_.field_manager,
                          .subresource = subresource,
                          .force = type == PatchType::kApply}));
}

Result<Json> Client::Replace(const Resource& resource, const Json& object,
                             std::string_view subresource) {
  return Do(ReplaceRequest(resource, object,
                           {.field_manager = options_.field_manager, .subresource = subresource}));
}

Status Client::Delete(const Resource& resource, const api::ObjectKey& key,
                      const Precondition& only) {
  const Result<Json> answer = Do(DeleteRequest(resource, key, {.only = only}));
  if (answer || answer.error().kind == ErrorKind::kNotFound) return {};
  // A new object has the name, so the object to delete is gone.
  const bool replaced = !only.uid.empty() && only.resource_version.empty();
  if (answer.error().kind == ErrorKind::kConflict && replaced) return {};
  return answer.error();
}

Status Client::Evict(const api::ObjectKey& pod, const Precondition& only) {
  const Result<Json> answer = Do(EvictRequest(pod, {.only = only}), 1);
  if (answer || answer.error().kind == ErrorKind::kNotFound) return {};
  return answer.error();
}

}  // namespace weft::kube
