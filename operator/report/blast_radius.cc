#include "operator/report/blast_radius.h"

#include <algorithm>
#include <set>
#include <variant>

#include "operator/base/phrases.h"
#include "operator/cluster/text.h"
#include "operator/placement/replace.h"
#include "operator/report/blocked_text.h"
#include "operator/traffic/worker_graph.h"

namespace weft::report {
namespace {

using fabric::DomainIndex;
using fabric::Fabric;
using fabric::NodeIndex;
using fabric::Tier;

// The domain with the most workers; the first of several.
DomainIndex Fullest(const Fabric& fabric, Tier tier, const ByWorker<NodeIndex>& nodes) {
  fabric::ByDomain<std::uint32_t> workers(fabric.domains(tier).EndIndex(), 0U);
  for (const NodeIndex n : nodes) ++workers[fabric.domains(tier).of_node[n]];
  const auto most = std::max_element(workers.begin(), workers.end());
  return DomainIndex::Of(static_cast<std::size_t>(most - workers.begin()));
}

// The stages of the pipeline that these workers hold a rank of: a rank's place in its group of the
// axis Pipeline.
std::uint32_t StagesOf(const traffic::Traffic& traffic, const std::vector<WorkerIndex>& workers) {
  std::set<std::size_t> stages;
  for (const traffic::GroupFamily& family : traffic.families) {
    if (family.axis != traffic::Axis::kPipeline) continue;
    for (std::size_t g = 0; g < family.groups(); ++g) {
      const auto group = family.group(g);
      for (std::size_t k = 0; k < group.size(); ++k) {
        const WorkerIndex w = traffic::WorkerOf(group[k], traffic.per_worker);
        if (std::binary_search(workers.begin(), workers.end(), w)) stages.insert(k);
      }
    }
  }
  return static_cast<std::uint32_t>(stages.size());
}

// A clause for each domain: "no free node for 1 worker: a rule of topology keeps it in leaf l0".
std::string WhyNot(const Fabric& fabric, const placement::Recreate& no, std::size_t lost,
                   std::size_t workers) {
  if (lost == workers) return "it holds all workers";
  std::string text;
  const std::vector<BlockedGroup> groups = GroupBlocked(no.blocked);
  for (std::size_t g = 0; g < std::min(groups.size(), kMostDomainsNamed); ++g) {
    const BlockedGroup& group = groups[g];
    const auto blocked = static_cast<std::int64_t>(group.workers.size());
    text += (g == 0 ? "no free node for " : ", nor for ") + CountText(blocked, "worker");
    if (group.tier == fabric::kOutside) {
      text += " elsewhere";
      continue;
    }
    text += std::string(": a rule of topology keeps ") + (blocked == 1 ? "it" : "them") + " in " +
            fabric.tiers()[group.tier].name + " " + DomainName(fabric, group.tier, group.domain);
  }
  if (groups.size() > kMostDomainsNamed) text += ", nor for some in other domains";
  return text;
}

BlastRadius RadiusOf(const fabric::Claims& claims, const cluster::Problem& problem,
                     const traffic::WorkerGraph& graph, const ByWorker<NodeIndex>& nodes,
                     Tier tier) {
  objective::Request request = problem.request;
  const Fabric& fabric = claims.fabric();
  const fabric::TierDomains& domains = fabric.domains(tier);
  const DomainIndex lost = Fullest(fabric, tier, nodes);
  placement::Loss loss{nodes, {}};
  for (const WorkerIndex w : nodes.Indices()) {
    if (domains.of_node[nodes[w]] == lost) loss.failed.push_back(w);
  }
  for (const NodeIndex n : Range<NodeIndex>(fabric.node_count())) {
    if (domains.of_node[n] == lost) request.excluded.push_back(n);
  }
  std::sort(request.excluded.begin(), request.excluded.end());
  request.previous_nodes = nodes;
  BlastRadius radius;
  radius.level = fabric.tiers()[tier].name;
  radius.domain = DomainName(fabric, tier, lost);
  radius.workers = static_cast<std::uint32_t>(loss.failed.size());
  radius.stages = StagesOf(problem.traffic, loss.failed);
  const placement::ReplaceAnswer answer =
      ReplaceCarefully(claims, request, problem.avoided, graph, loss);
  const auto* replaced = std::get_if<placement::Replaced>(&answer);
  if (replaced == nullptr) {
    const auto& no = std::get<placement::Recreate>(answer);
    radius.computed = !no.too_many;
    radius.why_not = no.too_many ? TooManyText(loss.failed.size())
                                 : WhyNot(fabric, no, loss.failed.size(), nodes.size());
    return radius;
  }
  radius.survived = true;
  radius.also_move = static_cast<std::uint32_t>(replaced->moved.size() - loss.failed.size());
  std::set<std::string> into;
  for (const WorkerIndex w : replaced->moved) {
    into.insert(DomainName(fabric, tier, domains.of_node[replaced->placement.nodes[w]]));
  }
  radius.into.assign(into.begin(), into.end());
  return radius;
}

}  // namespace

std::vector<BlastRadius> BlastRadii(const fabric::Claims& claims, const cluster::Problem& problem,
                                    const ByWorker<NodeIndex>& nodes) {
  std::vector<BlastRadius> radii;
  const traffic::WorkerGraph graph(problem.traffic);
  for (Tier t{1}; t <= claims.fabric().node_tier(); ++t) {
    radii.push_back(RadiusOf(claims, problem, graph, nodes, t));
  }
  return radii;
}

std::string BlastText(const BlastRadius& radius) {
  std::string text =
      radius.level + " " + radius.domain + ": " + CountText(radius.workers, "worker");
  if (radius.stages > 0) text += ", " + CountText(radius.stages, "pipeline stage");
  if (!radius.computed) return text + "; not computed: " + radius.why_not;
  text += radius.workers == 1 ? "; it could " : "; they could ";
  if (!radius.survived) return text + "not be replaced: " + radius.why_not;
  text += "be replaced with free nodes in " + cluster::NameSome(radius.into);
  if (radius.also_move > 0) {
    text += ", where " + CountText(radius.also_move, "healthy worker") + " would move too";
  }
  return text + ", if only this job needed them";
}

}  // namespace weft::report
