#include "tests/world/definitions.h"

#include <fstream>
#include <sstream>
#include <string>

#include "operator/base/check.h"
#include "operator/manifest/reader.h"

namespace weft::world {
namespace {

nlohmann::json DefinitionIn(const std::string& path) {
  std::ifstream file(std::string(WEFT_SOURCE_DIR) + "/" + path);
  WEFT_CHECK(file.good());
  std::ostringstream text;
  text << file.rdbuf();
  auto document = manifest::ReadDocument({path, text.str()});
  WEFT_CHECK(document.has_value());
  return std::move(*document);
}

nlohmann::json OpenDefinition(const std::string& plural, const std::string& kind, bool namespaced) {
  const nlohmann::json schema = {{"type", "object"},
                                 {"x-kubernetes-preserve-unknown-fields", true}};
  return {{"spec",
           {{"group", "kueue.x-k8s.io"},
            {"scope", namespaced ? "Namespaced" : "Cluster"},
            {"names", {{"plural", plural}, {"kind", kind}}},
            {"versions",
             {{{"name", "v1beta2"},
               {"served", true},
               {"schema", {{"openAPIV3Schema", schema}}},
               {"subresources", {{"status", nlohmann::json::object()}}}}}}}}};
}

}  // namespace

std::vector<nlohmann::json> WeftDefinitions() {
  std::vector<nlohmann::json> definitions;
  for (const char* plural : {"fabrics", "placements", "trainingjobs"}) {
    definitions.push_back(DefinitionIn(std::string("crds/weft.dev_") + plural + ".yaml"));
  }
  return definitions;
}

std::vector<nlohmann::json> KueueDefinitions() {
  return {OpenDefinition("workloads", "Workload", true),
          OpenDefinition("localqueues", "LocalQueue", true),
          OpenDefinition("clusterqueues", "ClusterQueue", false),
          OpenDefinition("admissionchecks", "AdmissionCheck", false),
          OpenDefinition("resourceflavors", "ResourceFlavor", false),
          OpenDefinition("workloadpriorityclasses", "WorkloadPriorityClass", false)};
}

}  // namespace weft::world
