#include "operator/render/map_input.h"

#include <cmath>

#include "operator/base/utf8.h"
#include "operator/cluster/running.h"
#include "operator/cluster/text.h"
#include "operator/render/table.h"
#include "operator/render/text_format.h"

namespace weft::render {

using fabric::NodeIndex;
using fabric::Tier;

namespace {

// Bytes of the character that starts at `at`; 0 if there is none, or if XML 1.0 forbids it or it is
// a control character (also U+0080..U+009F).
std::size_t CharacterAt(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  const std::size_t length = SequenceBytes(rest);
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(rest[i]); };
  if (length == 1) return byte(0) >= 0x20 && byte(0) != 0x7F ? 1 : 0;
  if (length == 2) return byte(0) == 0xC2 && byte(1) < 0xA0 ? 0 : 2;
  const bool beyond = length == 3 && (rest.starts_with("\xEF\xBF\xBE") ||  // U+FFFE
                                      rest.starts_with("\xEF\xBF\xBF"));   // U+FFFF
  return beyond ? 0 : length;
}

}  // namespace

MapInput BuildMap(const cluster::Cluster& cluster, const plan::PlanReport& report,
                  std::size_t fabric) {
  const cluster::ClusterFabric& on = cluster.fabrics[fabric];
  MapInput map;
  map.title = on.name();
  map.fabric = on.fabric.get();
  map.claims = &on.claims;
  map.leaving.resize(on.fabric->tiers().size());
  for (Tier t{0}; t < map.leaving.EndIndex(); ++t) {
    map.leaving[t].resize(on.fabric->domains(t).size());
  }
  for (const plan::PlanEntry& entry : report.entries) {
    if (entry.fabric.value_or(fabric) != fabric) continue;
    const std::string name = api::Show(entry.workload.key());
    const plan::Placed* placed = entry.placed();
    if (placed == nullptr) {
      map.unplaced.push_back({name, *entry.refused(), !entry.fabric.has_value()});
      continue;
    }
    const ByWorker<NodeIndex>& nodes = placed->plan.nodes;
    map.jobs.push_back({name, cluster::SpansText(placed->scores),
                        entry.modelled ? BytesText(placed->scores.cross_node_bytes) : "-", nodes,
                        entry.workload.accelerator->per_worker});
    if (placed->predicted) {
      const outlook::Prediction& one = placed->predicted->prediction;
      map.jobs.back().predicted =
          PredictedText({1e3 * one.step.Seconds(), one.tokens_per_second,
                         one.memory.Total() / one.capacity, one.mfu, one.watts});
    }
    for (const cluster::DomainFlow& flow : cluster::FlowsOf(on, entry.workload, nodes)) {
      MapFlow& sum = map.leaving[flow.tier][flow.domain];
      sum.bytes += flow.bytes;
      sum.milliseconds += flow.milliseconds;
    }
  }
  return map;
}

std::string PredictedText(const PredictedJob& job) {
  std::string text = "predicted: " + MillisecondsText(job.step_milliseconds) + " a step, " +
                     Grouped(std::llround(job.tokens_per_second)) + " tokens/s, " +
                     PercentText(std::lround(100 * job.memory)) + " of a GPU's memory";
  if (job.mfu) text += ", MFU " + PercentText(std::lround(100 * *job.mfu));
  if (job.watts) text += ", " + WattsText(*job.watts);
  return text;
}

std::string EscapeXml(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = CharacterAt(text, at);
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
