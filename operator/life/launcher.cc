#include "operator/life/launcher.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "operator/api/json_member.h"
#include "operator/api/names.h"
#include "operator/framework/traits.h"
#include "operator/framework/worker_container.h"

namespace weft::life {
namespace {

using Words = std::vector<std::string>;

constexpr std::size_t kCommandBytes = 120;

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

bool IsPython(std::string_view program) {
  return program.starts_with("python") &&
         program.substr(6).find_first_not_of("0123456789.") == program.npos;
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

std::string WorkerContainerOf(const api::TrainingJob& job) {
  const auto* containers = ContainersOf(job, "containers");
  if (containers == nullptr || containers->empty()) return "";
  const auto found = std::find_if(
      containers->begin(), containers->end(),
      [&](const auto& container) { return framework::HasAccelerators(job, container); });
  return api::TextAt(found == containers->end() ? containers->front() : *found, "name");
}

std::string OwnRestartPolicyOf(const api::TrainingJob& job) {
  const auto* containers = ContainersOf(job, "containers");
  if (containers == nullptr) return "";
  const std::string name = WorkerContainerOf(job);
  for (const auto& one : *containers) {
    if (api::TextAt(one, "name") != name) continue;
    const auto rules = one.find("restartPolicyRules");
    if (rules != one.end() && rules->is_array() && !rules->empty()) return "restartPolicyRules";
    const std::string policy = api::TextAt(one, "restartPolicy");
    return policy.empty() || policy == "Never" ? "" : "restartPolicy " + policy;
  }
  return "";
}

std::optional<std::string> WrongLauncher(const api::TrainingJob& job) {
  const framework::Traits& traits = framework::TraitsOf(job.framework);
  if (traits.expects.empty()) return std::nullopt;
  const auto* containers = ContainersOf(job, "containers");
  if (containers == nullptr || containers->empty()) return std::nullopt;
  const Words words = WordsOf(containers->front());
  if (words.empty()) return std::nullopt;
  const std::string program = words[0].substr(words[0].rfind('/') + 1);
  const std::string expects = "framework " +
                              std::string(NameOf(api::kFrameworkNames, job.framework.type)) +
                              " expects " + std::string(traits.expects);
  const bool known = framework::IsLauncher(program);
  if (known && !traits.StartedBy(program)) return expects + ", but the command is " + program;
  if (traits.wrong_options != nullptr) {
    std::string wrong = traits.wrong_options(job, program, words);
    if (!wrong.empty()) return wrong;
  }
  const bool module = words.size() > 2 && words[1] == "-m";
  if (!known && IsPython(program) && !module && !traits.own_processes &&
      (job.accelerator.per_worker > 1 || traits.launches_by_ssh())) {
    return expects + " for its " + std::to_string(job.accelerator.per_worker) +
           " ranks per worker, but " + program + " starts one process";
  }
  return std::nullopt;
}

}  // namespace weft::life
