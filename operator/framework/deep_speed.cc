#include "operator/framework/deep_speed.h"

#include <algorithm>
#include <array>

#include "operator/framework/torch.h"

namespace weft::framework {
namespace {

constexpr std::string_view kOwnLauncher = "deepspeed";
constexpr auto kDeepSpeedLaunchers =
    std::to_array<std::string_view>({kOwnLauncher, "torchrun", "ft_launcher"});

bool HasFlag(std::span<const std::string> words, const std::string& flag) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return word == flag || word.starts_with(flag + "=");
  });
}

std::string WrongOptions(const api::TrainingJob& job, std::string_view program,
                         std::span<const std::string> words) {
  if (program != kOwnLauncher || job.replicas <= 1) return "";
  if (HasFlag(words, "--no_ssh") && HasFlag(words, "--hostfile")) return "";
  return "deepspeed needs --no_ssh and --hostfile /etc/weft/hostfile; without them each worker "
         "runs a job of its own";
}

HostFileForm DeepSpeedHostFile(const api::TrainingJob& job) {
  return {.behind = " slots=" + std::to_string(job.accelerator.per_worker),
          .times = 1,
          .all_read = true};
}

}  // namespace

const Traits& DeepSpeedTraits() {
  static constexpr Traits kTraits = {.environment = TorchEnvironment,
                                     .reserved = TorchVariables,
                                     .host_file = DeepSpeedHostFile,
                                     .expects = "torchrun or deepspeed --no_ssh",
                                     .launchers = kDeepSpeedLaunchers,
                                     .wrong_options = WrongOptions};
  return kTraits;
}

}  // namespace weft::framework
