#include "operator/api/admission.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/encode.h"
#include "operator/api/encode_pod.h"
#include "operator/api/pod_requirements.h"

namespace weft::api {

std::optional<Admission> DecodeAdmission(const Field& field) {
  if (!field.present()) return std::nullopt;
  Admission admission;
  admission.observed_generation = field["observedGeneration"].Int();
  if (const Field requests = field["requests"]; requests.present()) {
    admission.requests = DecodeResources(requests);
  }
  rules::PodRequirements pod = DecodePodSpec(field);
  if (field["nodeSelector"].present()) admission.node_selector = std::move(pod.node_selector);
  if (field["tolerations"].present()) admission.tolerations = std::move(pod.tolerations);
  admission.node_selector_terms = std::move(pod.required_affinity);
  admission.priority_class_name = field["priorityClassName"].Str();
  return admission;
}

nlohmann::ordered_json EncodeAdmission(const Admission& admission) {
  nlohmann::ordered_json out = {{"observedGeneration", admission.observed_generation}};
  if (admission.requests) out["requests"] = EncodeResources(*admission.requests);
  if (admission.node_selector) out["nodeSelector"] = *admission.node_selector;
  if (admission.tolerations) out["tolerations"] = EncodeTolerations(*admission.tolerations);
  if (admission.node_selector_terms) {
    out["affinity"] = EncodeAffinity(*admission.node_selector_terms);
  }
  if (!admission.priority_class_name.empty()) {
    out["priorityClassName"] = admission.priority_class_name;
  }
  return out;
}

}  // namespace weft::api
