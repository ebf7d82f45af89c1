#include "operator/simulate/run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <queue>
#include <set>
#include <span>
#include <utility>

#include "operator/predict/contention.h"
#include "operator/simulate/pace.h"
#include "operator/simulate/virtual_time.h"

namespace weft::simulate {
namespace {

constexpr Micros kNever = std::numeric_limits<Micros>::max();
constexpr std::uint64_t kEventsBetweenProgress = 4096;

// A job's expected end; void once its speed has changed.
struct End {
  Micros time = 0;
  JobIndex job = 0;
  std::uint32_t version = 0;

  friend bool operator>(const End& a, const End& b) {
    return std::pair(a.time, a.job) > std::pair(b.time, b.job);
  }
};

class Simulation {
 public:
  Simulation(const Scenario& scenario, const RunOptions& options)
      : scenario_(scenario),
        options_(options),
        dispatcher_(scenario, options.rules),
        paces_(*scenario.on),
        contention_(paces_.uplinks()),
        meter_(*scenario.on, options.prices),
        faults_(*scenario.on->fabric, options.faults, options.rules.seed),
        jobs_on_(options.faults.any() ? scenario.on->fabric->node_count() : 0),
        running_(scenario.jobs.size()) {
    outcome_.jobs.resize(scenario.jobs.size());
    outcome_.level_bytes.assign(scenario.on->fabric->tiers().size(), 0);
    for (const Shape& shape : scenario.shapes) {
      best_alone_.push_back(paces_.Of(shape, shape.best).alone);
    }
    block_tier_ = BlockTier(*scenario.on->fabric);
  }

  Outcome Run() {
    for (Micros time = NextTime(); time != kNever; time = NextTime()) {
      AdvanceTo(time);
      TakeEvents();
      StartJobs();
      Reschedule();
      Report();
    }
    outcome_.unfinished = dispatcher_.queue().size();
    outcome_.series = recorder_.Take();
    const Micros first = scenario_.jobs.empty() ? 0 : scenario_.jobs.front().arrival;
    outcome_.bill = meter_.Total(ToSeconds(std::max<Micros>(0, last_end_ - first)));
    return std::move(outcome_);
  }

 private:
  struct Running {
    double left = 0;               // microseconds of work, at a speed of 1
    double began = 0;              // `left` when this attempt began
    Micros attempt = 0;            // when this attempt began
    Micros since = 0;              // when `left` was true
    fabric::ByTier<double> rates;  // by tier: bytes that leave its domains in a second of work
    double speed = 1;
    std::uint32_t version = 0;
    std::uint32_t member = 0;
    bool shares = false;  // uses uplinks
  };

  void Tell(EventKind kind, JobIndex job, std::span<const fabric::NodeIndex> nodes = {}) const {
    if (options_.observe) options_.observe({now_, kind, job, {nodes.begin(), nodes.end()}});
  }

  Micros NextTime() {
    while (!ends_.empty() && ends_.top().version != running_[ends_.top().job].version) ends_.pop();
    Micros next = ends_.empty() ? kNever : ends_.top().time;
    if (arrived_ < scenario_.jobs.size()) {
      next = std::min(next, scenario_.jobs[arrived_].arrival);
    }
    // Whether a job has waited long only matters while something else may start.
    while (patient_ < waits_.size() && !dispatcher_.waits(waits_[patient_].second)) ++patient_;
    if (patient_ < waits_.size() && next != kNever) {
      next = std::min(next, waits_[patient_].first);
    }
    // A fault matters while there are jobs, and the return of a node while one waits.
    if (next != kNever) next = std::min(next, faults_.next_fault().value_or(kNever));
    if (next != kNever || dispatcher_.queue().size() > 0) {
      next = std::min(next, faults_.next_return().value_or(kNever));
    }
    return next;
  }

  void AdvanceTo(Micros time) {
    const Moment state{used_gpus_, static_cast<double>(dispatcher_.queue().size()),
                       static_cast<double>(dispatcher_.queue().gpus())};
    recorder_.Advance(time, state, [&](Series::Point& point) {
      point.free_blocks = FreeBlocks(dispatcher_.claims(), block_tier_);
      point.stranded_share = StrandedShare(dispatcher_.claims());
      point.link_load = LinkLoad();
    });
    now_ = time;
  }

  fabric::ByTier<double> LinkLoad() const {
    const fabric::Tier node = scenario_.on->fabric->node_tier();
    fabric::ByTier<double> load(node, 0);
    for (fabric::Tier tier{1}; tier < node; ++tier) {
      const predict::Uplinks& uplinks = paces_.uplinks();
      for (std::uint32_t l = uplinks.first(tier); l < uplinks.first(tier + 1); ++l) {
        load[tier] = std::max(load[tier], contention_.Load(l));
      }
    }
    return load;
  }

  void TakeEvents() {
    while (!ends_.empty() && ends_.top().time == now_) {
      const End end = ends_.top();
      ends_.pop();
      if (end.version == running_[end.job].version) Finish(end.job);
    }
    while (const auto fault = faults_.Take(now_)) TakeFault(*fault);
    for (; arrived_ < scenario_.jobs.size() && scenario_.jobs[arrived_].arrival == now_;
         ++arrived_) {
      Arrive(static_cast<JobIndex>(arrived_));
      outcome_.arriving_gpu_seconds = recorder_.gpu_seconds();
    }
    for (; patient_ < waits_.size() && waits_[patient_].first <= now_; ++patient_) {
      const JobIndex job = waits_[patient_].second;
      if (dispatcher_.waits(job)) dispatcher_.SetPatient(job, now_);
    }
  }

  void Arrive(JobIndex job) {
    ++outcome_.events;
    if (!dispatcher_.EverFits(scenario_.jobs[job].shape)) {
      outcome_.never_fit.push_back(scenario_.jobs[job].name);
      return;
    }
    Tell(EventKind::kArrive, job);
    dispatcher_.Arrive(job);
    waits_.emplace_back(now_ + options_.rules.reserve_seconds * kSecond, job);
  }

  void TakeFault(const Fault& fault) {
    ++outcome_.events;
    const bool returns = fault.kind == FaultKind::kReturn;
    const bool cordon = fault.kind == FaultKind::kCordon;
    Tell(returns  ? EventKind::kReturn
         : cordon ? EventKind::kCordon
                  : EventKind::kLose,
         0, {&fault.node, 1});
    if (returns) return dispatcher_.OpenNode(fault.node);
    dispatcher_.CloseNode(fault.node);
    if (cordon) return;
    ++outcome_.failures;
    const std::set<JobIndex> ended = jobs_on_[fault.node];
    for (const JobIndex job : ended) Restart(job);
  }

  // The job loses what it has done since its last checkpoint and joins the queue at its old place.
  void Restart(JobIndex index) {
    ++outcome_.restarts;
    Tell(EventKind::kRestart, index);
    Running& one = running_[index];
    Settle(one);
    const Job& job = scenario_.jobs[index];
    const double whole = static_cast<double>(job.run) * outcome_.jobs[index].placement_slowdown;
    const double done = ToSeconds(static_cast<Micros>(std::max(0.0, whole - one.left)));
    const auto& nodes = dispatcher_.nodes(index);
    const double lost = LostSeconds(done, static_cast<double>(nodes.size()), options_.faults) +
                        options_.faults.restarts.restart_seconds;
    const double gpus = scenario_.shapes[job.shape].gpus;
    outcome_.lost_gpu_seconds += lost * gpus;
    // What is left, on the job's best nodes: the next attempt may have other ones.
    left_[index] =
        (one.left + static_cast<double>(ToMicros(lost))) / outcome_.jobs[index].placement_slowdown;
    ByWorker<fabric::NodeIndex> previous = nodes;
    Stop(index);
    dispatcher_.Arrive(index, std::move(previous));
    waits_.emplace_back(now_ + options_.rules.reserve_seconds * kSecond, index);
  }

  void Finish(JobIndex job) {
    ++outcome_.events;
    ++finished_;
    Tell(EventKind::kEnd, job);
    JobRecord& record = outcome_.jobs[job];
    record.end = last_end_ = now_;
    const Running& one = running_[job];
    if (one.began > 0 && one.shares) {
      record.contention_slowdown =
          std::max(1.0, static_cast<double>(now_ - one.attempt) / one.began);
    }
    Stop(job);
  }

  // The job gives its nodes back.
  void Stop(JobIndex job) {
    Running& one = running_[job];
    Settle(one);
    AddBytes(one);
    if (one.shares) {
      contention_.Remove(one.member);
      free_members_.push_back(one.member);
    }
    ++one.version;
    if (!jobs_on_.empty()) {
      for (const fabric::NodeIndex node : dispatcher_.nodes(job)) jobs_on_[node].erase(job);
    }
    const Shape& shape = scenario_.shapes[scenario_.jobs[job].shape];
    used_gpus_ -= shape.gpus;
    meter_.Add(dispatcher_.nodes(job), shape.workload.accelerator->per_worker,
               ToSeconds(now_ - one.attempt));
    dispatcher_.Release(job, now_);
  }

  void StartJobs() {
    for (const JobIndex job : dispatcher_.Pass(now_)) {
      Tell(EventKind::kStart, job, dispatcher_.nodes(job));
      Start(job);
    }
  }

  void Start(JobIndex index) {
    const Job& job = scenario_.jobs[index];
    const Shape& shape = scenario_.shapes[job.shape];
    const predict::Pace pace = paces_.Of(shape, dispatcher_.nodes(index));
    JobRecord& record = outcome_.jobs[index];
    if (record.start < 0) record.start = now_;
    const double best = best_alone_[job.shape];
    if (best > 0 && pace.alone > 0) record.placement_slowdown = pace.alone / best;
    used_gpus_ += shape.gpus;
    Running& one = running_[index];
    const auto again = left_.find(index);
    one.left = (again == left_.end() ? static_cast<double>(job.run) : again->second) *
               record.placement_slowdown;
    one.since = now_;
    one.speed = 1;
    if (!jobs_on_.empty()) {
      for (const fabric::NodeIndex node : dispatcher_.nodes(index)) jobs_on_[node].insert(index);
    }
    one.shares = options_.contention && !pace.uses.empty();
    if (one.shares) Join(index, pace);
    one.began = one.left;
    one.attempt = now_;
    one.rates = pace.level_bytes;
    for (double& rate : one.rates) rate /= pace.alone;
    Schedule(index);
  }

  void Join(JobIndex index, const predict::Pace& pace) {
    Running& one = running_[index];
    if (free_members_.empty()) {
      one.member = static_cast<std::uint32_t>(members_.size());
      members_.push_back(index);
    } else {
      one.member = free_members_.back();
      free_members_.pop_back();
      members_[one.member] = index;
    }
    contention_.Add(one.member, pace);
  }

  // Adds the bytes of the steps that this attempt has made.
  void AddBytes(Running& one) {
    const double seconds = (one.began - one.left) / static_cast<double>(kSecond);
    for (fabric::Tier tier : one.rates.Indices()) {
      outcome_.level_bytes[tier] += one.rates[tier] * seconds;
    }
    one.rates = {};
  }

  void Schedule(JobIndex job) {
    Running& one = running_[job];
    ++one.version;
    const auto left = static_cast<Micros>(std::ceil(one.left / one.speed));
    ends_.push({now_ + left, job, one.version});
  }

  // Takes off what the job has done at its present speed.
  void Settle(Running& one) const {
    one.left = std::max(0.0, one.left - static_cast<double>(now_ - one.since) * one.speed);
    one.since = now_;
  }

  void Reschedule() {
    for (const predict::Contention::Member member : contention_.Update()) {
      const JobIndex job = members_[member];
      Running& one = running_[job];
      Settle(one);
      one.speed = contention_.speed(member);
      outcome_.contended = outcome_.contended || one.speed < 1;
      Schedule(job);
    }
  }

  void Report() {
    if (!options_.progress || outcome_.events < next_report_) return;
    next_report_ = outcome_.events + kEventsBetweenProgress;
    options_.progress(finished_, scenario_.jobs.size());
  }

  const Scenario& scenario_;
  const RunOptions& options_;
  Dispatcher dispatcher_;
  const Paces paces_;
  predict::Contention contention_;
  Meter meter_;
  Faults faults_;
  fabric::ByNode<std::set<JobIndex>> jobs_on_;  // empty without faults
  std::map<JobIndex, double> left_;             // microseconds of work of jobs that have failed
  Recorder recorder_;
  Outcome outcome_;
  std::vector<double> best_alone_;  // by shape
  fabric::Tier block_tier_ = fabric::kOutside;
  Micros now_ = 0, last_end_ = 0;
  std::size_t arrived_ = 0, finished_ = 0, patient_ = 0;
  std::uint64_t next_report_ = kEventsBetweenProgress;
  double used_gpus_ = 0;
  std::vector<Running> running_;  // by job
  std::vector<JobIndex> members_;
  std::vector<std::uint32_t> free_members_;
  std::vector<std::pair<Micros, JobIndex>> waits_;  // when a job has waited long, by time
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

}  // namespace

std::string_view EventName(EventKind kind) {
  constexpr std::string_view kNames[] = {"arrive", "start",  "end",   "restart",
                                         "lose",   "cordon", "return"};
  return kNames[static_cast<std::size_t>(kind)];
}

Outcome Run(const Scenario& scenario, const RunOptions& options) {
  return Simulation(scenario, options).Run();
}

}  // namespace weft::simulate
