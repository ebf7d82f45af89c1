#include "operator/life/reserved_names.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <span>

#include "operator/api/json_member.h"
#include "operator/api/names.h"

namespace weft::life {
namespace {

using Json = nlohmann::json;
using Names = std::span<const std::string_view>;

constexpr auto kTorch = std::to_array<std::string_view>(
    {"PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT",
     "PET_RDZV_BACKEND", "PET_RDZV_ENDPOINT", "PET_RDZV_ID", "PET_LOCAL_ADDR", "PET_STANDALONE",
     "MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE",
     "GROUP_RANK"});
constexpr auto kOpenMpi = std::to_array<std::string_view>(
    {"OMPI_MCA_orte_default_hostfile", "OMPI_MCA_orte_keep_fqdn_hostnames",
     "OMPI_MCA_orte_set_default_slots", "OMPI_MCA_rmaps", "OMPI_MCA_plm", "OMPI_MCA_plm_rsh_agent",
     "PRTE_MCA_prte_default_hostfile", "PRTE_MCA_prte_keep_fqdn_hostnames",
     "PRTE_MCA_rmaps_default_mapping_policy", "PRTE_MCA_plm", "PRTE_MCA_plm_ssh_agent"});
constexpr auto kIntel = std::to_array<std::string_view>(
    {"I_MPI_HYDRA_HOST_FILE", "I_MPI_HYDRA_BOOTSTRAP", "I_MPI_HYDRA_BOOTSTRAP_EXEC",
     "I_MPI_PERHOST", "I_MPI_JOB_RESPECT_PROCESS_PLACEMENT"});
constexpr auto kMpich = std::to_array<std::string_view>(
    {"HYDRA_HOST_FILE", "HYDRA_LAUNCHER", "HYDRA_LAUNCHER_EXEC", "HYDRA_ENV", "HYDRA_RMK"});
constexpr auto kJax = std::to_array<std::string_view>(
    {"JAX_COORDINATOR_ADDRESS", "JAX_COORDINATOR_PORT", "JAX_NUM_PROCESSES", "JAX_PROCESS_ID",
     "JAX_PARTITION_INDEX", "JAX_SLICE_INDEX"});
constexpr auto kTensorFlow = std::to_array<std::string_view>({"TF_CONFIG"});

Names NamesOf(const api::Framework& framework) {
  switch (framework.type) {
    case api::FrameworkType::kTorch:
    case api::FrameworkType::kDeepSpeed:
      return kTorch;
    case api::FrameworkType::kJAX:
      return kJax;
    case api::FrameworkType::kTensorFlow:
      return kTensorFlow;
    case api::FrameworkType::kCustom:
      return {};
    case api::FrameworkType::kMPI:
      break;
  }
  if (framework.implementation == api::MpiImplementation::kIntel) return kIntel;
  return framework.implementation == api::MpiImplementation::kMPICH ? Names(kMpich)
                                                                    : Names(kOpenMpi);
}

// The items of a list member, if it is one.
const Json& ItemsOf(const Json& object, const char* key) {
  static const Json kNone = Json::array();
  const auto found = object.find(key);
  return found != object.end() && found->is_array() ? *found : kNone;
}

class Search {
 public:
  explicit Search(const api::Framework& framework) : framework_(framework) {}

  std::optional<ReservedUse> In(const Json& pod_spec) {
    const std::string spec = "spec.workers.template.spec";
    Volumes(ItemsOf(pod_spec, "volumes"), spec + ".volumes");
    Containers(ItemsOf(pod_spec, "containers"), spec + ".containers");
    Containers(ItemsOf(pod_spec, "initContainers"), spec + ".initContainers");
    return std::move(found_);
  }

 private:
  void Found(std::string field, std::string message) {
    if (!found_) found_ = ReservedUse{std::move(field), std::move(message)};
  }

  void Volumes(const Json& volumes, const std::string& path) {
    for (std::size_t i = 0; i < volumes.size(); ++i) {
      const std::string name = api::TextAt(volumes[i], "name");
      if (name != "weft" && name != "weft-shm") continue;
      Found(path + "[" + std::to_string(i) + "].name",
            "the volume name " + name + " is reserved for Weft");
    }
  }

  void Containers(const Json& containers, const std::string& path) {
    for (std::size_t i = 0; i < containers.size(); ++i) {
      if (!containers[i].is_object()) continue;
      const std::string at = path + "[" + std::to_string(i) + "]";
      if (api::TextAt(containers[i], "name") == "weft-verify") {
        Found(at + ".name", "the container name weft-verify is reserved for Weft");
      }
      Variables(ItemsOf(containers[i], "env"), at + ".env");
      Mounts(ItemsOf(containers[i], "volumeMounts"), at + ".volumeMounts");
    }
  }

  void Variables(const Json& variables, const std::string& path) {
    for (std::size_t i = 0; i < variables.size(); ++i) {
      const std::string name = api::TextAt(variables[i], "name");
      if (!IsReservedVariable(framework_, name)) continue;
      Found(path + "[" + std::to_string(i) + "].name",
            name + " is reserved with framework " +
                std::string(NameOf(api::kFrameworkNames, framework_.type)) +
                ": Weft sets the variables that tell each process its rank");
    }
  }

  void Mounts(const Json& mounts, const std::string& path) {
    for (std::size_t i = 0; i < mounts.size(); ++i) {
      const std::string where = api::TextAt(mounts[i], "mountPath");
      if (where != "/etc/weft" && !where.starts_with("/etc/weft/")) continue;
      Found(path + "[" + std::to_string(i) + "].mountPath", "/etc/weft is reserved for Weft");
    }
  }

  const api::Framework& framework_;
  std::optional<ReservedUse> found_;
};

}  // namespace

bool IsReservedVariable(const api::Framework& framework, std::string_view name) {
  if (name.starts_with("WEFT_")) return true;
  const Names names = NamesOf(framework);
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::optional<ReservedUse> FindReservedUse(const api::TrainingJob& job) {
  if (!job.raw) return std::nullopt;
  return Search(job.framework).In(job.raw->at("spec").at("workers").at("template").at("spec"));
}

}  // namespace weft::life
