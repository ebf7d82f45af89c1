#include "operator/report/lose.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "operator/base/near_word.h"
#include "operator/cluster/problem.h"
#include "operator/cluster/running.h"
#include "operator/cluster/text.h"
#include "operator/objective/scores.h"
#include "operator/placement/refuse.h"
#include "operator/placement/replace.h"
#include "operator/plan/refusal.h"
#include "operator/report/blocked_text.h"
#include "operator/report/explain_held.h"
#include "operator/traffic/worker_graph.h"

namespace weft::report {
namespace {

using OrderedJson = nlohmann::ordered_json;

using cluster::Cluster;
using cluster::ClusterFabric;
using cluster::Running;
using fabric::NodeIndex;
using placement::Loss;

// "workers 0, 3 and 5", "worker 2".
std::string WorkersText(const std::vector<WorkerIndex>& workers) {
  std::string text = workers.size() == 1 ? "worker " : "workers ";
  constexpr std::size_t kMostNamed = 5;
  for (std::size_t i = 0; i < std::min(workers.size(), kMostNamed); ++i) {
    const bool last = i + 1 == workers.size();
    text += (i == 0 ? "" : last ? " and " : ", ") + std::to_string(workers[i].Raw());
  }
  if (workers.size() > kMostNamed) {
    text += " and " + std::to_string(workers.size() - kMostNamed) + " more";
  }
  return text;
}

// The lost nodes by fabric.
using LostNodes = std::vector<std::vector<NodeIndex>>;

class Loser {
 public:
  Loser(const Cluster& cluster, const LostNodes& lost) : cluster_(cluster), lost_(lost) {
    for (const ClusterFabric& on : cluster.fabrics) claims_.push_back(on.claims);
  }

  // The workers on lost nodes; empty if the job keeps all.
  std::vector<WorkerIndex> FailedOf(const Running& running) const {
    const std::vector<NodeIndex>& lost = lost_[running.fabric];
    std::vector<WorkerIndex> failed;
    for (const WorkerIndex w : running.nodes.Indices()) {
      if (std::binary_search(lost.begin(), lost.end(), running.nodes[w])) failed.push_back(w);
    }
    return failed;
  }

  // A job of which nothing can be computed. It keeps its claims.
  JobLoss Unanswered(const Running& running, const Error& error) const {
    JobLoss out;
    out.job = api::Show(running.workload.key());
    out.workers = running.workload.workers;
    out.lost = static_cast<std::uint32_t>(FailedOf(running).size());
    out.outcome = LossOutcome::kInvalid;
    out.message = error.message;
    return out;
  }

  Result<JobLoss> Answer(const Running& running) {
    const ClusterFabric& on = cluster_.fabrics[running.fabric];
    cluster::WorkloadView workload = running.workload;
    workload.wait.waited_seconds.reset();  // it has its nodes, so its wait has ended
    Result<cluster::Problem> problem = cluster::MakeProblem(on, workload);
    if (!problem) return problem.error();
    objective::Request& request = problem->request;
    request.previous_nodes = running.nodes;
    const std::vector<NodeIndex>& lost = lost_[running.fabric];
    request.excluded.insert(request.excluded.end(), lost.begin(), lost.end());
    std::sort(request.excluded.begin(), request.excluded.end());
    fabric::Claims& claims = claims_[running.fabric];
    RemoveHeld(on, running.workload, claims);
    const traffic::WorkerGraph graph(problem->traffic);
    const Loss loss{running.nodes, FailedOf(running)};
    JobLoss out;
    out.job = api::Show(running.workload.key());
    out.workers = running.workload.workers;
    out.lost = static_cast<std::uint32_t>(loss.failed.size());
    const objective::PairCost pair_cost(*on.fabric, request.pod.claims_compute_domain);
    out.cost_before = objective::Cost(pair_cost, graph, running.nodes);
    out.spans_before = Spans(pair_cost, problem->traffic, running.nodes);
    const placement::ReplaceAnswer answer =
        ReplaceCarefully(claims, request, problem->avoided, graph, loss);
    std::optional<objective::Candidate> after;
    if (const auto* replaced = std::get_if<placement::Replaced>(&answer)) {
      after = replaced->placement;
      Describe(*on.fabric, loss, *replaced, out);
    } else {
      const auto& no = std::get<placement::Recreate>(answer);
      out.why_not_replaced = WhyNot(*on.fabric, no, out);
      after = Anew(on, running, claims, *problem, graph, out);
      if (after && no.too_many) out.outcome = LossOutcome::kNotComputed;
    }
    if (after) {
      out.cost_after = after->cost;
      out.spans_after = Spans(pair_cost, problem->traffic, after->nodes);
      cluster::AddClaims(running.workload, after->nodes.Items(), claims);
    }
    return out;
  }

 private:
  static std::string Spans(const objective::PairCost& pair_cost, const traffic::Traffic& traffic,
                           const ByWorker<NodeIndex>& nodes) {
    return cluster::SpansText(objective::Score(pair_cost, traffic, nodes));
  }

  static void Describe(const fabric::Fabric& fabric, const Loss& loss,
                       const placement::Replaced& replaced, JobLoss& out) {
    out.groups_moved = replaced.groups_moved;
    for (const WorkerIndex w : replaced.moved) {
      const bool failed = std::binary_search(loss.failed.begin(), loss.failed.end(), w);
      out.moves.push_back({w.Raw(), fabric.node(loss.nodes[w]).name,
                           fabric.node(replaced.placement.nodes[w]).name, !failed});
    }
  }

  static std::string WhyNot(const fabric::Fabric& fabric, const placement::Recreate& no,
                            const JobLoss& out) {
    if (out.lost == out.workers) return "All its workers are on lost nodes.";
    if (no.too_many) return "Not computed: " + TooManyText(out.lost) + ".";
    std::string text;
    const std::vector<BlockedGroup> groups = GroupBlocked(no.blocked);
    for (std::size_t g = 0; g < std::min(groups.size(), kMostDomainsNamed); ++g) {
      const BlockedGroup& group = groups[g];
      text += (g == 0 ? "No free node for " : "; nor for ") + WorkersText(group.workers);
      if (group.tier == fabric::kOutside) continue;
      text += " in " + fabric.tiers()[group.tier].name + " " +
              DomainName(fabric, group.tier, group.domain) +
              ", where the job's rules of topology keep " +
              (group.workers.size() == 1 ? "it" : "them") + " with the workers that stay";
    }
    if (groups.size() > kMostDomainsNamed) text += "; nor for some workers in other domains";
    return text + ".";
  }

  // The whole gang on other nodes and its own healthy ones.
  static std::optional<objective::Candidate> Anew(const ClusterFabric& on, const Running& running,
                                                  const fabric::Claims& claims,
                                                  const cluster::Problem& problem,
                                                  const traffic::WorkerGraph& graph, JobLoss& out) {
    out.outcome = LossOutcome::kRecreated;
    if (const auto plan = placement::Solve(claims, problem.request, graph)) {
      if (problem.avoided.empty()) return plan->candidate();
      const objective::Request careful = WithoutAvoided(problem.request, problem.avoided);
      const auto others = placement::Solve(claims, careful, graph);
      const bool as_good = others && others->preferences <= plan->preferences;
      return as_good ? others->candidate() : plan->candidate();
    }
    out.outcome = LossOutcome::kRefused;
    const placement::Unplaceable why = placement::Refuse(claims, problem.request, graph);
    out.reason = placement::ReasonName(why.reason);
    out.message = plan::RefusalText(on, running.workload, why, {});
    return std::nullopt;
  }

  const Cluster& cluster_;
  const LostNodes& lost_;
  std::vector<fabric::Claims> claims_;  // by fabric
};

// The nodes by fabric, ascending; an error for one that no fabric has.
Result<LostNodes> FindLost(const Cluster& cluster, const std::vector<std::string>& nodes) {
  LostNodes lost(cluster.fabrics.size());
  for (const std::string& name : nodes) {
    bool found = false;
    for (std::size_t f = 0; f < cluster.fabrics.size(); ++f) {
      const auto node = cluster.fabrics[f].fabric->FindNode(name);
      if (node) lost[f].push_back(*node);
      found = found || node.has_value();
    }
    if (found) continue;
    std::set<std::string> known;
    for (const ClusterFabric& on : cluster.fabrics) {
      for (const NodeIndex n : Range<NodeIndex>(on.fabric->node_count())) {
        known.insert(on.fabric->node(n).name);
      }
    }
    const std::string near(NearWord(name, known));
    return Invalid("--lose: no Fabric has a node \"" + name + "\"" +
                   (near.empty() ? "" : "; did you mean \"" + near + "\"?"));
  }
  for (std::vector<NodeIndex>& each : lost) std::sort(each.begin(), each.end());
  return lost;
}

// What holds a lost node but is not among the running jobs.
std::vector<OtherHolder> OthersOn(const Cluster& cluster, const LostNodes& lost,
                                  const std::vector<Running>& running) {
  std::set<std::pair<std::string_view, api::ObjectKey>> known;
  for (const Running& one : running) known.insert({one.workload.kind(), one.workload.key()});
  std::vector<OtherHolder> others;
  for (std::size_t f = 0; f < cluster.fabrics.size(); ++f) {
    for (const cluster::Holder& holder : cluster.fabrics[f].holders) {
      if (known.contains({holder.kind, holder.key})) continue;
      const bool loses = std::any_of(
          holder.holdings.begin(), holder.holdings.end(), [&](const cluster::Holding& holding) {
            return std::binary_search(lost[f].begin(), lost[f].end(), holding.node);
          });
      if (loses) others.push_back({holder.kind, api::Show(holder.key)});
    }
  }
  return others;
}

bool Selected(const Running& running, const std::vector<std::string>& names,
              std::set<std::string>& found) {
  if (names.empty()) return true;
  bool selected = false;
  for (const std::string& name : names) {
    if (name != api::Show(running.workload.key()) && name != running.workload.key().name) continue;
    found.insert(name);
    selected = true;
  }
  return selected;
}

}  // namespace

std::string_view OutcomeName(LossOutcome outcome) {
  switch (outcome) {
    case LossOutcome::kReplaced:
      return "Replaced";
    case LossOutcome::kRecreated:
      return "Recreated";
    case LossOutcome::kRefused:
      return "Refused";
    case LossOutcome::kNotComputed:
      return "NotComputed";
    case LossOutcome::kInvalid:
      return "Invalid";
  }
  return "";
}

bool LoseReport::AllGoOn() const {
  return std::all_of(jobs.begin(), jobs.end(),
                     [](const JobLoss& job) { return job.cost_after.has_value(); });
}

void LoseReport::KeepSpace(const std::string& space) {
  if (space.empty()) return;
  const auto outside = [&](const std::string& name) { return !name.starts_with(space + "/"); };
  left_out += static_cast<std::uint32_t>(
      std::erase_if(jobs, [&](const JobLoss& job) { return outside(job.job); }) +
      std::erase_if(others, [&](const OtherHolder& other) { return outside(other.name); }));
  std::erase_if(spared, outside);
}

Result<LoseReport> Lose(const Cluster& cluster, const std::vector<std::string>& nodes,
                        const std::vector<std::string>& names, cluster::Mark mark) {
  LoseReport report;
  for (const std::string& name : nodes) {
    const bool known = std::find(report.lost.begin(), report.lost.end(), name) != report.lost.end();
    if (!known) report.lost.push_back(name);
  }
  const Result<LostNodes> lost = FindLost(cluster, report.lost);
  if (!lost) return lost.error();
  Result<std::vector<Running>> running = cluster::RunningWorkloads(cluster);
  if (!running) return running.error();
  std::stable_sort(running->begin(), running->end(), [](const Running& a, const Running& b) {
    return cluster::DecidedBefore(a.workload, b.workload);
  });
  Loser loser(cluster, *lost);
  std::set<std::string> found;
  for (const Running& one : *running) {
    // A job that is not asked for takes nodes all the same.
    const bool selected = Selected(one, names, found);
    if (loser.FailedOf(one).empty()) {
      if (selected) report.spared.push_back(api::Show(one.workload.key()));
      continue;
    }
    Result<JobLoss> answer = loser.Answer(one);
    if (!answer && mark == cluster::Mark::kNo) return answer.error();
    if (!selected) {
      ++report.left_out;
    } else {
      report.jobs.push_back(answer ? *std::move(answer) : loser.Unanswered(one, answer.error()));
    }
  }
  for (const std::string& name : names) {
    if (found.contains(name)) continue;
    return Invalid("\"" + name + "\": no running TrainingJob or Placement has this name");
  }
  std::vector<OtherHolder> others = OthersOn(cluster, *lost, *running);
  if (!names.empty()) report.left_out += static_cast<std::uint32_t>(others.size());
  if (names.empty()) report.others = std::move(others);
  return report;
}

OrderedJson LoseJson(const LoseReport& report) {
  constexpr Int128 kFemtosecondsPerMicrosecond = 1'000'000'000;
  const auto microseconds = [](Int128 cost) {
    return static_cast<std::int64_t>(cost / kFemtosecondsPerMicrosecond);
  };
  OrderedJson replacements = OrderedJson::array(), recreated = OrderedJson::array(),
              refused = OrderedJson::array();
  OrderedJson jobs = OrderedJson::array();
  for (const JobLoss& job : report.jobs) {
    for (const JobLoss::Move& move : job.moves) {
      replacements.push_back({{"job", job.job},
                              {"worker", move.worker},
                              {"from", move.from},
                              {"to", move.to},
                              {"healthy", move.healthy}});
    }
    if (job.outcome == LossOutcome::kRecreated) recreated.push_back(job.job);
    if (job.outcome == LossOutcome::kRefused) {
      refused.push_back({{"job", job.job}, {"reason", job.reason}, {"message", job.message}});
    }
    OrderedJson one = {{"job", job.job},
                       {"workers", job.workers},
                       {"lostWorkers", job.lost},
                       {"outcome", OutcomeName(job.outcome)}};
    if (job.outcome == LossOutcome::kInvalid) {
      one["message"] = job.message;
      jobs.push_back(std::move(one));
      continue;
    }
    if (job.outcome == LossOutcome::kReplaced) one["groupsMoved"] = job.groups_moved;
    one["linkTimeMicrosecondsBefore"] = microseconds(job.cost_before);
    if (job.cost_after) one["linkTimeMicrosecondsAfter"] = microseconds(*job.cost_after);
    one["spansBefore"] = job.spans_before;
    if (job.cost_after) one["spansAfter"] = job.spans_after;
    if (!job.why_not_replaced.empty()) one["whyNotReplaced"] = job.why_not_replaced;
    jobs.push_back(std::move(one));
  }
  OrderedJson others = OrderedJson::array();
  for (const OtherHolder& other : report.others) {
    others.push_back({{"kind", other.kind}, {"name", other.name}});
  }
  return {{"lost", report.lost},
          {"replacements", std::move(replacements)},
          {"recreated", std::move(recreated)},
          {"refused", std::move(refused)},
          {"jobs", std::move(jobs)},
          {"spared", report.spared.size()},
          {"others", std::move(others)},
          {"leftOut", report.left_out}};
}

}  // namespace weft::report
