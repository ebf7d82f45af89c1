#include "operator/api/container_wait.h"

#include <algorithm>
#include <array>

#include "operator/base/short_text.h"
#include "operator/base/stable_text.h"

namespace weft::api {
namespace {

constexpr std::size_t kTextBytes = 256;
constexpr std::size_t kImageBytes = 256;
constexpr std::string_view kContainer = "container ", kColon = ": ";

// Reasons that mean that the image is not to be had (k8s.io/kubernetes pkg/kubelet/images/types.go
// and pkg/kubelet/errors).
bool IsOfImage(std::string_view reason) {
  static constexpr std::array<std::string_view, 6> kReasons = {
      "ErrImagePull",      "InvalidImageName",    "ErrImageNeverPull",
      "ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed"};
  return std::find(kReasons.begin(), kReasons.end(), reason) != kReasons.end();
}

// The last part of a chain of errors, which is the same in all messages about the same cause: that
// of the back-off has none, or repeats that of the last try.
std::string CauseOf(const std::string& message) {
  if (message.starts_with("Back-off") && message.find(kColon) == message.npos) return "";
  const std::string text = StableText(message, message.size());
  const std::size_t at = text.rfind(kColon);
  return Shorten(at == text.npos ? text : text.substr(at + kColon.size()), kTextBytes);
}

std::string WhyNoImage(const ContainerWait& wait) {
  if (wait.image.empty()) return StableText(wait.message, kTextBytes);
  std::string why =
      "image " + OneLine(Shorten(wait.image, kImageBytes), kImageBytes) + " cannot be pulled";
  if (const std::string cause = CauseOf(wait.message); !cause.empty()) why += ": " + cause;
  return why;
}

}  // namespace

std::string WaitText(const ContainerWait& wait) {
  std::string reason = wait.reason == "ImagePullBackOff" ? "ErrImagePull" : wait.reason;
  if (reason.empty() || reason == "ContainerCreating" || reason == "PodInitializing") return "";
  std::string why;
  if (IsOfImage(reason)) {
    why = WhyNoImage(wait);
  } else if (reason == "CrashLoopBackOff") {
    why = "it ends again and again";
    if (wait.last_exit_code) why += ", last with exit code " + std::to_string(*wait.last_exit_code);
  } else {
    why = StableText(wait.message, kTextBytes);
  }
  std::string text = std::string(kContainer) + wait.container + ": " + OneLine(reason, kTextBytes);
  if (!why.empty()) text += ": " + why;
  return text;
}

std::string_view ReasonOfWait(std::string_view text) {
  if (text.starts_with(kContainer)) {
    const std::size_t name = text.find(kColon);
    if (name == text.npos) return "";
    text.remove_prefix(name + kColon.size());
  }
  return text.substr(0, text.find(kColon));
}

}  // namespace weft::api
