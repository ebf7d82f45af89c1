// Which object and action a request names, and whether its user may do it.
#include <algorithm>
#include <utility>

#include "operator/api/json_text.h"
#include "tests/world/state.h"

namespace weft::world {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

std::string Unescaped(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escaped = text[i] == '%' && i + 2 < text.size() && HexDigit(text[i + 1]) >= 0 &&
                         HexDigit(text[i + 2]) >= 0;
    if (escaped) {
      plain += static_cast<char>(HexDigit(text[i + 1]) * 16 + HexDigit(text[i + 2]));
      i += 2;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

std::vector<std::string> SegmentsOf(const std::string& path) {
  std::vector<std::string> segments;
  for (std::size_t begin = 1; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    segments.push_back(Unescaped(path.substr(begin, end - begin)));
    begin = end + 1;
  }
  return segments;
}

std::string QueryOf(const kube::Request& request, const std::string& name) {
  const auto found = request.query.find(name);
  return found == request.query.end() ? "" : found->second;
}

bool IsWatch(const kube::Request& request) {
  const std::string watch = QueryOf(request, "watch");
  return request.method == kube::Method::kGet && (watch == "true" || watch == "1");
}

std::string VerbOf(const Call& call) {
  const bool named = !call.target.key.name.empty();
  switch (call.request.method) {
    case kube::Method::kGet:
      return IsWatch(call.request) ? "watch" : named ? "get" : "list";
    case kube::Method::kPost:
      return "create";
    case kube::Method::kPut:
      return "update";
    case kube::Method::kPatch:
      return "patch";
    case kube::Method::kDelete:
      return named ? "delete" : "deletecollection";
  }
  return "";
}

bool HasSubresource(const Kind& kind, const std::string& name) {
  if (name.empty()) return true;
  if (name == "status") return kind.status;
  if (kind.resource == "namespaces") return name == "finalize";
  return kind.resource == "pods" && (name == "binding" || name == "eviction");
}

}  // namespace

// "/api/v1/nodes/x/status", "/apis/weft.dev/v1alpha1/namespaces/a/placements/x".
std::optional<Target> ApiServer::State::Route(const std::string& path) {
  std::vector<std::string> rest = SegmentsOf(path);
  const std::size_t head = !rest.empty() && rest[0] == "api" ? 2 : 3;
  if (rest.size() <= head || (rest[0] != "api" && rest[0] != "apis")) return std::nullopt;
  const std::string group_version = head == 2 ? "/" + rest[1] + "/" : rest[1] + "/" + rest[2] + "/";
  rest.erase(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(head));

  Target target;
  const bool in_namespace =
      rest[0] == "namespaces" && rest.size() >= 3 && rest[2] != "status" && rest[2] != "finalize";
  if (in_namespace) {
    target.key.space = rest[1];
    rest.erase(rest.begin(), rest.begin() + 2);
  }
  const auto found = by_path.find(group_version + rest[0]);
  if (found == by_path.end() || rest.size() > 3) return std::nullopt;
  target.collection = found->second;
  if (rest.size() > 1) target.key.name = rest[1];
  if (rest.size() > 2) target.subresource = rest[2];
  const Kind& kind = target.kind();
  if (in_namespace != kind.namespaced && (in_namespace || !target.key.name.empty())) {
    return std::nullopt;
  }
  if (!HasSubresource(kind, target.subresource)) return std::nullopt;
  return target;
}

bool ApiServer::State::MayDo(const std::string& user, const std::string& verb,
                             const Target& target) const {
  const auto found = rights.find(user);
  if (found == rights.end()) return true;
  const Kind& kind = target.kind();
  std::string resource = kind.plural;
  if (!target.subresource.empty()) resource += "/" + target.subresource;
  return found->second.Allows({verb, kind.group, std::move(resource), target.key});
}

Refusal ApiServer::State::CheckRights(const Call& call, const std::string& verb,
                                      const Selector& selector) const {
  const Kind& kind = call.target.kind();
  Target named = call.target;
  if (named.key.name.empty()) named.key.name = selector.Name();
  // To rights, a namespace is in itself.
  if (kind.resource == "namespaces") named.key.space = named.key.name;
  if (MayDo(call.user, verb, named)) return std::nullopt;
  const api::ObjectKey& key = named.key;
  std::string resource = kind.plural;
  if (!call.target.subresource.empty()) resource += "/" + call.target.subresource;
  std::string why = "User \"" + call.user + "\" cannot " + verb + " resource \"" + resource +
                    "\" in API group \"" + kind.group + "\"";
  why += key.space.empty() ? " at the cluster scope" : " in the namespace \"" + key.space + "\"";
  return Forbidden(kind, call.target.key.name, why);
}

kube::Response ApiServer::State::Handle(const kube::Request& request, const std::string& user) {
  if (request.path == "/version") {
    return Answer(200, options.pod_groups ? R"({"major":"1","minor":"37","gitVersion":"v1.37.2"})"
                                          : R"({"major":"1","minor":"36","gitVersion":"v1.36.3"})");
  }
  if (request.path == "/readyz" || request.path == "/livez") return Answer(200, "ok");
  auto target = Route(request.path);
  if (!target) return NoSuchResource();
  const auto selector = Selector::Of(request);
  if (!selector) return BadRequest("unable to parse requirement");
  const Call call{request,
                  user,
                  std::move(*target),
                  QueryOf(request, "dryRun") == "All",
                  QueryOf(request, "fieldValidation") == "Strict",
                  QueryOf(request, "fieldManager")};
  const std::string verb = VerbOf(call);
  if (auto refusal = CheckRights(call, verb, *selector)) return *refusal;
  const std::string& subresource = call.target.subresource;
  if (verb == "get") return Get(call);
  if (verb == "list") return List(call);
  if (verb == "create") {
    if (subresource == "binding") return Bind(call);
    if (subresource == "eviction") return Evict(call);
    if (call.target.key.name.empty()) return Create(call);
  }
  if (verb == "update") return subresource == "finalize" ? Finalize(call) : Put(call);
  if (verb == "patch") return Patch(call);
  if (verb == "delete" && subresource.empty()) return Delete(call);
  if (verb == "deletecollection") return DeleteAll(call);
  return StatusAnswer(405, "MethodNotAllowed",
                      "the server does not allow this method on the requested resource");
}

}  // namespace weft::world
