#include "operator/cluster/pins.h"

#include <utility>
#include <vector>

#include "operator/fabric/node_facts.h"

namespace weft::cluster {
namespace {

constexpr const char* kPinField = "metadata.name";

}  // namespace

rules::PodRequirements WithoutPins(rules::PodRequirements pod) {
  pod.node_name.clear();
  pod.node_selector.erase(fabric::kHostNameLabel);
  if (!pod.required_affinity) return pod;
  std::vector<rules::NodeSelectorTerm> terms;
  for (rules::NodeSelectorTerm& term : *pod.required_affinity) {
    std::erase_if(term.match_fields, [](const auto& field) { return field.key == kPinField; });
    std::erase_if(term.match_expressions,
                  [](const auto& expression) { return expression.key == fabric::kHostNameLabel; });
    if (!term.match_fields.empty() || !term.match_expressions.empty()) {
      terms.push_back(std::move(term));
    }
  }
  // A term with nothing but a pin is dropped; without its pin it would match every node.
  const bool open = terms.size() < pod.required_affinity->size();
  pod.required_affinity.reset();
  if (!open) pod.required_affinity = std::move(terms);
  return pod;
}

}  // namespace weft::cluster
