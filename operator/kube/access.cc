#include "operator/kube/access.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/json_text.h"

namespace weft::kube {
namespace {

using Json = nlohmann::json;

// How long answers are kept. A revoked token or right still works for so long; a token or right
// that is new works at once, or half a minute after it was denied.
constexpr Millis kTokenKept{60'000}, kAllowedKept{300'000}, kDeniedKept{30'000};
constexpr std::size_t kMostKept = 1'024;  // tokens, and as many rights; then all are asked again

constexpr Resource kTokenReviews{"authentication.k8s.io", "v1", "tokenreviews", "TokenReview",
                                 false};
constexpr Resource kAccessReviews{"authorization.k8s.io", "v1", "subjectaccessreviews",
                                  "SubjectAccessReview", false};

Json ReviewOf(const Resource& resource, Json spec) {
  return {{"apiVersion", std::string(resource.group) + "/" + std::string(resource.version)},
          {"kind", resource.kind},
          {"metadata", Json::object()},
          {"spec", std::move(spec)}};
}

bool IsTrue(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

Json StatusOf(const Json& review) {
  const auto status = review.find("status");
  return status != review.end() && status->is_object() ? *status : Json::object();
}

// The cache key of a question: "path:/metrics get", "trainingjobs.weft.dev team-a/x watch".
std::string KeyOf(const AccessQuestion& question) {
  return api::JsonText(Json::array({question.verb, question.path, question.group, question.resource,
                                    question.space, question.name}));
}

Json SpecOf(const AccessQuestion& question) {
  if (!question.path.empty()) {
    return {{"nonResourceAttributes", {{"path", question.path}, {"verb", question.verb}}}};
  }
  return {{"resourceAttributes",
           {{"verb", question.verb},
            {"group", question.group},
            {"resource", question.resource},
            {"namespace", question.space},
            {"name", question.name}}}};
}

}  // namespace

AccessCheck::AccessCheck(Client& client, Timer& timer, Options options)
    : client_(client), timer_(timer), options_(std::move(options)), turns_(options_.burst) {}

Access AccessCheck::Check(const std::string& token, const AccessQuestion& question) {
  if (token.empty()) return Access::kUnauthenticated;
  const std::lock_guard lock(mutex_);
  const Instant now = timer_.Now();
  const auto known = users_.find(token);
  User user;
  if (known != users_.end() && known->second.until > now) {
    user = known->second;
  } else {
    if (!TakeTurn(now)) return Access::kBusy;
    user = Review(token);
    if (user.access == Access::kUnknown) return user.access;
    const bool somebody = user.access == Access::kAllowed;
    user.until = now + (somebody ? kTokenKept : kDeniedKept);
    Cache(users_, token, user, now);
  }
  if (user.access != Access::kAllowed) return user.access;
  return Judge(user.spec, question, now);
}

Access AccessCheck::CheckUser(const std::string& name, const AccessQuestion& question) {
  if (name.empty()) return Access::kUnauthenticated;
  const std::lock_guard lock(mutex_);
  return Judge(api::JsonText(Json({{"user", name}})), question, timer_.Now());
}

Access AccessCheck::Judge(const std::string& spec, const AccessQuestion& question, Instant now) {
  const std::string key = spec + KeyOf(question);
  const auto verdict = verdicts_.find(key);
  if (verdict != verdicts_.end() && verdict->second.until > now) return verdict->second.access;
  if (!TakeTurn(now)) return Access::kBusy;
  const Access access = ReviewAccess(spec, question);
  if (access == Access::kUnknown) return access;
  const bool allowed = access == Access::kAllowed;
  Cache(verdicts_, key, Verdict{access, now + (allowed ? kAllowedKept : kDeniedKept)}, now);
  return access;
}

bool AccessCheck::TakeTurn(Instant now) {
  const std::chrono::duration<double> passed = now - turns_filled_;
  turns_ = std::min<double>(options_.burst, turns_ + passed.count() * options_.reviews_per_second);
  turns_filled_ = now;
  if (turns_ < 1) return false;
  turns_ -= 1;
  return true;
}

AccessCheck::User AccessCheck::Review(const std::string& token) {
  Json spec = {{"token", token}};
  if (!options_.audiences.empty()) spec["audiences"] = options_.audiences;
  const auto answer = client_.Create(kTokenReviews, ReviewOf(kTokenReviews, std::move(spec)));
  if (!answer) return {};
  const Json status = StatusOf(*answer);
  const auto user = status.find("user");
  if (!IsTrue(status, "authenticated") || user == status.end() || !user->is_object()) {
    return {Access::kUnauthenticated, "", {}};
  }
  // An API server that does not know the audiences returns none of them.
  if (!options_.audiences.empty() && status.value("audiences", Json::array()).empty()) {
    return {Access::kUnauthenticated, "", {}};
  }
  Json who = Json::object();
  for (const auto& [from, to] :
       {std::pair{"username", "user"}, {"uid", "uid"}, {"groups", "groups"}, {"extra", "extra"}}) {
    if (const auto part = user->find(from); part != user->end()) who[to] = *part;
  }
  return {Access::kAllowed, api::JsonText(who), {}};
}

Access AccessCheck::ReviewAccess(const std::string& user, const AccessQuestion& question) {
  Json spec = api::ParseJson(user);
  spec.update(SpecOf(question));
  const auto answer = client_.Create(kAccessReviews, ReviewOf(kAccessReviews, std::move(spec)));
  if (!answer) return Access::kUnknown;
  return IsTrue(StatusOf(*answer), "allowed") ? Access::kAllowed : Access::kForbidden;
}

template <typename Map>
void AccessCheck::Cache(Map& map, const std::string& key, typename Map::mapped_type value,
                        Instant now) const {
  std::erase_if(map, [&](const auto& one) { return one.second.until <= now; });
  if (map.size() >= kMostKept) map.clear();
  map[key] = std::move(value);
}

}  // namespace weft::kube
