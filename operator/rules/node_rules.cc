#include "operator/rules/node_rules.h"

#include <algorithm>
#include <string_view>

#include "operator/fabric/presets.h"
#include "operator/rules/selector.h"
#include "operator/rules/tolerations.h"

namespace weft::rules {

using fabric::Claims;
using fabric::Fabric;
using fabric::NodeIndex;

namespace {

constexpr std::string_view kPods = "pods";  // a worker is one pod

}  // namespace

Wants ResolveWants(const Fabric& fabric, const PodRequirements& pod) {
  Wants wants;
  for (const auto& [name, amount] : pod.requests) {
    if (amount <= 0 || name == kPods) continue;
    const auto resource = fabric.FindResource(name);
    if (resource) {
      wants.list.push_back({*resource, amount});
    } else if (wants.not_offered.empty()) {
      wants.not_offered = name;
    }
  }
  const auto pods = fabric.FindResource(std::string(kPods));
  if (pods) wants.list.push_back({*pods, 1});
  std::stable_sort(wants.list.begin(), wants.list.end(), [&](const Want& a, const Want& b) {
    return fabric.IsAccelerator(a.resource) && !fabric.IsAccelerator(b.resource);
  });
  return wants;
}

std::string SpaceOf(const SlotQuery& query) { return query.job.substr(0, query.job.find('/')); }

IndexVector<fabric::PoolIndex, std::uint8_t> PoolsAllowed(const Fabric& fabric,
                                                          const SlotQuery& query) {
  IndexVector<fabric::PoolIndex, std::uint8_t> allowed(fabric.pools().EndIndex(),
                                                       query.pools.empty() ? 1 : 0);
  for (fabric::PoolIndex pool : query.pools) allowed[pool] = 1;
  return allowed;
}

bool ComputeDomainBlocks(const Claims& claims, const SlotQuery& query, NodeIndex node) {
  if (query.ignore_claims || !query.pod->claims_compute_domain) return false;
  const std::string& holder = claims.compute_domain(node);
  return !holder.empty() && holder != query.job;
}

bool AccessBlocks(const PodRequirements& pod, const fabric::NodeFacts& node) {
  return std::any_of(node.device_access.begin(), node.device_access.end(),
                     [&](const fabric::DeviceAccess& only) {
                       const auto asked = pod.requests.find(only.resource);
                       return asked != pod.requests.end() && asked->second > 0 &&
                              only.by_claims != pod.claims_accelerators;
                     });
}

bool CordonBlocks(const PodRequirements& pod, const fabric::NodeFacts& node) {
  if (!node.unschedulable) return false;
  const fabric::Taint cordon{std::string(kUnschedulableTaint), "", "NoSchedule"};
  return !TolerateTaint(pod.tolerations, cordon);
}

bool PassesTaints(const SlotQuery& query, std::span<const fabric::Taint> taints) {
  if (!query.ignore_health) return FirstUntolerated(taints, query.pod->tolerations) == nullptr;
  return std::all_of(taints.begin(), taints.end(), [&](const fabric::Taint& taint) {
    return PassesByItself(taint.key) ||
           FirstUntolerated({&taint, 1}, query.pod->tolerations) == nullptr;
  });
}

bool MatchesNode(const PodRequirements& pod, const fabric::NodeFacts& node) {
  return MissingSelector(pod, node) == nullptr &&
         (!pod.required_affinity || MatchesAffinity(*pod.required_affinity, node));
}

const std::vector<std::string>* MissingLevel(const PodRequirements& pod,
                                             const fabric::NodeFacts& node) {
  const auto has = [&](const std::string& key) {
    const auto value = node.labels.At(key);
    return value ? !fabric::IsPlaceholder(*value) : key == fabric::kHostNameLabel;
  };
  for (const std::vector<std::string>& keys : pod.level_labels) {
    if (std::none_of(keys.begin(), keys.end(), has)) return &keys;
  }
  return nullptr;
}

const std::pair<const std::string, std::string>* MissingSelector(const PodRequirements& pod,
                                                                 const fabric::NodeFacts& node) {
  for (const auto& entry : pod.node_selector) {
    const auto label = node.labels.find(entry.first);
    if (label == node.labels.end() || label->second != entry.second) return &entry;
  }
  return nullptr;
}

}  // namespace weft::rules
