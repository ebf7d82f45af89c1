#include "tests/world/faithful_side.h"

#include <algorithm>
#include <utility>

#include "operator/api/json_member.h"
#include "operator/api/json_text.h"
#include "operator/base/timestamp.h"
#include "tests/world/faithful_lag.h"

namespace weft::world {
namespace {

bool LooksLikeUid(const std::string& text) {
  constexpr std::size_t kLength = 36;
  return text.size() == kLength && text[8] == '-' && text[13] == '-' && text[18] == '-';
}

bool LooksLikeTime(const std::string& text) {
  return text.size() >= 20 && text[4] == '-' && text[10] == 'T' && ParseTime(text).has_value();
}

// The parts of a Status that programs read: not its message.
Json PlainStatus(const Json& status) {
  Json plain = {{"kind", "Status"}};
  for (const char* name : {"status", "reason"}) plain[name] = api::TextAt(status, name);
  const Json* details = api::FindMember(status, "details");
  if (details == nullptr) return plain;
  for (const char* name : {"name", "kind", "group"}) {
    plain["details"][name] = api::TextAt(*details, name);
  }
  if (const Json* causes = api::FindMember(*details, "causes")) {
    Json list = Json::array();
    for (const Json& cause : *causes) {
      list.push_back(api::TextAt(cause, "field") + ": " + api::TextAt(cause, "reason"));
    }
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    plain["details"]["causes"] = std::move(list);
  }
  return plain;
}

}  // namespace

std::string Side::PlainText(const std::string& text) {
  if (LooksLikeTime(text)) return "a time";
  if (!LooksLikeUid(text)) return text;
  const auto known = uid_words_.find(text);
  if (known != uid_words_.end()) return known->second;
  return uid_words_.emplace(text, "uid " + std::to_string(uid_words_.size())).first->second;
}

Json Side::Plain(const Json& value) {
  if (value.is_string()) return PlainText(value.get<std::string>());
  if (value.is_array()) {
    Json list = Json::array();
    for (const Json& item : value) list.push_back(Plain(item));
    return list;
  }
  if (!value.is_object()) return value;
  if (api::TextAt(value, "kind") == "Status") return PlainStatus(value);
  Json plain = Json::object();
  for (const auto& [name, member] : value.items()) {
    if (name == "managedFields" || name == "resourceVersion") continue;
    if (name == "continue" && member == "") continue;
    plain[name] = name == "continue" ? Json("a token") : Plain(member);
  }
  return plain;
}

void Side::Remember(const std::string& path, const Json& object) {
  const Json* metadata = api::FindMember(object, "metadata");
  if (metadata == nullptr) return;
  const std::string version = api::TextAt(*metadata, "resourceVersion");
  const std::string uid = api::TextAt(*metadata, "uid");
  if (version.empty() || uid.empty()) return;
  Seen& seen = seen_[path];
  if (seen.versions.empty() || seen.versions.back() != version) seen.versions.push_back(version);
  if (seen.uids.empty() || seen.uids.back() != uid) seen.uids.push_back(uid);
  seen.last = object;
  seen.last["metadata"].erase("managedFields");
}

// True if no cause is left.
bool Side::DropRules(Json& status) const {
  if (!status.contains("details") || !status["details"].contains("causes")) return false;
  Json kept = Json::array();
  for (const Json& cause : status["details"]["causes"]) {
    const std::string message = api::TextAt(cause, "message");
    const bool by_rule = std::any_of(rules.begin(), rules.end(), [&](const std::string& rule) {
      return message.find(rule) != std::string::npos;
    });
    if (!by_rule) kept.push_back(cause);
  }
  status["details"]["causes"] = kept;
  return kept.empty();
}

Json Side::Send(const kube::Request& request) {
  const auto answer = transport_.Send(request);
  if (!answer) return {{"error", answer.error().message}};
  Json body = api::ParseJson(answer->body);
  if (body.is_discarded()) return {{"status", answer->status}};
  if (answer->status == 422 && DropRules(body)) return {{"refused by rules", true}};
  const bool dry = request.query.contains("dryRun");
  std::string path = request.path;
  const Json* metadata = api::FindMember(body, "metadata");
  const std::string name = metadata == nullptr ? "" : api::TextAt(*metadata, "name");
  if (request.method == kube::Method::kPost) path += "/" + name;
  for (const char* end : {"/status", "/binding", "/eviction", "/finalize"}) {
    const std::string text = end;
    if (path.size() > text.size() && path.substr(path.size() - text.size()) == text) {
      path.resize(path.size() - text.size());
    }
  }
  Json plain = {{"status", answer->status}};
  if (!dry && answer->status < 300 && !name.empty()) {
    const std::string before = Version(path, 0);
    Remember(path, body);
    plain["new version"] = Version(path, 0) != before;
  }
  // A dry run's uid is of no object.
  if (dry && body.contains("metadata")) body["metadata"].erase("uid");
  plain["body"] = Plain(body);
  plain["message"] = api::TextAt(body, "message");
  return plain;
}

std::string Side::Version(const std::string& path, std::size_t back) const {
  const auto found = seen_.find(path);
  if (found == seen_.end() || found->second.versions.size() <= back) return "";
  return *(found->second.versions.rbegin() + static_cast<std::ptrdiff_t>(back));
}

std::string Side::Uid(const std::string& path, std::size_t back) const {
  const auto found = seen_.find(path);
  if (found == seen_.end() || found->second.uids.size() <= back) return "";
  return *(found->second.uids.rbegin() + static_cast<std::ptrdiff_t>(back));
}

std::string Side::First(const std::string& path) const {
  const auto found = seen_.find(path);
  return found == seen_.end() ? "" : found->second.versions.front();
}

Json Side::Last(const std::string& path) const {
  const auto found = seen_.find(path);
  return found == seen_.end() ? Json() : found->second.last;
}

std::vector<Json> Side::Watch(const kube::Request& request, std::size_t most) {
  std::vector<Json> events;
  std::string rest;
  const kube::Cancel cancel{false};
  const auto sink = [&](std::string_view chunk) {
    rest += chunk;
    for (std::size_t end = rest.find('\n'); end != std::string::npos; end = rest.find('\n')) {
      const Json frame = api::ParseJson(rest.substr(0, end));
      rest.erase(0, end + 1);
      const std::string type = api::TextAt(frame, "type");
      if (type == "BOOKMARK") continue;
      const Json* metadata = api::FindMember(frame.at("object"), "metadata");
      const std::string space = metadata == nullptr ? "" : api::TextAt(*metadata, "namespace");
      if (space == "kube-system" || space == Lag::kSpace) continue;
      const std::string version =
          metadata == nullptr ? "" : api::TextAt(*metadata, "resourceVersion");
      events.push_back({{"type", type},
                        {"version", version.empty() ? 0 : std::stoull(version)},
                        {"object", Plain(frame.at("object"))}});
    }
    return events.size() < most;
  };
  const auto answer = transport_.Stream(request, sink, cancel);
  if (!answer) events.push_back({{"error", answer.error().message}});
  if (answer && answer->status >= 300) {
    events.push_back({{"status", answer->status}, {"body", Plain(api::ParseJson(answer->body))}});
  }
  return events;
}

}  // namespace weft::world
