#include "operator/life/launcher.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "operator/api/names.h"

namespace weft::life {
namespace {

using api::FrameworkType;
using Words = std::vector<std::string>;

constexpr std::size_t kCommandBytes = 120;

struct Launcher {
  std::string_view program;
  FrameworkType framework;
};
// horovodrun starts its ranks with MPI's launcher, or by ssh like MPI.
constexpr auto kLaunchers = std::to_array<Launcher>({{"torchrun", FrameworkType::kTorch},
                                                     {"ft_launcher", FrameworkType::kTorch},
                                                     {"deepspeed", FrameworkType::kDeepSpeed},
                                                     {"mpirun", FrameworkType::kMPI},
                                                     {"mpiexec", FrameworkType::kMPI},
                                                     {"mpiexec.hydra", FrameworkType::kMPI},
                                                     {"horovodrun", FrameworkType::kMPI}});

Words WordsOf(const nlohmann::json& container) {
  Words words;
  for (const char* key : {"command", "args"}) {
    const auto list = container.find(key);
    if (list == container.end() || !list->is_array()) continue;
    for (const auto& word : *list) {
      if (word.is_string()) words.push_back(word.get<std::string>());
    }
  }
  return words;
}

const nlohmann::json* ContainersOf(const api::TrainingJob& job, const char* list) {
  if (!job.raw) return nullptr;
  const auto& spec = job.raw->at("spec").at("workers").at("template").at("spec");
  const auto found = spec.find(list);
  return found != spec.end() && found->is_array() ? &*found : nullptr;
}

// DeepSpeed's ranks may be started by torchrun too.
bool Starts(FrameworkType launcher, FrameworkType framework) {
  return launcher == framework ||
         (launcher == FrameworkType::kTorch && framework == FrameworkType::kDeepSpeed);
}

std::string_view Expected(FrameworkType type) {
  if (type == FrameworkType::kMPI) return "mpirun or mpiexec";
  return type == FrameworkType::kDeepSpeed ? "torchrun or deepspeed --no_ssh" : "torchrun";
}

bool IsPython(std::string_view program) {
  return program.starts_with("python") &&
         program.substr(6).find_first_not_of("0123456789.") == program.npos;
}

bool HasFlag(const Words& words, const std::string& flag) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return word == flag || word.starts_with(flag + "=");
  });
}

}  // namespace

std::string CommandOf(const api::TrainingJob& job, const std::string& container) {
  for (const char* list : {"containers", "initContainers"}) {
    const auto* containers = ContainersOf(job, list);
    if (containers == nullptr) continue;
    for (const auto& one : *containers) {
      if (one.value("name", "") != container) continue;
      std::string text;
      for (const std::string& word : WordsOf(one)) text += (text.empty() ? "" : " ") + word;
      if (text.size() > kCommandBytes) text = text.substr(0, kCommandBytes) + "...";
      if (!text.empty()) return text;
    }
  }
  return "the image's own command";
}

std::optional<std::string> WrongLauncher(const api::TrainingJob& job) {
  const FrameworkType type = job.framework.type;
  if (type == FrameworkType::kCustom) return std::nullopt;
  const auto* containers = ContainersOf(job, "containers");
  if (containers == nullptr || containers->empty()) return std::nullopt;
  const Words words = WordsOf(containers->front());
  if (words.empty()) return std::nullopt;
  const std::string program = words[0].substr(words[0].rfind('/') + 1);
  const std::string framework(NameOf(api::kFrameworkNames, type));
  const auto known = std::find_if(kLaunchers.begin(), kLaunchers.end(),
                                  [&](const Launcher& one) { return one.program == program; });
  const bool own_processes = type == FrameworkType::kJAX || type == FrameworkType::kTensorFlow;
  if (known != kLaunchers.end() && !Starts(known->framework, type)) {
    return "framework " + framework + " expects " +
           (own_processes ? "the script itself" : std::string(Expected(type))) +
           ", but the command is " + program;
  }
  if (program == "deepspeed" && job.replicas > 1 &&
      (!HasFlag(words, "--no_ssh") || !HasFlag(words, "--hostfile"))) {
    return "deepspeed needs --no_ssh and --hostfile /etc/weft/hostfile; without them each worker "
           "runs a job of its own";
  }
  const bool module = words.size() > 2 && words[1] == "-m";
  if (known == kLaunchers.end() && IsPython(program) && !module && !own_processes &&
      (job.accelerator.per_worker > 1 || type == FrameworkType::kMPI)) {
    return "framework " + framework + " expects " + std::string(Expected(type)) + " for its " +
           std::to_string(job.accelerator.per_worker) + " ranks per worker, but " + program +
           " starts one process";
  }
  return std::nullopt;
}

}  // namespace weft::life
