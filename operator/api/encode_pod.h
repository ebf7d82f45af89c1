#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "operator/rules/pod_requirements.h"

namespace weft::api {

// Fields of a PodSpec: `tolerations`, and `affinity` with these terms as its required node
// affinity; the list of preferred node affinity.
nlohmann::ordered_json EncodeTolerations(const std::vector<rules::Toleration>& tolerations);
nlohmann::ordered_json EncodeAffinity(const std::vector<rules::NodeSelectorTerm>& terms);
nlohmann::ordered_json EncodePreferred(const std::vector<rules::PreferredTerm>& terms);

}  // namespace weft::api
