#pragma once

#include <string_view>

namespace weft::life {

// Whether a reason is one with which workers of a gang that is bound wait at their kubelets: then
// it is the reason of the condition PodsReady, and of the stage kStarting (stage.h).
bool IsReasonOfStart(std::string_view reason);

// An image is being pulled, which is nothing wrong but may take long.
inline constexpr std::string_view kPulling = "Pulling";
// The node of a worker is not Ready, but not lost yet.
inline constexpr std::string_view kNodeNotReady = "NodeNotReady";
// Stands for every other word of a kubelet.
inline constexpr std::string_view kContainerWaiting = "ContainerWaiting";

}  // namespace weft::life
