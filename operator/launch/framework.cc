#include "operator/launch/framework.h"

#include "operator/launch/deep_speed.h"
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
  switch (gang.job->framework.type) {
    case api::FrameworkType::kMPI:
      return MpiFiles(gang);
    case api::FrameworkType::kDeepSpeed:
      return {{"hostfile", DeepSpeedHostFile(gang)}};
    case api::FrameworkType::kTorch:
    case api::FrameworkType::kJAX:
    case api::FrameworkType::kTensorFlow:
    case api::FrameworkType::kCustom:
      break;
  }
  return {};
}

}  // namespace weft::launch
