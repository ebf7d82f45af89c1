#include "operator/launch/fabric_environment.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "operator/framework/host_name.h"

namespace weft::launch {
namespace {

using fabric::DomainIndex;
using fabric::NodeIndex;

// Whether the link type is a network with RDMA, by the names of the known types.
bool IsRdma(const std::string& type) {
  return type.starts_with("InfiniBand") || type.starts_with("RoCE");
}

void Set(const std::string& name, const std::string& value, Environment& environment) {
  std::erase_if(environment, [&](const auto& one) { return one.first == name; });
  if (!value.empty()) environment.emplace_back(name, value);
}

// Numbers domains in the order in which workers first use them.
template <typename DomainOf, typename NameOf>
GangLevel Numbered(const std::string& name, const ByWorker<NodeIndex>& nodes, DomainOf domain_of,
                   NameOf name_of) {
  GangLevel level{name, {}, {}, false};
  std::map<DomainIndex, std::uint32_t> numbers;
  for (const NodeIndex node : nodes) {
    const DomainIndex domain = domain_of(node);
    const auto next = static_cast<std::uint32_t>(level.domains.size());
    const auto [number, fresh] = numbers.emplace(domain, next);
    if (fresh) level.domains.push_back(name_of(domain));
    level.of_worker.push_back(number->second);
  }
  return level;
}

std::optional<ByWorker<NodeIndex>> Indices(const fabric::Fabric& on,
                                           const ByWorker<std::string>& names) {
  ByWorker<NodeIndex> nodes;
  for (const std::string& name : names) {
    const auto node = on.FindNode(name);
    if (!node) return std::nullopt;
    nodes.push_back(*node);
  }
  return nodes;
}

}  // namespace

Environment FabricEnvironment(const fabric::FabricSpec& spec, const api::TrainingJob& job) {
  const api::Accelerator& accelerator = job.accelerator;
  const auto of = [&](const std::string& vendor) {
    return accelerator.resource_name.starts_with(vendor + "/") ||
           accelerator.device_class.ends_with("." + vendor);
  };
  // A class that its cluster has named may be of any vendor; other vendors ignore the variables.
  const bool own_class = !accelerator.device_class.empty() && !of("google.com") && !of("intel.com");
  Environment environment;
  if (of("nvidia.com") || of("amd.com") || own_class) {
    if (spec.rails) environment.emplace_back("NCCL_CROSS_NIC", "0");
    const bool rdma = std::any_of(spec.levels.begin(), spec.levels.end(), [](const auto& level) {
      return level.link && IsRdma(level.link->type);
    });
    const bool pod_network = !framework::OnHostNetwork(job);
    if (rdma && pod_network) environment.emplace_back("NCCL_SOCKET_IFNAME", "eth0");
  }
  for (const auto& variable : spec.environment) Set(variable.name, variable.value, environment);
  return environment;
}

std::vector<GangLevel> GangLevels(const fabric::Fabric& on, bool claims_compute_domain,
                                  const ByWorker<std::string>& names) {
  const auto nodes = Indices(on, names);
  if (!nodes) return {};
  const bool usable = !on.ScaleUpNeedsClaim() || claims_compute_domain;
  std::vector<GangLevel> levels;
  for (fabric::Tier tier{1}; tier < on.node_tier(); ++tier) {
    const fabric::TierDomains& domains = on.domains(tier);
    levels.push_back(Numbered(
        on.tiers()[tier].name, *nodes, [&](NodeIndex n) { return domains.of_node[n]; },
        [&](DomainIndex d) { return domains.names[d]; }));
    levels.back().scale_up = usable && on.nested_scale_up() == tier;
  }
  for (const fabric::Plane& plane : on.planes()) {
    levels.push_back(Numbered(
        plane.name, *nodes, [&](NodeIndex n) { return plane.of_node[n]; },
        [&](DomainIndex d) { return plane.names[d]; }));
    levels.back().scale_up = usable && plane.scale_up;
  }
  return levels;
}

}  // namespace weft::launch
