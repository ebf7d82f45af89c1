#include "operator/launch/volumes.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "operator/base/quantity.h"
#include "operator/base/units.h"
#include "operator/framework/traits.h"
#include "operator/launch/ssh_secret.h"

namespace weft::launch {
namespace {

using Json = nlohmann::json;

constexpr const char* kSharedMemory = "/dev/shm";
constexpr int kExecutable = 0555;  // some of the files are MPI's scripts

Json& ListAt(Json& object, const char* key) {
  Json& list = object[key];
  if (!list.is_array()) list = Json::array();
  return list;
}

bool Mounts(const Json& container, const std::string& path) {
  const auto mounts = container.find("volumeMounts");
  if (mounts == container.end() || !mounts->is_array()) return false;
  return std::any_of(mounts->begin(), mounts->end(), [&](const Json& mount) {
    const std::string at = mount.value("mountPath", "");
    return at == path || at == path + "/";
  });
}

std::optional<std::int64_t> MemoryLimit(const Json& container) {
  const Json* limit = &container;
  for (const char* key : {"resources", "limits", "memory"}) {
    if (!limit->is_object() || !limit->contains(key)) return std::nullopt;
    limit = &(*limit)[key];
  }
  const auto bytes = ParseQuantity(limit->is_string() ? limit->get<std::string>() : limit->dump());
  return bytes ? std::optional(*bytes) : std::nullopt;
}

// The sum of all containers' memory limits; nothing if a container has none.
std::optional<std::int64_t> MemoryLimitOf(const Json& containers) {
  std::int64_t sum = 0;
  for (const Json& container : containers) {
    const auto limit = MemoryLimit(container);
    if (!limit) return std::nullopt;
    sum = SaturatingAdd(sum, *limit);
  }
  return sum;
}

}  // namespace

void AddVolumes(const Gang& gang, Json& spec) {
  Json shared = {{"medium", "Memory"}};
  if (const auto limit = MemoryLimitOf(spec.at("containers"))) {
    shared["sizeLimit"] = std::to_string(*limit / 2);
  }
  Json& volumes = ListAt(spec, "volumes");
  Json files = {{"name", FilesName(gang)}};
  if (framework::TraitsOf(gang.job->framework).launches_by_ssh()) {
    Json sources = Json::array({{{"configMap", std::move(files)}}, SshVolumeSource(gang)});
    volumes.push_back(
        {{"name", "weft"},
         {"projected", {{"sources", std::move(sources)}, {"defaultMode", kExecutable}}}});
  } else {
    volumes.push_back({{"name", "weft"}, {"configMap", std::move(files)}});
  }
  volumes.push_back({{"name", "weft-shm"}, {"emptyDir", std::move(shared)}});
  for (const char* list : {"containers", "initContainers"}) {
    const auto containers = spec.find(list);
    if (containers == spec.end() || !containers->is_array()) continue;
    for (Json& container : *containers) {
      const bool own = Mounts(container, kSharedMemory);
      Json& mounts = ListAt(container, "volumeMounts");
      mounts.push_back({{"name", "weft"}, {"mountPath", kFilesFolder}, {"readOnly", true}});
      if (!own) mounts.push_back({{"name", "weft-shm"}, {"mountPath", kSharedMemory}});
    }
  }
}

}  // namespace weft::launch
