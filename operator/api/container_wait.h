#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weft::api {

// What a kubelet says of a container that has not started: state.waiting of its status.
struct ContainerWait {
  std::string container, image;
  std::string reason, message;
  std::optional<std::int64_t> last_exit_code;  // of its last run
};

// "container <name>: <reason>: <why>", in words that stay the same while nothing changes, although
// ErrImagePull and ImagePullBackOff alternate (both are ErrImagePull here) and messages differ from
// try to try; "" if nothing is wrong: the image is being pulled, or another container comes first.
//   container trainer: ErrImagePull: image x:1 cannot be pulled: not found
//   container trainer: CreateContainerConfigError: secret "none" not found
//   container proxy: CrashLoopBackOff: it ends again and again, last with exit code 1
std::string WaitText(const ContainerWait& wait);

// The reason in the text of a pod that waits (Pod::waiting): "[container <name>: ]<reason>[: ...]".
std::string_view ReasonOfWait(std::string_view text);

}  // namespace weft::api
