#include "operator/render/map_spans.h"

#include <set>

namespace weft::render {

std::string SpansOf(const fabric::Fabric& fabric, std::span<const fabric::NodeIndex> nodes) {
  std::string text;
  for (fabric::Tier t{1}; t <= fabric.node_tier(); ++t) {
    std::set<fabric::DomainIndex> domains;
    for (const fabric::NodeIndex node : nodes) domains.insert(fabric.domains(t).of_node[node]);
    text +=
        (text.empty() ? "" : ", ") + std::to_string(domains.size()) + " " + fabric.tiers()[t].name;
  }
  return text;
}

}  // namespace weft::render
