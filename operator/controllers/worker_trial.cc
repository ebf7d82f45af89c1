#include "operator/controllers/worker_trial.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "operator/api/decode.h"
#include "operator/api/resource_quota.h"
#include "operator/launch/objects.h"
#include "operator/life/admission.h"
#include "operator/life/quota.h"
#include "operator/life/worker_limit.h"

namespace weft::controllers {

namespace {

using Json = nlohmann::json;

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

Result<WorkerTrial> TryWorker(ApiWriter& writer, const api::TrainingJob& job) {
  if (auto too_many = life::TooManyWorkers(job)) return WorkerTrial{std::move(too_many), {}, {}};
  launch::Gang gang;
  gang.job = &job;
  gang.attempt = 0;
  gang.nodes = {kTrialNode};
  const Json sent = launch::MakePod(gang, WorkerIndex{0});
  const auto tried = writer.Create(Kind::kPod, sent, true);
  if (!tried && tried.error().kind == ErrorKind::kConflict) return WorkerTrial{{}, {}, sent};
  if (!tried && tried.error().kind == ErrorKind::kInvalid) {
    return WorkerTrial{tried.error().message, {}, {}};
  }
  if (!tried) return tried.error();
  auto refusal = TryQuotas(writer, job, *tried);
  if (!refusal) return refusal.error();
  const auto before = api::DecodePod(sent, "Pod"), after = api::DecodePod(*tried, "Pod");
  if (!before || !after) return WorkerTrial{*std::move(refusal), {}, *tried};
  WorkerTrial trial{*std::move(refusal), life::AdmissionOf(*before, *after, kTrialNode), *tried};
  if (trial.admission) trial.admission->observed_generation = job.meta.generation;
  return trial;
}

}  // namespace weft::controllers
