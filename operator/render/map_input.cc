#include "operator/render/map_input.h"

#include "operator/decide/explain.h"
#include "operator/decide/running.h"
#include "operator/render/text_format.h"

namespace weft::render {

using fabric::NodeIndex;
using fabric::Tier;

namespace {

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
    for (const decide::DomainFlow& flow : decide::FlowsOf(on, entry.workload, nodes)) {
      MapFlow& sum = map.leaving[flow.tier][flow.domain];
      sum.bytes += flow.bytes;
      sum.milliseconds += flow.milliseconds;
    }
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
