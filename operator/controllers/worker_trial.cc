#include "operator/controllers/worker_trial.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "operator/api/decode.h"
#include "operator/api/resource_quota.h"
#include "operator/launch/objects.h"
#include "operator/life/quota.h"
#include "operator/life/worker_limit.h"

namespace weft::controllers {

using Json = nlohmann::json;

namespace {

// Admission has counted only one worker. Without the right to read quotas, the check is skipped.
Result<std::optional<std::string>> TryQuotas(ApiWriter& writer, const api::TrainingJob& job,
                                             const Json& worker) {
  std::optional<std::string> exceeded;
  if (job.replicas < 2) return exceeded;
  const auto listed = writer.Get({Kind::kResourceQuota, {job.meta.key.space, ""}, "", ""});
  if (!listed && listed.error().kind == ErrorKind::kTransient) return listed.error();
  const auto pod = api::DecodePod(worker, "Pod");
  if (!listed || !pod) return exceeded;
  std::vector<api::ResourceQuota> quotas;
  for (const Json& one : listed->value("items", Json::array())) {
    if (auto quota = api::DecodeResourceQuota(one, "ResourceQuota")) quotas.push_back(*quota);
  }
  return life::ExceededQuota(*pod, job.replicas, quotas);
}

}  // namespace

Result<std::optional<std::string>> TryWorker(ApiWriter& writer, const api::TrainingJob& job) {
  if (auto too_many = life::TooManyWorkers(job)) return too_many;
  launch::Gang gang;
  gang.job = &job;
  gang.attempt = 0;
  gang.nodes = {"not-placed-yet"};
  const auto tried = writer.Create(Kind::kPod, launch::MakePod(gang, 0), true);
  if (tried) return TryQuotas(writer, job, *tried);
  if (tried.error().kind == ErrorKind::kConflict) return std::optional<std::string>();
  if (tried.error().kind == ErrorKind::kInvalid) return std::optional(tried.error().message);
  return tried.error();
}

}  // namespace weft::controllers
