#include "operator/launch/framework.h"

#include "operator/launch/host_file.h"
#include "operator/launch/jax.h"
#include "operator/launch/mpi.h"
#include "operator/launch/tensor_flow.h"
#include "operator/launch/torch.h"

namespace weft::launch {

Environment FrameworkEnvironment(const Gang& gang, std::uint32_t worker) {
  switch (gang.job->framework.type) {
    case api::FrameworkType::kTorch:
    case api::FrameworkType::kDeepSpeed:
      return TorchEnvironment(gang, worker);
    case api::FrameworkType::kJAX:
      return JaxEnvironment(gang, worker);
    case api::FrameworkType::kTensorFlow:
      return TensorFlowEnvironment(gang, worker);
    case api::FrameworkType::kMPI:
      return MpiEnvironment(gang);
    case api::FrameworkType::kCustom:
      break;
  }
  return {};
}

std::map<std::string, std::string> FrameworkFiles(const Gang& gang) {
  const api::TrainingJob& job = *gang.job;
  std::map<std::string, std::string> files;
  if (job.framework.type == api::FrameworkType::kMPI) files = MpiFiles(gang);
  if (HostFileBytes(job) == 0) return files;
  if (MakesHostFileInPod(job)) {
    files["fill"] = FillScript(job);
  } else {
    files["hostfile"] = HostFile(job);
  }
  return files;
}

}  // namespace weft::launch
