#include "operator/launch/pin.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "operator/cluster/placement_pods.h"
#include "operator/life/gang_step.h"

namespace weft::launch {
namespace {

using Json = nlohmann::json;

// The member `key`; it is created as an object if absent or null.
Json& ObjectAt(Json& parent, const char* key) {
  Json& member = parent[key];
  if (!member.is_object()) member = Json::object();
  return member;
}

Json& TermsOf(Json& spec) {
  return ObjectAt(ObjectAt(ObjectAt(spec, "affinity"), "nodeAffinity"),
                  "requiredDuringSchedulingIgnoredDuringExecution")["nodeSelectorTerms"];
}

Json Encode(const std::vector<fabric::SelectorExpression>& expressions) {
  Json out = Json::array();
  for (const fabric::SelectorExpression& one : expressions) {
    out.push_back({{"key", one.key}, {"operator", one.op}});
    if (!one.values.empty()) out.back()["values"] = one.values;
  }
  return out;
}

Json Encode(const rules::NodeSelectorTerm& term) {
  Json out = Json::object();
  if (!term.match_expressions.empty()) out["matchExpressions"] = Encode(term.match_expressions);
  if (!term.match_fields.empty()) out["matchFields"] = Encode(term.match_fields);
  return out;
}

Json OtherGates(const api::Pod& pod) {
  Json gates = Json::array();
  for (const std::string& gate : pod.scheduling_gates) {
    if (gate != api::kGate) gates.push_back({{"name", gate}});
  }
  return gates;
}

}  // namespace

void PinTo(const std::string& node, Json& spec) {
  Json& terms = TermsOf(spec);
  if (!terms.is_array() || terms.empty()) terms = Json::array({Json::object()});
  const Json field = {{"key", "metadata.name"}, {"operator", "In"}, {"values", {node}}};
  for (Json& term : terms) {
    Json& fields = term["matchFields"];
    if (!fields.is_array()) fields = Json::array();
    fields.push_back(field);
  }
}

void Unpin(const std::string& node, Json& spec) {
  constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  if (!spec.contains("affinity") || !spec["affinity"].contains("nodeAffinity")) return;
  Json& of_nodes = spec["affinity"]["nodeAffinity"];
  if (!of_nodes.contains(kRequired)) return;
  bool every_node = false;
  for (Json& term : of_nodes[kRequired]["nodeSelectorTerms"]) {
    Json fields = Json::array();
    for (const Json& field : term.value("matchFields", Json::array())) {
      const bool pin = field.value("key", "") == "metadata.name" &&
                       field.value("values", Json()) == Json::array({node});
      if (!pin) fields.push_back(field);
    }
    term.erase("matchFields");
    if (!fields.empty()) term["matchFields"] = std::move(fields);
    every_node |= term.empty();
  }
  if (every_node) of_nodes.erase(kRequired);
  if (of_nodes.empty()) spec["affinity"].erase("nodeAffinity");
  if (spec["affinity"].empty()) spec.erase("affinity");
}

Json FreePatch(const api::Pod& pod) { return {{"spec", {{"schedulingGates", OtherGates(pod)}}}}; }

Json UngatePatch(const api::Pod& pod, const PodAssignment& assignment) {
  Json spec = Json::object();
  if (pod.pod.required_affinity) {
    Json& terms = TermsOf(spec);
    for (const auto& term : *pod.pod.required_affinity) terms.push_back(Encode(term));
  }
  PinTo(assignment.node, spec);
  spec["schedulingGates"] = OtherGates(pod);
  return {{"metadata",
           {{"annotations",
             {{life::kPlacementUidAnnotation, assignment.placement_uid},
              {cluster::kWorkerIndexLabel, std::to_string(assignment.worker.Raw())}}}}},
          {"spec", std::move(spec)}};
}

}  // namespace weft::launch
