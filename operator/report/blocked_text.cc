#include "operator/report/blocked_text.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

namespace weft::report {

std::string DomainName(const fabric::Fabric& fabric, fabric::Tier tier,
                       fabric::DomainIndex domain) {
  return tier == fabric.node_tier() ? fabric.node(fabric::AsNode(domain)).name
                                    : fabric.domains(tier).names[domain];
}

std::vector<BlockedGroup> GroupBlocked(const std::vector<placement::Blocked>& blocked) {
  std::vector<BlockedGroup> groups;
  for (const placement::Blocked& one : blocked) {
    auto group = std::find_if(groups.begin(), groups.end(), [&](const BlockedGroup& known) {
      return known.tier == one.tier && known.domain == one.domain;
    });
    if (group == groups.end()) {
      groups.push_back({one.tier, one.domain, {}});
      group = groups.end() - 1;
    }
    group->workers.push_back(one.worker);
  }
  return groups;
}

std::string TooManyText(std::size_t lost) {
  return std::to_string(lost) + " workers are lost, and replacements are computed for at most " +
         std::to_string(search::kMostReseated);
}

objective::Request WithoutAvoided(const objective::Request& request,
                                  const std::vector<fabric::NodeIndex>& avoided) {
  objective::Request careful = request;
  careful.excluded.clear();
  std::set_union(request.excluded.begin(), request.excluded.end(), avoided.begin(), avoided.end(),
                 std::back_inserter(careful.excluded));
  return careful;
}

placement::ReplaceAnswer ReplaceCarefully(const fabric::Claims& claims,
                                          const objective::Request& request,
                                          const std::vector<fabric::NodeIndex>& avoided,
                                          const traffic::WorkerGraph& graph,
                                          const placement::Loss& loss) {
  placement::ReplaceAnswer any = placement::Replace(claims, request, graph, loss);
  const auto* on_any = std::get_if<placement::Replaced>(&any);
  if (avoided.empty() || on_any == nullptr) return any;
  const objective::Request careful = WithoutAvoided(request, avoided);
  placement::ReplaceAnswer others = placement::Replace(claims, careful, graph, loss);
  const auto* on_others = std::get_if<placement::Replaced>(&others);
  const bool as_good = on_others != nullptr && on_others->groups_moved <= on_any->groups_moved &&
                       on_others->placement.preferences <= on_any->placement.preferences;
  return as_good ? std::move(others) : std::move(any);
}

}  // namespace weft::report
