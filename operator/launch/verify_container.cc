#include "operator/launch/verify_container.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace weft::launch {

namespace {

using Json = nlohmann::json;

}  // namespace

// Its requests are lower than any trainer's, so the pod's total does not grow. Namespaces with the
// Pod Security level `restricted` and with quotas admit it.
void AddVerification(const std::string& image, Json& spec) {
  if (image.empty()) return;
  const Json few = {{"cpu", "100m"}, {"memory", "64Mi"}};
  const Json node = {{"fieldRef", {{"fieldPath", "spec.nodeName"}}}};
  Json verify = {{"name", "weft-verify"},
                 {"image", image},
                 {"command", {"weft", "verify"}},
                 {"env", Json::array({{{"name", "WEFT_BOUND_NODE"}, {"valueFrom", node}}})},
                 {"resources", {{"requests", few}, {"limits", few}}},
                 {"securityContext",
                  {{"allowPrivilegeEscalation", false},
                   {"capabilities", {{"drop", {"ALL"}}}},
                   {"seccompProfile", {{"type", "RuntimeDefault"}}}}}};
  Json containers = Json::array({std::move(verify)});
  if (const auto own = spec.find("initContainers"); own != spec.end() && own->is_array()) {
    for (Json& container : *own) containers.push_back(std::move(container));
  }
  spec["initContainers"] = std::move(containers);
}

}  // namespace weft::launch
