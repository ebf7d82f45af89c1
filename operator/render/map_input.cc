#include "operator/render/map_input.h"

#include "operator/decide/explain.h"
#include "operator/placement/seating.h"
#include "operator/placement/traffic_tally.h"
#include "operator/render/text_format.h"

namespace weft::render {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;

namespace {

constexpr double kFemtosecondsPerMillisecond = 1e12;

// Adds what one job sends out of each domain that it uses.
void AddJob(const fabric::Fabric& fabric, const decide::Problem& problem,
            const std::vector<NodeIndex>& nodes, std::vector<std::vector<MapFlow>>& leaving) {
  const placement::PairCost pair_cost(fabric, problem.request.pod.claims_compute_domain);
  const placement::Seating seating(fabric, nodes);
  placement::Tally tally(pair_cost, problem.traffic, seating);
  for (const traffic::GroupFamily& family : problem.traffic.families) tally.Add(family);
  const std::vector<std::vector<Int128>> bytes = tally.LeavingBytes();
  for (Tier t = 1; t < bytes.size(); ++t) {
    const auto weight = static_cast<double>(pair_cost.TierWeight(t - 1));
    for (std::size_t seat = 0; seat < bytes[t].size(); ++seat) {
      const DomainIndex domain = seating.domains(t)[seat];
      const std::int64_t accelerators = fabric.AcceleratorsIn(t, domain);
      MapFlow& flow = leaving[t][domain];
      flow.bytes += bytes[t][seat];
      if (accelerators <= 0) continue;
      flow.milliseconds += static_cast<double>(bytes[t][seat]) * weight /
                           static_cast<double>(accelerators) / kFemtosecondsPerMillisecond;
    }
  }
}

// Bytes of the UTF-8 sequence that starts at `at`; 0 where it is none, or one XML 1.0 forbids.
std::size_t SequenceAt(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned lead = byte(at);
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7f ? 1 : 0;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  unsigned point = lead & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0U) != 0x80U) return 0;
    point = point << 6U | (byte(at + i) & 0x3fU);
  }
  const unsigned least = length == 4 ? 0x10000U : length == 3 ? 0x800U : 0x80U;
  const bool surrogate = point >= 0xd800U && point <= 0xdfffU;
  const bool control = point < 0xa0U;  // C1: allowed by XML, and unreadable
  const bool forbidden = surrogate || point == 0xfffeU || point == 0xffffU;
  return point < least || point > 0x10ffffU || control || forbidden ? 0 : length;
}

}  // namespace

MapInput BuildMap(const decide::Cluster& cluster, const decide::PlanReport& report,
                  std::size_t fabric) {
  const decide::ClusterFabric& on = cluster.fabrics[fabric];
  MapInput map;
  map.title = on.name();
  map.fabric = on.fabric.get();
  map.claims = &on.claims;
  map.leaving.resize(on.fabric->tiers().size());
  for (Tier t = 0; t < map.leaving.size(); ++t) {
    map.leaving[t].resize(on.fabric->domains(t).size());
  }
  for (const decide::PlanEntry& entry : report.entries) {
    if (entry.fabric.value_or(fabric) != fabric) continue;
    const std::string name = api::Show(entry.workload.key());
    const decide::Placed* placed = entry.placed();
    if (placed == nullptr) {
      map.refused.push_back({name, entry.refused()->reason, !entry.fabric.has_value()});
      continue;
    }
    const std::vector<NodeIndex>& nodes = placed->plan.nodes;
    map.jobs.push_back({name, decide::SpansText(placed->scores),
                        entry.modelled ? BytesText(placed->scores.cross_node_bytes) : "-", nodes,
                        entry.workload.accelerator->per_worker});
    if (!entry.modelled) continue;
    const auto problem = decide::MakeProblem(on, entry.workload);
    if (!problem) continue;  // it was placed, so its problem can be made
    AddJob(*on.fabric, *problem, nodes, map.leaving);
  }
  return map;
}

std::string EscapeXml(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = SequenceAt(text, at);
    const char c = text[at];
    if (length == 0) {
      out += '?';
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\'') {
      out += "&#39;";
    } else {
      out.append(text, at, length);
    }
    at += length == 0 ? 1 : length;
  }
  return out;
}

}  // namespace weft::render
