#include "operator/render/domain_count.h"

#include <algorithm>

#include "operator/base/units.h"
#include "operator/render/table.h"
#include "operator/render/text_format.h"

namespace weft::render {

NodeState StateOf(const fabric::Fabric& fabric, fabric::NodeIndex node) {
  if (!fabric.usable(node)) return NodeState::kUnusable;
  return fabric.node(node).unschedulable ? NodeState::kCordoned : NodeState::kTakesPods;
}

std::int64_t FreeOn(const fabric::Claims& claims, fabric::NodeIndex node) {
  if (StateOf(claims.fabric(), node) != NodeState::kTakesPods) return 0;
  return std::max<std::int64_t>(0, claims.free_accelerators(node));
}

void DomainCount::Add(const DomainCount& more) {
  nodes += more.nodes;
  accelerators = SaturatingAdd(accelerators, more.accelerators);
  free = SaturatingAdd(free, more.free);
  unusable += more.unusable;
  cordoned += more.cordoned;
}

DomainCount CountIn(const fabric::Claims& claims, fabric::Tier tier, fabric::DomainIndex domain) {
  const fabric::Fabric& fabric = claims.fabric();
  const auto& begin = fabric.domains(tier).begin;
  DomainCount count;
  for (fabric::NodeIndex n = begin[domain]; n < begin[domain + 1]; ++n) {
    const NodeState state = StateOf(fabric, n);
    count.Add({1, fabric.accelerators(n), FreeOn(claims, n), state == NodeState::kUnusable ? 1 : 0,
               state == NodeState::kCordoned ? 1 : 0});
  }
  return count;
}

std::string OffText(const DomainCount& count) {
  std::string text;
  if (count.unusable > 0) text = Counted(count.unusable, "node") + " unusable";
  if (count.cordoned == 0) return text;
  return text.empty() ? Counted(count.cordoned, "node") + " cordoned"
                      : text + ", " + Grouped(count.cordoned) + " cordoned";
}

}  // namespace weft::render
