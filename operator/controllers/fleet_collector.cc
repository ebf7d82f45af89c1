#include "operator/controllers/fleet_collector.h"

#include <algorithm>
#include <utility>

#include "operator/cluster/build_cluster.h"
#include "operator/controllers/figures.h"

namespace weft::controllers {
namespace {

// Levels with more domains get no series per domain: Prometheus keeps each series in memory.
constexpr std::uint32_t kMostDomains = 256;
// Younger audits are reused: each places every gang of other schedulers once more.
constexpr double kSecondsBetweenAudits = 5;
// Least pause in multiples of the last duration, so that figures take at most a twentieth of a
// thread's time however often they are scraped.
constexpr double kFiguresPauseTimes = 20;

}  // namespace

FleetCollector::FleetCollector(const watch::Store& store, watch::FabricCache& cache,
                               Options options)
    : store_(store),
      cache_(cache),
      options_(std::move(options)),
      running_(options_.deciding, options_.version) {}

std::shared_ptr<const FleetCollector::Figures> FleetCollector::Collect() {
  std::unique_lock working(working_, std::try_to_lock);
  if (!working) {
    {
      const std::lock_guard lock(mutex_);
      if (figures_) return figures_;
    }
    working.lock();  // the first computation is in progress
  }
  const double time = options_.seconds();
  const bool audit = options_.audit && Due(audited_, kSecondsBetweenAudits, time);
  if (audit || Due(worked_, options_.least_seconds_between, time)) {
    auto figures = Work(audit);
    const std::lock_guard lock(mutex_);
    figures_ = std::move(figures);
  }
  const std::lock_guard lock(mutex_);
  return figures_;
}

bool FleetCollector::Due(const Turn& last, double least, double time) const {
  if (last.of == 0) return true;
  const double pause = std::max(least, kFiguresPauseTimes * last.seconds);
  return changes_.load(std::memory_order_relaxed) != last.of && time - last.at >= pause;
}

std::shared_ptr<const FleetCollector::Figures> FleetCollector::Work(bool audit) {
  const double begin = options_.seconds();
  worked_.of = changes_.load(std::memory_order_relaxed);
  watch::Store::Snapshot snapshot = store_.TakeSnapshot();
  const auto fabrics = cache_.Of(snapshot);
  cluster::OrderAll(snapshot.inputs);
  const cluster::Cluster cluster = cluster::BuildCluster(std::move(snapshot.inputs), *fabrics);
  metrics::Samples samples;
  AddFabrics(cluster, *fabrics, kMostDomains, samples);
  for (const auto& fabric : store_.UnreadableFabrics()) {
    samples.Add(metrics::Id::kFabricValid, {fabric->meta.key.name}, 0);
  }
  AddJobs(cluster, options_.now(), samples);
  if (!running_.AddTo(cluster, kMostDomains, samples)) OnChange();
  auto figures = std::make_shared<Figures>();
  figures->text = samples.Text();
  figures->series = samples.size();
  worked_.Done(begin, options_.seconds());
  figures->seconds = worked_.seconds;
  if (audit) {
    metrics::Samples gangs;
    // An error means that the degrees in a gang's Placement do not divide; the audit is skipped
    // this time.
    if (const auto report = report::Audit(cluster)) AddGangs(cluster, *report, gangs);
    audit_text_ = gangs.Text();
    audited_.of = worked_.of;
    audited_.Done(worked_.at, options_.seconds());
  }
  figures->text += audit_text_;
  return figures;
}

}  // namespace weft::controllers
