#include "operator/launch/host_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/framework/host_name.h"
#include "operator/framework/traits.h"
#include "operator/framework/worker_container.h"

namespace weft::launch {
namespace {

using framework::HostFileForm;
using Json = nlohmann::json;

// The other half of the ConfigMap is for placement.json and MPI's scripts.
constexpr std::size_t kMostHostFile = kConfigMapBytes / 2;
constexpr const char* kSourceFolder = "/etc/weft-files";

HostFileForm FormOf(const api::TrainingJob& job) {
  const auto form = framework::TraitsOf(job.framework).host_file;
  return form == nullptr ? HostFileForm() : form(job);
}

std::string LineOf(const api::TrainingJob& job, const HostFileForm& form, WorkerIndex worker) {
  const bool bare = form.bare_first && worker == WorkerIndex{0};
  return (bare ? framework::HostName(job, worker) : AddressOf(job, worker)) + form.behind + "\n";
}

}  // namespace

std::string HostFile(const api::TrainingJob& job) {
  const HostFileForm form = FormOf(job);
  std::string text;
  for (const WorkerIndex w : Range<WorkerIndex>(job.replicas)) {
    const std::string line = LineOf(job, form, w);
    for (std::uint32_t i = 0; i < form.times; ++i) text += line;
  }
  return text;
}

std::size_t HostFileBytes(const api::TrainingJob& job) {
  const HostFileForm form = FormOf(job);
  const std::size_t first = LineOf(job, form, WorkerIndex{0}).size();
  const std::size_t other = (AddressOf(job, WorkerIndex{0}) + form.behind + "\n").size();
  return form.times * (first + (job.replicas - 1) * other);
}

bool MakesHostFileInPod(const api::TrainingJob& job) { return HostFileBytes(job) > kMostHostFile; }

// printf, a shell builtin, repeats its format for every argument: one call per worker, without a
// process.
std::string FillScript(const api::TrainingJob& job) {
  const HostFileForm form = FormOf(job);
  const std::string width = std::to_string(framework::PaddedWorker(job, WorkerIndex{0}).size());
  const std::string address = job.meta.key.name + "-%0" + width + "d." + job.meta.key.name;
  std::string numbers;
  for (std::uint32_t i = 0; i < form.times; ++i) numbers += " $w";
  std::string first;
  for (std::uint32_t i = 0; i < form.times; ++i) first += LineOf(job, form, WorkerIndex{0});
  return "#!/bin/sh\n"
         "# FROM TO: copies the gang's files, and writes the hostfile, too long for a ConfigMap.\n"
         "set -e\n"
         "for file in \"$1\"/*; do cp -RL \"$file\" \"$2\"/; done\n"
         "[ ! -e \"$2/ssh/id\" ] || chmod go= \"$2/ssh/id\"\n"
         "{\n"
         "cat <<END\n" +
         first +
         "END\n"
         "w=1\n"
         "while [ $w -lt " +
         std::to_string(job.replicas) + " ]; do printf '" + address + form.behind + "\\n'" +
         numbers +
         "; w=$((w + 1)); done\n"
         "} >\"$2/hostfile\"\n";
}

void AddFillContainer(const Gang& gang, WorkerIndex worker, Json& spec) {
  const api::TrainingJob& job = *gang.job;
  const bool reads = FormOf(job).all_read || worker == WorkerIndex{0};
  const Json* trainer = framework::WorkerContainer(job, spec);
  if (!reads || !MakesHostFileInPod(job) || trainer == nullptr) return;
  for (Json& volume : spec.at("volumes")) {
    if (volume["name"] == "weft") volume["name"] = "weft-files";
  }
  // In memory, because MPI's key is among the files.
  spec["volumes"].push_back({{"name", "weft"}, {"emptyDir", {{"medium", "Memory"}}}});
  const Json few = {{"cpu", "100m"}, {"memory", "64Mi"}};  // less than any trainer asks for
  const std::string script = std::string(kSourceFolder) + "/fill";
  Json fill = {{"name", "weft-files"},
               {"command", {"/bin/sh", script, kSourceFolder, kFilesFolder}},
               {"resources", {{"requests", few}, {"limits", few}}},
               {"volumeMounts",
                {{{"name", "weft-files"}, {"mountPath", kSourceFolder}, {"readOnly", true}},
                 {{"name", "weft"}, {"mountPath", kFilesFolder}}}}};
  for (const char* kept : {"image", "imagePullPolicy", "securityContext"}) {
    if (trainer->contains(kept)) fill[kept] = trainer->at(kept);
  }
  Json containers = Json::array({std::move(fill)});
  if (const auto own = spec.find("initContainers"); own != spec.end() && own->is_array()) {
    for (Json& container : *own) containers.push_back(std::move(container));
  }
  spec["initContainers"] = std::move(containers);
}

}  // namespace weft::launch
