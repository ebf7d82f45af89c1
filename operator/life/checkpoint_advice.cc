#include "operator/life/checkpoint_advice.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "operator/api/json_member.h"
#include "operator/api/names.h"
#include "operator/outlook/failures.h"

namespace weft::life {
namespace {

// How many domains of the level the Placement's nodes are in, by its status; 0 if unknown.
double DomainsAt(const api::Placement& placement, std::string_view level) {
  if (!placement.raw) return 0;
  const auto status = placement.raw->find("status");
  if (status == placement.raw->end() || !status->is_object()) return 0;
  const auto spans = status->find("spans");
  if (spans == status->end() || !spans->is_array()) return 0;
  for (const auto& span : *spans) {
    if (!span.is_object() || api::TextAt(span, "level") != level) continue;
    const auto domains = span.find("domains");
    const bool known = domains != span.end() && domains->is_number_integer();
    return known ? std::max(0.0, domains->get<double>()) : 0;
  }
  return 0;
}

// Several workers may share a node. This is asked for at each look at a running job, so the nodes
// are counted only where the status does not tell.
double NodesOf(const api::Placement& placement) {
  if (const double told = DomainsAt(placement, "node"); told > 0) return told;
  const std::set<std::string_view> nodes(placement.nodes.begin(), placement.nodes.end());
  return static_cast<double>(nodes.size());
}

}  // namespace

std::optional<std::int64_t> AdvisedInterval(const api::Placement& placement,
                                            const std::vector<DomainRate>& rates,
                                            std::int64_t stall_seconds) {
  if (placement.nodes.empty()) return std::nullopt;
  outlook::FailureRates assumed;
  assumed.checkpoint_seconds = static_cast<double>(stall_seconds);
  double of_node = assumed.per_1000_node_days, failures = 0;
  for (const DomainRate& rate : rates) {
    if (rate.level == "node") {
      of_node = rate.per_1000_days;
    } else {
      failures += DomainsAt(placement, rate.level) * rate.per_1000_days;
    }
  }
  failures += NodesOf(placement) * of_node;
  if (!(failures > 0)) return std::nullopt;
  const double interval = outlook::ReliabilityAt(failures, assumed).checkpoint_interval_seconds;
  if (!(interval < static_cast<double>(api::kSeconds.max))) return std::nullopt;
  return std::max<std::int64_t>(1, std::llround(interval));
}

}  // namespace weft::life
