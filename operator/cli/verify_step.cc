#include "operator/cli/verify_step.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/decode.h"
#include "operator/cli/session.h"
#include "operator/kube/config.h"
#include "operator/kube/environment.h"
#include "operator/kube/http_transport.h"
#include "operator/kube/load_config.h"
#include "operator/kube/timer.h"
#include "operator/predict/learned.h"

namespace weft::cli {
namespace {

using Json = nlohmann::json;

// Four significant digits, for people.
std::string Rounded(double value) {
  char text[32] = {};
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

// The prediction for the job's current attempt, without the scalar that was used; absent without a
// Placement or a model.
Result<std::optional<predict::PredictedStep>> PredictionOf(kube::Client& client, const Json& job,
                                                           const api::ObjectKey& key) {
  const Json status = job.value("status", Json::object());
  const std::string name = status.value("placementName", "");
  if (name.empty()) return std::optional<predict::PredictedStep>();
  const auto object = client.Get(kube::kPlacements, {key.space, name});
  if (!object && object.error().kind == ErrorKind::kNotFound) {
    return std::optional<predict::PredictedStep>();
  }
  if (!object) return object.error();
  const auto placement = api::DecodePlacement(*object, "cluster", api::Reading::kServed);
  if (!placement) return placement.error();
  return predict::PredictedStepOf(*placement);
}

std::string Compared(double seconds, const std::optional<predict::PredictedStep>& told) {
  const std::string measured = "measured " + Rounded(seconds) + " s";
  if (!told) return measured + "; nothing is predicted for the job, so there is no ratio";
  return "predicted " + Rounded(told->seconds) + " s, " + measured + ", ratio " +
         Rounded(seconds / told->seconds);
}

// The job that the arguments name, else the job of this pod.
Result<api::ObjectKey> JobOf(const VerifyArguments& arguments, const std::string& context_space) {
  if (arguments.job.empty()) {
    const api::ObjectKey key{kube::Environment("WEFT_NAMESPACE"), kube::Environment("WEFT_JOB")};
    if (!key.name.empty() && !key.space.empty()) return key;
    return Invalid("name the job: WEFT_JOB is not set, so this is not a worker of a TrainingJob");
  }
  const std::size_t slash = arguments.job.find('/');
  if (slash != std::string::npos) {
    return api::ObjectKey{arguments.job.substr(0, slash), arguments.job.substr(slash + 1)};
  }
  std::string space = arguments.space.empty() ? context_space : arguments.space;
  return api::ObjectKey{space.empty() ? "default" : std::move(space), arguments.job};
}

}  // namespace

Result<StepReport> VerifyStep(kube::Client& client, const api::ObjectKey& key, double seconds) {
  if (!std::isfinite(seconds) || seconds <= 0) {
    return Invalid("--step: must be a number of seconds above 0");
  }
  const auto job = client.Get(kube::kTrainingJobs, key);
  if (!job) return Error{ErrorKind::kTransient, job.error().message};
  const auto told = PredictionOf(client, *job, key);
  if (!told) return told.error();
  StepReport report{"TrainingJob " + api::Show(key) + ": " + Compared(seconds, *told), false};
  if (*told && predict::IsImplausible(seconds, (*told)->seconds)) {
    report.implausible = true;
    report.text +=
        ". Nothing was written: no step differs from its prediction by more than a factor of 5. Is "
        "it the time of one optimizer step, in seconds?";
    return report;
  }
  const Json patch = {
      {"metadata", {{"annotations", {{predict::kMeasuredStepAnnotation, Json(seconds).dump()}}}}}};
  const auto written =
      client.Patch(kube::kTrainingJobs, key, kube::Client::PatchType::kMerge, patch);
  if (!written) return Error{ErrorKind::kTransient, written.error().message};
  return report;
}

int RunVerifyStep(const VerifyArguments& arguments) {
  Result<kube::Config> config = kube::LoadConfig({arguments.kubeconfig, arguments.context});
  if (!config) return Fail(config.error());
  const auto key = JobOf(arguments, config->space);
  if (!key) return Fail(key.error());
  kube::UseThreads(1);
  kube::SystemTimer timer;
  const auto transport = kube::MakeHttpTransport(*std::move(config), "weft/" WEFT_VERSION);
  kube::Client client(*transport, timer, {.field_manager = "weft-verify"});
  const auto report = VerifyStep(client, *key, *arguments.step);
  if (!report) return Fail(report.error());
  (report->implausible ? std::cerr << "weft verify: " : std::cout) << report->text << "\n";
  return report->implausible ? kFailed : kDone;
}

}  // namespace weft::cli
