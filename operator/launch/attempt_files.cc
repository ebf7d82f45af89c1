#include "operator/launch/attempt_files.h"

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "operator/launch/framework.h"
#include "operator/launch/host_file.h"
#include "operator/launch/metadata.h"

namespace weft::launch {
namespace {

using Json = nlohmann::json;

}  // namespace

// The Placement owns the ConfigMap, so it is deleted when the attempt is taken down.
Json MakeConfigMap(const Gang& gang) {
  const api::ObjectMeta& job = gang.job->meta;
  constexpr std::string_view kPlacementFile = "placement.json";
  std::map<std::string, std::string> files = FrameworkFiles(gang);
  std::size_t left = kConfigMapBytes - kPlacementFile.size();
  for (const auto& [name, text] : files) left -= name.size() + text.size();
  files.emplace(kPlacementFile, PlacementFile(gang, left));
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata",
           {{"name", FilesName(gang)},
            {"namespace", job.key.space},
            {"labels", JobLabels(*gang.job)},
            {"ownerReferences", OwnedByPlacement(gang)}}},
          {"immutable", true},
          {"data", std::move(files)}};
}

}  // namespace weft::launch
