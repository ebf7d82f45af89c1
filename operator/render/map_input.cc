#include "operator/render/map_input.h"

#include <map>

#include "operator/decide/explain.h"
#include "operator/render/text_format.h"
#include "operator/traffic/worker_graph.h"

namespace weft::render {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;

namespace {

// A pair's bytes, half each way, leave both domains wherever the two nodes part.
void AddLeaving(const fabric::Fabric& fabric, NodeIndex a, NodeIndex b, Int128 bytes,
                std::vector<std::vector<Int128>>& leaving) {
  for (Tier t = fabric.node_tier(); t >= 1; --t) {
    const DomainIndex in_a = fabric.domains(t).of_node[a], in_b = fabric.domains(t).of_node[b];
    if (in_a == in_b) return;
    leaving[t][in_a] += bytes / 2;
    leaving[t][in_b] += bytes / 2;
  }
}

// Of a clique's M ranks, the m in a domain each exchange with the M - m outside it.
void AddClique(const fabric::Fabric& fabric, const traffic::Clique& clique,
               const std::vector<NodeIndex>& nodes, std::vector<std::vector<Int128>>& leaving) {
  Int128 all = 0;
  for (const auto& member : clique.members) all += member.ranks;
  for (Tier t = 1; t <= fabric.node_tier(); ++t) {
    std::map<DomainIndex, Int128> inside;
    for (const auto& member : clique.members) {
      inside[fabric.domains(t).of_node[nodes[member.worker]]] += member.ranks;
    }
    for (const auto& [domain, ranks] : inside) {
      leaving[t][domain] += ranks * (all - ranks) * clique.bytes_per_rank_pair / 2;
    }
  }
}

void AddJob(const fabric::Fabric& fabric, const traffic::WorkerGraph& graph,
            const std::vector<NodeIndex>& nodes, std::vector<std::vector<Int128>>& leaving) {
  for (const traffic::Edge& edge : graph.edges()) {
    AddLeaving(fabric, nodes[edge.a], nodes[edge.b], edge.bytes, leaving);
  }
  for (const traffic::Clique& clique : graph.cliques()) AddClique(fabric, clique, nodes, leaving);
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
    map.leaving[t].assign(on.fabric->domains(t).size(), 0);
  }
  for (const decide::PlanEntry& entry : report.entries) {
    if (entry.fabric != fabric) continue;
    const std::string name = api::Show(entry.workload.key());
    const decide::Placed* placed = entry.placed();
    if (placed == nullptr) {
      map.refused.push_back({name, entry.refused()->reason});
      continue;
    }
    const std::vector<NodeIndex>& nodes = placed->plan.nodes;
    map.jobs.push_back({name, decide::SpansText(placed->scores),
                        entry.modelled ? BytesText(placed->scores.cross_node_bytes) : "-", nodes,
                        entry.workload.accelerator->per_worker});
    if (!entry.modelled) continue;
    const auto problem = decide::MakeProblem(on, entry.workload);
    if (!problem) continue;  // it was placed, so its problem can be made
    AddJob(*on.fabric, traffic::WorkerGraph(problem->traffic), nodes, map.leaving);
  }
  return map;
}

std::string EscapeXml(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += '?';
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace weft::render
