#include "operator/simulate/rooms.h"

#include <algorithm>
#include <limits>

#include "operator/rules/node_filter.h"

namespace weft::simulate {

using fabric::NodeIndex;

Rooms::Rooms(const Scenario& scenario, const fabric::Claims& claims) {
  for (const Shape& shape : scenario.shapes) {
    const rules::PodRequirements& pod = shape.workload.pod;
    const auto found = std::find_if(kinds_.begin(), kinds_.end(),
                                    [&](const Kind& kind) { return *kind.pod == pod; });
    kind_.push_back(static_cast<std::uint32_t>(found - kinds_.begin()));
    if (found != kinds_.end()) continue;
    Kind kind;
    kind.pod = &pod;
    kind.wants = rules::ResolveWants(claims.fabric(), pod).list;
    rules::SlotQuery query;
    query.pod = &pod;
    query.cap = std::numeric_limits<std::uint32_t>::max();
    query.ignore_claims = true;
    rules::CountSlotsByNode(claims, query, kind.most);
    kind.slots.assign(kind.most.size(), 0);
    kinds_.push_back(std::move(kind));
  }
  for (const NodeIndex n : Range<NodeIndex>(claims.fabric().node_count())) Update(claims, n);
}

std::uint32_t Rooms::Count(const Kind& kind, const fabric::Claims& claims, NodeIndex node) {
  std::int64_t slots = kind.most[node];
  for (const rules::Want& want : kind.wants) {
    if (slots == 0) break;
    slots = std::min(slots, std::max<std::int64_t>(0, claims.free(node, want.resource)) /
                                std::max<std::int64_t>(1, want.amount));
  }
  return static_cast<std::uint32_t>(slots);
}

void Rooms::Update(const fabric::Claims& claims, NodeIndex node) {
  for (Kind& kind : kinds_) {
    const std::uint32_t slots = Count(kind, claims, node);
    kind.total += slots;
    kind.total -= kind.slots[node];
    kind.slots[node] = slots;
  }
}

}  // namespace weft::simulate
