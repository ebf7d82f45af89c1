#include "operator/plan/forecast.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "operator/base/check.h"
#include "operator/cluster/problem.h"
#include "operator/placement/fits.h"
#include "operator/plan/outlook.h"
#include "operator/plan/reservation.h"

namespace weft::plan {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

// A workload that waits, and from its start on the nodes that it holds.
struct Waiting {
  std::size_t entry = 0;  // into PlanReport::entries
  cluster::WorkloadView workload;
  cluster::Problem problem;
  traffic::WorkerGraph graph;
  std::int64_t waits_until = 0;  // when it stops waiting for its preferred level; 0: it does not
  std::int64_t accelerators = 0;
  ByWorker<fabric::NodeIndex> nodes;
};

// The queue of one fabric.
class Forecast {
 public:
  Forecast(const cluster::Cluster& cluster, const PlanReport& report, std::size_t fabric,
           std::int64_t reserve_after_seconds)
      : report_(report),
        fabric_(fabric),
        on_(cluster.fabrics[fabric]),
        reserve_after_(reserve_after_seconds),
        claims_(on_.claims) {}

  void Run(std::vector<ExpectedStart>& starts) {
    WEFT_CHECK(starts.size() == report_.entries.size());
    Collect(starts);
    for (std::int64_t time = NextTime(); time != kNever && !waiting_.empty(); time = NextTime()) {
      now_ = time;
      TakeEnds();
      Pass(starts);
    }
  }

 private:
  struct ByTime {
    bool operator()(const Ending& a, const Ending& b) const {
      return std::tie(a.seconds, a.name) < std::tie(b.seconds, b.name);
    }
  };

  void Collect(std::vector<ExpectedStart>& starts) {
    for (const cluster::Holder& holder : on_.holders) {
      if (!holder.expected_seconds) continue;
      ends_.insert(
          {.seconds = *holder.expected_seconds, .name = api::Show(holder.key), .holder = &holder});
    }
    for (const std::size_t e : report_.decided) {
      const PlanEntry& entry = report_.entries[e];
      if (entry.fabric != fabric_) continue;
      if (const Placed* placed = entry.placed()) {
        starts[e].within_seconds = 0;
        cluster::AddClaims(entry.workload, placed->plan.nodes, claims_);
        AddEnd(entry.workload, placed->plan.nodes);
      } else if (entry.refused()->why && entry.refused()->why->ever) {
        AddWaiting(e);
      }
    }
    CountFree();
  }

  void CountFree() {
    free_ = 0;
    for (const fabric::NodeIndex n : Range<fabric::NodeIndex>(on_.fabric->node_count())) {
      free_ += claims_.free_accelerators(n);
    }
  }

  void AddWaiting(std::size_t e) {
    const PlanEntry& entry = report_.entries[e];
    auto problem = cluster::MakeProblem(on_, entry.workload);
    if (!problem) return;  // the plan has refused it
    traffic::WorkerGraph graph(problem->traffic);
    auto one = std::make_unique<Waiting>(
        Waiting{.entry = e,
                .workload = entry.workload,
                .problem = *std::move(problem),
                .graph = std::move(graph),
                .waits_until = entry.refused()->ends_in_seconds.value_or(0),
                .accelerators =
                    std::int64_t{entry.workload.workers} * entry.workload.accelerator->per_worker,
                .nodes = {}});
    if (one->waits_until > 0) wait_ends_.insert(one->waits_until);
    waiting_.push_back(std::move(one));
  }

  void AddEnd(const cluster::WorkloadView& workload, const ByWorker<fabric::NodeIndex>& nodes) {
    if (!workload.expected_seconds) return;
    ends_.insert({.seconds = now_ + *workload.expected_seconds,
                  .name = api::Show(workload.key()),
                  .workload = &workload,
                  .nodes = &nodes});
  }

  std::int64_t NextTime() const {
    const std::int64_t end = ends_.empty() ? kNever : ends_.begin()->seconds;
    return wait_ends_.empty() ? end : std::min(end, *wait_ends_.begin());
  }

  void TakeEnds() {
    for (; !ends_.empty() && ends_.begin()->seconds <= now_; ends_.erase(ends_.begin())) {
      const Ending& end = *ends_.begin();
      GiveBack(end, claims_);
      after_ = end.name;
    }
    wait_ends_.erase(wait_ends_.begin(), wait_ends_.upper_bound(now_));
    CountFree();
  }

  void Pass(std::vector<ExpectedStart>& starts) {
    std::optional<Reservation> kept;
    std::optional<fabric::Claims> less;  // the claims with the reserved nodes
    std::erase_if(waiting_, [&](std::unique_ptr<Waiting>& one) {
      EndWait(*one);
      const bool free = !kept || kept->LeavesRoomFor(one->workload);
      WEFT_CHECK(kept.has_value() == less.has_value());  // reserved nodes are claimed
      if (Place(*one, free ? claims_ : *less)) {
        starts[one->entry] = {now_, after_};
        if (less) cluster::AddClaims(one->workload, one->nodes, *less);
        started_.push_back(std::move(one));
        return true;
      }
      const std::int64_t since =
          one->workload.wait.waited_seconds.value_or(0) + now_ - reserve_after_;
      if (kept || since < 0) return false;
      kept = ReserveFor(*one);
      if (kept && !kept->within_seconds && TurnLeft(since) == 0) kept.reset();
      if (!kept) return false;
      less = claims_;
      cluster::AddClaims(one->workload, kept->nodes, *less);
      return false;
    });
  }

  // From the end of its wait on, the workload settles for a wider level than the preferred one.
  void EndWait(Waiting& one) const {
    if (one.waits_until == 0 || one.waits_until > now_) return;
    one.waits_until = 0;
    one.workload.wait.waited_seconds = one.workload.topology->wait_for_preferred_seconds;
    if (auto problem = cluster::MakeProblem(on_, one.workload)) one.problem = *std::move(problem);
  }

  bool Place(Waiting& one, const fabric::Claims& claims) {
    const objective::Request& request = one.problem.request;
    if (one.accelerators > free_ || !placement::Fits(claims, request, one.graph)) return false;
    auto plan = placement::Solve(claims, request, one.graph, ReservationOptions(false));
    if (!plan) return false;
    one.nodes = std::move(plan->nodes);
    cluster::AddClaims(one.workload, one.nodes, claims_);
    WEFT_CHECK(one.accelerators <= free_);  // compared above
    free_ -= one.accelerators;
    AddEnd(one.workload, one.nodes);
    return true;
  }

  std::optional<Reservation> ReserveFor(const Waiting& one) const {
    std::vector<Ending> endings(ends_.begin(), ends_.end());
    for (Ending& ending : endings) ending.seconds -= now_;
    const FitTime fit_time = WhenItFits(claims_, one.problem.request, one.graph, endings);
    return Reserve(claims_, one.workload, one.problem, one.graph, fit_time, endings);
  }

  const PlanReport& report_;
  const std::size_t fabric_;
  const cluster::ClusterFabric& on_;
  const std::int64_t reserve_after_;
  fabric::Claims claims_;
  std::int64_t free_ = 0;  // accelerators
  std::int64_t now_ = 0;   // seconds from the plan
  std::string after_;      // the last workload that has ended
  std::multiset<Ending, ByTime> ends_;
  std::multiset<std::int64_t> wait_ends_;
  std::vector<std::unique_ptr<Waiting>> waiting_;  // in the order of the plan
  std::vector<std::unique_ptr<Waiting>> started_;  // ends_ points to them
};

}  // namespace

std::vector<ExpectedStart> ForecastStarts(const cluster::Cluster& cluster, const PlanReport& report,
                                          std::int64_t reserve_after_seconds) {
  std::vector<ExpectedStart> starts(report.entries.size());
  for (std::size_t f = 0; f < cluster.fabrics.size(); ++f) {
    Forecast(cluster, report, f, reserve_after_seconds).Run(starts);
  }
  return starts;
}

}  // namespace weft::plan
