#include "operator/life/start_reasons.h"

#include <algorithm>
#include <array>

namespace weft::life {
namespace {

// Reasons, in the words of Kubernetes, with which workers of a gang that is bound wait.
// The list is closed: another word would not tell later that it was the reason of a stage.
constexpr auto kReasonsOfStart = std::to_array<std::string_view>({kContainerWaiting,
                                                                  kPulling,
                                                                  kNodeNotReady,
                                                                  "ErrImagePull",
                                                                  "InvalidImageName",
                                                                  "ErrImageNeverPull",
                                                                  "ImageInspectError",
                                                                  "RegistryUnavailable",
                                                                  "SignatureValidationFailed",
                                                                  "CreateContainerConfigError",
                                                                  "CreateContainerError",
                                                                  "RunContainerError",
                                                                  "PostStartHookError",
                                                                  "CrashLoopBackOff",
                                                                  "FailedMount",
                                                                  "FailedAttachVolume",
                                                                  "FailedMapVolume",
                                                                  "FailedCreatePodSandBox",
                                                                  "FailedPodSandBoxStatus",
                                                                  "FailedPrepareDynamicResources",
                                                                  "FailedCreatePodContainer",
                                                                  "NetworkNotReady"});

}  // namespace

bool IsReasonOfStart(std::string_view reason) {
  return std::find(kReasonsOfStart.begin(), kReasonsOfStart.end(), reason) != kReasonsOfStart.end();
}

}  // namespace weft::life
