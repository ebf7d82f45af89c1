#include "tests/world/faithful_lag.h"

#include <nlohmann/json.hpp>

#include "operator/base/check.h"
#include "operator/kube/requests.h"

namespace weft::world {
namespace {

using Json = nlohmann::json;

constexpr int kMostTries = 10'000;
const api::ObjectKey kQuota{Lag::kSpace, "lag"};

}  // namespace

Lag::Lag(kube::Transport& real) : real_(real) {
  const Json metadata = {{"name", kQuota.name}, {"namespace", kSpace}};
  (void)real_.Send(kube::CreateRequest(kube::kNamespaces, {{"metadata", {{"name", kSpace}}}}, {}));
  (void)real_.Send(kube::CreateRequest(kube::kResourceQuotas, {{"metadata", metadata}}, {}));
  AwaitQuotas();
}

int Lag::Try(const std::string& space) {
  const Json metadata = {{"name", "lag"}, {"namespace", space}};
  const auto answer = real_.Send(
      kube::CreateRequest(kube::kConfigMaps, {{"metadata", metadata}}, {.dry_run = true}));
  return answer ? answer->status : 0;
}

// Quotas are seen in the order of their versions: when a later change of one has been seen, all
// before have.
void Lag::AwaitQuotas() {
  full_ = !full_;
  const Json amounts = {{"hard", {{"count/configmaps", full_ ? "0" : "9"}}},
                        {"used", {{"count/configmaps", "0"}}}};
  const auto written = real_.Send(kube::PatchRequest(
      kube::kResourceQuotas, kQuota, {kube::PatchType::kMerge, {{"status", amounts}}},
      {.subresource = "status"}));
  WEFT_CHECK(written && written->status == 200);
  const int wanted = full_ ? 403 : 201;
  for (int i = 0; Try(kSpace) != wanted; ++i) WEFT_CHECK(i < kMostTries);
}

void Lag::Await(const kube::Request& request) {
  if (request.method == kube::Method::kGet || request.query.contains("dryRun")) return;
  if (request.path.find("/resourcequotas") != std::string::npos) AwaitQuotas();
  const std::string end = "/finalize", &path = request.path;
  if (path.size() <= end.size() || path.substr(path.size() - end.size()) != end) return;
  // A namespace that is finalized is gone if it was deleted before.
  const std::string object = path.substr(0, path.size() - end.size());
  kube::Request read;
  read.path = object;
  const auto found = real_.Send(read);
  if (!found || found->status != 404) return;
  const std::string space = object.substr(object.rfind('/') + 1);
  for (int i = 0; Try(space) != 404; ++i) WEFT_CHECK(i < kMostTries);
}

}  // namespace weft::world
