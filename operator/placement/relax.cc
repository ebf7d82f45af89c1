#include "operator/placement/relax.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "operator/placement/level_labels.h"
#include "operator/placement/place.h"
#include "operator/rules/node_rules.h"
#include "operator/rules/selector.h"
#include "operator/rules/tolerations.h"

namespace weft::placement {

using fabric::NodeIndex;
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
    std::set<std::string_view> helped;
    for (const objective::PoolRelaxation& one : request_.pool_relaxations) {
      if (helped.contains(one.constraint)) continue;
      Request relaxed = request_;
      relaxed.pool_choices = one.choices;
      if (Try(one.constraint, one.change, relaxed)) helped.insert(one.constraint);
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
      RequireLevelLabels(claims_.fabric(), relaxed);
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
    if (!request_.pod.terms->spread.empty()) {
      Request relaxed = request_;
      fabric::PodTerms terms = *request_.pod.terms;
      terms.spread.clear();
      relaxed.pod.terms = std::move(terms);
      Try("topologySpreadConstraints", "removed", relaxed);
    }
    Taints();
  }

  // Who waits for a taint that passes by itself need not tolerate it.
  void Taints() {
    const fabric::Fabric& fabric = claims_.fabric();
    std::set<std::string_view> staying;
    bool some_pass = false;
    for (const NodeIndex n : fabric.taint_classes()) {
      for (const fabric::Taint& taint : fabric.node(n).taints) {
        if (rules::FirstUntolerated({&taint, 1}, request_.pod.tolerations) == nullptr) continue;
        const bool passes = rules::PassesByItself(taint.key);
        if (!passes) staying.insert(taint.key);
        some_pass = some_pass || passes;
      }
    }
    if (staying.empty()) return;
    Request tolerant = request_;
    for (const std::string_view key : staying) {
      tolerant.pod.tolerations.push_back(
          {.key = std::string(key), .op = "Exists", .value = "", .effect = ""});
    }
    Try("tolerations",
        some_pass ? "all taints tolerated but those that pass by themselves"
                  : "all taints tolerated",
        tolerant);
  }

  bool Try(const std::string& constraint, const std::string& change, const Request& relaxed) {
    const std::optional<Plan> plan = Solve(claims_, relaxed, graph_, options_);
    if (!plan) return false;
    const std::string other = OtherProducts(plan->nodes);
    found_.push_back({constraint, other.empty() ? change : change + ", to run " + other, plan->cost,
                      plan->preferences, plan->nodes});
    return true;
  }

  const std::string& ProductOf(NodeIndex n) const {
    const fabric::Fabric& fabric = claims_.fabric();
    return fabric.pools()[fabric.pool(n)].product;
  }

  // The products that the job may run on without a relaxation, whether nodes are free or not.
  std::set<std::string_view> OwnProducts() const {
    const fabric::Fabric& fabric = claims_.fabric();
    const auto& choices = request_.pool_choices;
    const auto may_use = [&](fabric::PoolIndex pool) {
      return !choices || std::any_of(choices->begin(), choices->end(), [&](const auto& choice) {
        return std::binary_search(choice.pools.begin(), choice.pools.end(), pool);
      });
    };
    std::set<std::string_view> products;
    for (const NodeIndex n : Range<NodeIndex>(fabric.node_count())) {
      const auto& affinity = request_.pod.required_affinity;
      const bool passes = !rules::MissingSelector(request_.pod, fabric.node(n)) &&
                          (!affinity || rules::MatchesAffinity(*affinity, fabric.node(n)));
      if (passes && may_use(fabric.pool(n))) products.insert(ProductOf(n));
    }
    return products;
  }

  // "on NVIDIA-H100-80GB-HBM3" if the job would run on this product only because a rule was relaxed
  // (who reads "nodeSelector: removed" may not think of that), "too" if not all workers do.
  std::string OtherProducts(const ByWorker<NodeIndex>& nodes) const {
    const std::set<std::string_view> own = OwnProducts();
    std::set<std::string_view> other;
    bool all = true;
    for (const NodeIndex n : nodes) {
      const bool is_other = !ProductOf(n).empty() && !own.contains(ProductOf(n));
      if (is_other) other.insert(ProductOf(n));
      all = all && is_other;
    }
    std::string text;
    for (const std::string_view product : other) {
      text += text.empty() ? "on " : " and ";
      text += product;
    }
    return text.empty() || all ? text : text + " too";
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
