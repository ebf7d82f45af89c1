#include "tests/world/answer.h"

#include <utility>

#include "operator/api/json_text.h"

namespace weft::world {
namespace {

Json StatusOf(int code, const std::string& reason, const std::string& message) {
  Json status = {{"kind", "Status"},    {"apiVersion", "v1"}, {"metadata", Json::object()},
                 {"status", "Failure"}, {"message", message}, {"code", code}};
  if (!reason.empty()) status["reason"] = reason;
  return status;
}

Json DetailsOf(const Kind& kind, const std::string& name) {
  Json details = {{"kind", kind.plural}};
  if (!name.empty()) details["name"] = name;
  if (!kind.group.empty()) details["group"] = kind.group;
  return details;
}

Json CausesOf(const Causes& causes) {
  Json list = Json::array();
  for (const Cause& cause : causes) {
    Json entry = {{"reason", cause.reason}, {"message", cause.message}};
    if (!cause.field.empty()) entry["field"] = cause.field;
    list.push_back(std::move(entry));
  }
  return list;
}

std::string Quoted(const Kind& kind, const std::string& name) {
  return kind.resource + " \"" + name + "\"";
}

}  // namespace

kube::Response Answer(int code, std::string body) { return {code, std::nullopt, std::move(body)}; }

kube::Response StatusAnswer(int code, const std::string& reason, const std::string& message) {
  return Answer(code, api::JsonText(StatusOf(code, reason, message)));
}

kube::Response Failure(int code, const std::string& reason, const std::string& message,
                       Json details) {
  Json status = StatusOf(code, reason, message);
  if (!details.is_null()) status["details"] = std::move(details);
  return Answer(code, api::JsonText(status));
}

kube::Response NotFound(const Kind& kind, const std::string& name) {
  return Failure(404, "NotFound", Quoted(kind, name) + " not found", DetailsOf(kind, name));
}

kube::Response NoSuchResource() { return Answer(404, "404 page not found\n"); }

kube::Response AlreadyExists(const Kind& kind, const std::string& name, bool deleting) {
  const std::string before = deleting ? "object is being deleted: " : "";
  return Failure(409, "AlreadyExists", before + Quoted(kind, name) + " already exists",
                 DetailsOf(kind, name));
}

kube::Response Conflict(const Kind& kind, const std::string& name, const std::string& why,
                        const std::string& subresource) {
  const std::string resource =
      subresource.empty() ? kind.resource : kind.plural + "/" + subresource;
  Json details = DetailsOf(kind, name);
  if (!subresource.empty()) details["kind"] = resource;
  return Failure(409, "Conflict",
                 "Operation cannot be fulfilled on " + resource + " \"" + name + "\": " + why,
                 std::move(details));
}

kube::Response Changed(const Kind& kind, const std::string& name) {
  return Conflict(kind, name,
                  "the object has been modified; please apply your changes to the latest version "
                  "and try again");
}

kube::Response Invalid(const Kind& kind, const std::string& name, const Causes& causes) {
  std::string all;
  for (const Cause& cause : causes) {
    if (!all.empty()) all += ", ";
    all += (cause.field.empty() ? "" : cause.field + ": ") + cause.message;
  }
  if (causes.size() > 1) all = "[" + all + "]";
  Json details = DetailsOf(kind, name);
  details["kind"] = kind.kind;
  details["causes"] = CausesOf(causes);
  const std::string type = kind.kind + (kind.group.empty() ? "" : "." + kind.group);
  return Failure(422, "Invalid", type + " \"" + name + "\" is invalid: " + all, std::move(details));
}

kube::Response Forbidden(const Kind& kind, const std::string& name, const std::string& why,
                         const Causes& causes) {
  Json details = DetailsOf(kind, name);
  if (!causes.empty()) details["causes"] = CausesOf(causes);
  const std::string what = name.empty() ? kind.resource : Quoted(kind, name);
  return Failure(403, "Forbidden", what + " is forbidden: " + why, std::move(details));
}

kube::Response BadRequest(const std::string& message) {
  return StatusAnswer(400, "BadRequest", message);
}

kube::Response Expired(const std::string& message) { return StatusAnswer(410, "Expired", message); }

kube::Response Success(int code, const Kind& kind, const std::string& name,
                       const std::string& uid) {
  Json details = DetailsOf(kind, name);
  if (!uid.empty()) details["uid"] = uid;
  const Json status = {{"kind", "Status"},
                       {"apiVersion", "v1"},
                       {"metadata", Json::object()},
                       {"status", "Success"},
                       {"details", std::move(details)}};
  return Answer(code, api::JsonText(status));
}

kube::Response PlainSuccess(int code) {
  const Json status = {{"kind", "Status"},
                       {"apiVersion", "v1"},
                       {"metadata", Json::object()},
                       {"status", "Success"},
                       {"code", code}};
  return Answer(code, api::JsonText(status));
}

}  // namespace weft::world
