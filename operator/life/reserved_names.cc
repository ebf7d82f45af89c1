#include "operator/life/reserved_names.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "operator/api/json_member.h"
#include "operator/api/names.h"
#include "operator/framework/traits.h"

namespace weft::life {
namespace {

using Json = nlohmann::json;

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
  const auto reserved = framework::TraitsOf(framework).reserved;
  if (reserved == nullptr) return false;
  const framework::Names names = reserved(framework);
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::optional<ReservedUse> FindReservedUse(const api::TrainingJob& job) {
  if (!job.raw) return std::nullopt;
  return Search(job.framework).In(job.raw->at("spec").at("workers").at("template").at("spec"));
}

}  // namespace weft::life
