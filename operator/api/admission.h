#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/json_reader.h"
#include "operator/rules/pod_requirements.h"

namespace weft::api {

// status.admission of a TrainingJob: what admission makes of a worker's pod, as far as the choice
// of nodes depends on it. These are the fields in which the pod of a dry run differs from the
// template; each replaces the template's.
struct Admission {
  std::int64_t observed_generation = 0;       // of the job that was tried
  std::optional<fabric::Resources> requests;  // effective, with overhead
  std::optional<std::map<std::string, std::string>> node_selector;
  std::optional<std::vector<rules::NodeSelectorTerm>> node_selector_terms;
  std::optional<std::vector<rules::Toleration>> tolerations;
  std::string priority_class_name;  // "": as in the template

  friend bool operator==(const Admission&, const Admission&) = default;
};

// Nothing if the field is absent.
std::optional<Admission> DecodeAdmission(const Field& field);
nlohmann::ordered_json EncodeAdmission(const Admission& admission);

}  // namespace weft::api
