#include "operator/kube/client.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace weft::kube {
namespace {

using Json = nlohmann::json;

constexpr Millis kShortestPause{250};
constexpr Millis kLongestPause{10'000};
constexpr std::size_t kMostWords = 2'000;  // of a server's message

const char* NameOf(Method method) {
  switch (method) {
    case Method::kGet:
      return "GET";
    case Method::kPost:
      return "POST";
    case Method::kPut:
      return "PUT";
    case Method::kPatch:
      return "PATCH";
    case Method::kDelete:
      return "DELETE";
  }
  return "";
}

bool IsBusy(int status) { return status == 429 || status == 503 || status == 504; }

std::string WordsOf(const std::string& body) {
  const Json status = Json::parse(body, nullptr, false);
  std::string words = status.is_object() ? status.value("message", "") : body;
  if (words.size() > kMostWords) words.resize(kMostWords);
  return words;
}

Json PreconditionsOf(const Precondition& only) {
  Json json = Json::object();
  if (!only.uid.empty()) json["uid"] = only.uid;
  if (!only.resource_version.empty()) json["resourceVersion"] = only.resource_version;
  return json;
}

}  // namespace

Error ErrorOf(const Request& request, const Response& response) {
  const std::string words = std::string(NameOf(request.method)) + " " + request.path + ": " +
                            std::to_string(response.status) + " " + WordsOf(response.body);
  switch (response.status) {
    case 404:
      return {ErrorKind::kNotFound, words};
    case 409:
      return {ErrorKind::kConflict, words};
    case 401:
    case 429:
      return {ErrorKind::kTransient, words};
    default:
      return {response.status / 100 == 4 ? ErrorKind::kInvalid : ErrorKind::kTransient, words};
  }
}

Client::Client(Transport& transport, Timer& timer, Options options)
    : transport_(transport),
      timer_(timer),
      options_(std::move(options)),
      limit_(options_.requests_per_second, options_.burst) {}

Result<Json> Client::Do(Request request) {
  for (int tries = 1;; ++tries) {
    const Millis turn = limit_.Take(timer_.Now());
    if (turn.count() > 0 && !timer_.Wait(turn)) return Error{ErrorKind::kTransient, "stopping"};
    Result<Response> response = transport_.Send(request);
    if (!response) return response.error();
    if (response->status / 100 == 2) {
      Json body = Json::parse(response->body, nullptr, false);
      if (body.is_discarded()) {
        return Error{ErrorKind::kTransient, request.path + ": the answer is no JSON"};
      }
      return body;
    }
    if (!IsBusy(response->status) || tries == options_.tries) return ErrorOf(request, *response);
    const Millis pause = std::clamp(response->retry_after.value_or(kShortestPause * (1 << tries)),
                                    kShortestPause, kLongestPause);
    if (!timer_.Wait(pause)) return ErrorOf(request, *response);
  }
}

Result<Json> Client::Get(const Resource& resource, const api::ObjectKey& key) {
  Request request;
  request.path = PathOf(resource, key);
  return Do(std::move(request));
}

Result<Json> Client::Create(const Resource& resource, const Json& object, bool dry_run) {
  Request request;
  request.method = Method::kPost;
  const std::string space = object.at("metadata").value("namespace", "");
  request.path = PathOf(resource, {space, ""});
  request.query["fieldManager"] = options_.field_manager;
  if (dry_run) request.query["dryRun"] = "All";
  request.content_type = "application/json";
  request.body = object.dump();
  return Do(std::move(request));
}

Result<Json> Client::Patch(const Resource& resource, const api::ObjectKey& key, PatchType type,
                           const Json& patch, std::string_view subresource) {
  Request request;
  request.method = Method::kPatch;
  request.path = PathOf(resource, key, subresource);
  request.query["fieldManager"] = options_.field_manager;
  request.content_type = type == PatchType::kMerge  ? "application/merge-patch+json"
                         : type == PatchType::kJson ? "application/json-patch+json"
                                                    : "application/apply-patch+yaml";
  if (type == PatchType::kApply) request.query["force"] = "true";
  request.body = patch.dump();
  return Do(std::move(request));
}

Result<Json> Client::Replace(const Resource& resource, const Json& object) {
  const Json& metadata = object.at("metadata");
  Request request;
  request.method = Method::kPut;
  request.path = PathOf(resource, {metadata.value("namespace", ""), metadata.value("name", "")});
  request.query["fieldManager"] = options_.field_manager;
  request.content_type = "application/json";
  request.body = object.dump();
  return Do(std::move(request));
}

Status Client::Delete(const Resource& resource, const api::ObjectKey& key,
                      const Precondition& only) {
  Request request;
  request.method = Method::kDelete;
  request.path = PathOf(resource, key);
  request.content_type = "application/json";
  request.body = Json{{"apiVersion", "v1"},
                      {"kind", "DeleteOptions"},
                      {"propagationPolicy", "Background"},
                      {"preconditions", PreconditionsOf(only)}}
                     .dump();
  const Result<Json> answer = Do(std::move(request));
  if (answer || answer.error().kind == ErrorKind::kNotFound) return {};
  // Another object has the name by now: the one that was meant is gone.
  if (answer.error().kind == ErrorKind::kConflict && only.resource_version.empty()) return {};
  return answer.error();
}

Status Client::Evict(const api::ObjectKey& pod, const Precondition& only) {
  Request request;
  request.method = Method::kPost;
  request.path = PathOf(kPods, pod, "eviction");
  request.content_type = "application/json";
  request.body = Json{{"apiVersion", "policy/v1"},
                      {"kind", "Eviction"},
                      {"metadata", {{"name", pod.name}, {"namespace", pod.space}}},
                      {"deleteOptions", {{"preconditions", PreconditionsOf(only)}}}}
                     .dump();
  const Result<Json> answer = Do(std::move(request));
  if (answer || answer.error().kind == ErrorKind::kNotFound) return {};
  return answer.error();
}

}  // namespace weft::kube
