#include "operator/kube/access.h"

#include <openssl/sha.h>

#include <array>
#include <nlohmann/json.hpp>

#include "operator/kube/resource.h"

namespace weft::kube {
namespace {

using Json = nlohmann::json;

constexpr Resource kTokenReviews{"authentication.k8s.io", "v1", "tokenreviews", "TokenReview",
                                 false};
constexpr Resource kAccessReviews{"authorization.k8s.io", "v1", "subjectaccessreviews",
                                  "SubjectAccessReview", false};
constexpr std::chrono::seconds kKept{30};
constexpr std::size_t kMostKept = 1'024;

std::string DigestOf(const std::string& token, const Attempt& attempt) {
  std::string text;
  for (const std::string* part : {&token, &attempt.verb, &attempt.group, &attempt.resource,
                                  &attempt.space, &attempt.path}) {
    text += *part + '\n';
  }
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return std::string(digest.begin(), digest.end());
}

Json ObjectOf(const Resource& resource, Json spec) {
  return {{"apiVersion", std::string(resource.group) + "/" + std::string(resource.version)},
          {"kind", resource.kind},
          {"metadata", Json::object()},
          {"spec", std::move(spec)}};
}

Json SpecOf(const Json& user, const Attempt& attempt) {
  Json spec = {{"user", user.value("username", "")},
               {"groups", user.value("groups", Json::array())},
               {"uid", user.value("uid", "")}};
  if (user.contains("extra")) spec["extra"] = user.at("extra");
  if (!attempt.path.empty()) {
    spec["nonResourceAttributes"] = {{"verb", attempt.verb}, {"path", attempt.path}};
  } else {
    spec["resourceAttributes"] = {{"verb", attempt.verb},
                                  {"group", attempt.group},
                                  {"resource", attempt.resource},
                                  {"namespace", attempt.space}};
  }
  return spec;
}

Json StatusOf(const Json& answer) { return answer.value("status", Json::object()); }

}  // namespace

AccessChecker::AccessChecker(Client& client, Clock now) : client_(client), now_(std::move(now)) {}

Result<AccessChecker::Verdict> AccessChecker::Check(const std::string& token,
                                                    const Attempt& attempt) {
  const std::string digest = DigestOf(token, attempt);
  {
    const std::lock_guard lock(mutex_);
    const auto found = answers_.find(digest);
    if (found != answers_.end() && found->second.until > now_()) return found->second.verdict;
  }
  const Result<Verdict> verdict = Ask(token, attempt);
  if (!verdict) return verdict;
  const std::lock_guard lock(mutex_);
  std::erase_if(answers_, [&](const auto& one) { return one.second.until <= now_(); });
  if (answers_.size() < kMostKept) answers_[digest] = {*verdict, now_() + kKept};
  return verdict;
}

Result<AccessChecker::Verdict> AccessChecker::Ask(const std::string& token,
                                                  const Attempt& attempt) {
  const auto who = client_.Create(kTokenReviews, ObjectOf(kTokenReviews, {{"token", token}}));
  if (!who) return who.error();
  const Json known = StatusOf(*who);
  if (!known.value("authenticated", false)) return Verdict::kUnknownToken;
  const Json user = known.value("user", Json::object());
  const auto may = client_.Create(kAccessReviews, ObjectOf(kAccessReviews, SpecOf(user, attempt)));
  if (!may) return may.error();
  return StatusOf(*may).value("allowed", false) ? Verdict::kAllowed : Verdict::kForbidden;
}

}  // namespace weft::kube
