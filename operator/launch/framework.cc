#include "operator/launch/framework.h"

#include "operator/framework/traits.h"
#include "operator/launch/host_file.h"

namespace weft::launch {

Environment FrameworkEnvironment(const Gang& gang, WorkerIndex worker) {
  const framework::Traits& traits = framework::TraitsOf(gang.job->framework);
  return traits.environment == nullptr ? Environment() : traits.environment(gang, worker);
}

Environment FrameworkDefaults(const Gang& gang) {
  const framework::Traits& traits = framework::TraitsOf(gang.job->framework);
  return traits.defaults == nullptr ? Environment() : traits.defaults(gang);
}

Environment FrameworkOptions(const Gang& gang, WorkerIndex worker) {
  const framework::Traits& traits = framework::TraitsOf(gang.job->framework);
  return traits.options == nullptr ? Environment() : traits.options(gang, worker);
}

std::map<std::string, std::string> FrameworkFiles(const Gang& gang) {
  const api::TrainingJob& job = *gang.job;
  const framework::Traits& traits = framework::TraitsOf(job.framework);
  std::map<std::string, std::string> files;
  if (traits.files != nullptr) files = traits.files(gang);
  if (HostFileBytes(job) == 0) return files;
  if (MakesHostFileInPod(job)) {
    files["fill"] = FillScript(job);
  } else {
    files["hostfile"] = HostFile(job);
  }
  return files;
}

}  // namespace weft::launch
