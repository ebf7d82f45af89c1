#include "operator/life/admission.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace weft::life {
namespace {

using rules::NodeSelectorTerm;
using rules::Toleration;

// Of the admission plug-in DefaultTolerationSeconds.
bool IsDefault(const Toleration& one) {
  return one.op == "Exists" && one.effect == "NoExecute" &&
         (one.key == "node.kubernetes.io/not-ready" || one.key == "node.kubernetes.io/unreachable");
}

std::vector<Toleration> Tolerations(const api::Pod& sent, const api::Pod& tried) {
  std::vector<Toleration> kept;
  const auto& asked = sent.pod.tolerations;
  for (const Toleration& one : tried.pod.tolerations) {
    const bool was = std::find(asked.begin(), asked.end(), one) != asked.end();
    if (was || !IsDefault(one)) kept.push_back(one);
  }
  return kept;
}

// The terms without the pin. A term that was only the pin allows every node: there is no rule.
std::optional<std::vector<NodeSelectorTerm>> Unpinned(
    std::optional<std::vector<NodeSelectorTerm>> terms, const std::string& node) {
  if (!terms) return terms;
  for (NodeSelectorTerm& term : *terms) {
    std::erase_if(term.match_fields, [&](const fabric::SelectorExpression& one) {
      return one.key == "metadata.name" && one.values == std::vector<std::string>{node};
    });
    if (term.match_fields.empty() && term.match_expressions.empty()) return std::nullopt;
  }
  return terms;
}

}  // namespace

std::optional<api::Admission> AdmissionOf(const api::Pod& sent, const api::Pod& tried,
                                          const std::string& node) {
  api::Admission changed;
  const api::Admission nothing;
  if (tried.pod.requests != sent.pod.requests) changed.requests = tried.pod.requests;
  if (tried.pod.node_selector != sent.pod.node_selector) {
    changed.node_selector = tried.pod.node_selector;
  }
  std::vector<Toleration> tolerations = Tolerations(sent, tried);
  if (tolerations != sent.pod.tolerations) changed.tolerations = std::move(tolerations);
  if (tried.pod.required_affinity != sent.pod.required_affinity) {
    changed.node_selector_terms = Unpinned(tried.pod.required_affinity, node);
  }
  if (tried.priority_class_name != sent.priority_class_name) {
    changed.priority_class_name = tried.priority_class_name;
  }
  return changed == nothing ? std::nullopt : std::optional(std::move(changed));
}

}  // namespace weft::life
