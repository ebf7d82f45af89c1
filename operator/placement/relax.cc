#include "operator/placement/relax.h"

#include <algorithm>

#include "operator/placement/place.h"

namespace weft::placement {

using fabric::Tier;
using objective::Request;

namespace {

class Relaxer {
 public:
  Relaxer(const fabric::Claims& claims, const Request& request, const traffic::WorkerGraph& graph,
          const objective::Options& options)
      : claims_(claims), request_(request), graph_(graph), options_(options) {
    options_.limits = objective::LimitsOf(
        objective::Effort::kQuick);  // it matters whether it fits, less what it costs
    options_.bound = false;
  }

  std::vector<Relaxation> Run() {
    Levels("topology.required", request_.required,
           [](Request& r, std::optional<Tier> tier) { r.required = tier; });
    for (std::size_t g = 0; g < request_.groups.size(); ++g) {
      Levels("topology.groups[" + std::to_string(g) + "].required", request_.groups[g].required,
             [g](Request& r, std::optional<Tier> tier) { r.groups[g].required = tier; });
    }
    for (const objective::PoolRelaxation& one : request_.pool_relaxations) {
      Request relaxed = request_;
      relaxed.pool_choices = one.choices;
      if (Try(one.constraint, one.change, relaxed)) break;
    }
    Pod();
    return std::move(found_);
  }

 private:
  // Tries one level wider, then wider ones until the job fits: the smallest change that helps.
  template <typename Set>
  void Levels(const std::string& constraint, std::optional<Tier> from, Set set) {
    if (!from) return;
    const auto name = [&](Tier tier) { return claims_.fabric().tiers()[tier].name; };
    for (Tier to = *from; to-- > Tier{0};) {
      Request relaxed = request_;
      set(relaxed, to == fabric::kOutside ? std::nullopt : std::optional<Tier>(to));
      const std::string change =
          to == fabric::kOutside ? "removed" : name(*from) + " -> " + name(to);
      if (Try(constraint, change, relaxed)) return;
    }
  }

  void Pod() {
    if (!request_.excluded.empty()) {
      Request relaxed = request_;
      relaxed.excluded.clear();
      Try("excluded nodes", "used again", relaxed);
    }
    if (!request_.pod.node_selector.empty()) {
      Request relaxed = request_;
      relaxed.pod.node_selector.clear();
      Try("nodeSelector", "removed", relaxed);
    }
    if (request_.pod.required_affinity) {
      Request relaxed = request_;
      relaxed.pod.required_affinity.reset();
      Try("nodeAffinity", "removed", relaxed);
    }
    Request tolerant = request_;
    tolerant.pod.tolerations.push_back({.key = "", .op = "Exists", .value = "", .effect = ""});
    Try("tolerations", "all taints tolerated", tolerant);
  }

  bool Try(const std::string& constraint, const std::string& change, const Request& relaxed) {
    const std::optional<Plan> plan = Solve(claims_, relaxed, graph_, options_);
    if (!plan) return false;
    found_.push_back({constraint, change, plan->cost, plan->preferences, plan->nodes});
    return true;
  }

  const fabric::Claims& claims_;
  const Request& request_;
  const traffic::WorkerGraph& graph_;
  objective::Options options_;
  std::vector<Relaxation> found_;
};

}  // namespace

std::vector<Relaxation> FindRelaxations(const fabric::Claims& claims, const Request& request,
                                        const traffic::WorkerGraph& graph,
                                        const objective::Options& options) {
  return Relaxer(claims, request, graph, options).Run();
}

}  // namespace weft::placement
