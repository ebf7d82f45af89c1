#include "operator/controllers/fleet_collector.h"

#include <algorithm>
#include <utility>

#include "operator/controllers/figures.h"

namespace weft::controllers {

FleetCollector::FleetCollector(const Store& store, FabricCache& cache, Options options)
    : store_(store), cache_(cache), options_(std::move(options)) {}

std::shared_ptr<const FleetCollector::Figures> FleetCollector::Collect() {
  std::unique_lock working(working_, std::try_to_lock);
  if (!working) {
    {
      const std::lock_guard lock(mutex_);
      if (figures_) return figures_;
    }
    working.lock();  // the first ones are on their way
  }
  const double time = options_.seconds();
  if (Due(time)) {
    auto figures = Work(time);
    const std::lock_guard lock(mutex_);
    figures_ = std::move(figures);
  }
  const std::lock_guard lock(mutex_);
  return figures_;
}

bool FleetCollector::Due(double time) const {
  if (!figures_) return true;
  const double pause =
      std::max(options_.least_seconds_between, options_.pause_times * worked_seconds_);
  return changes_.load(std::memory_order_relaxed) != worked_of_ && time - worked_at_ >= pause;
}

std::shared_ptr<const FleetCollector::Figures> FleetCollector::Work(double time) {
  worked_of_ = changes_.load(std::memory_order_relaxed);
  Store::Picture picture = store_.Look();
  const auto fabrics = cache_.Of(picture);
  decide::OrderAll(picture.inputs);
  const decide::Cluster cluster = decide::BuildCluster(std::move(picture.inputs), *fabrics);
  metrics::Samples samples;
  AddFabrics(cluster, *fabrics, options_.most_domains, samples);
  AddJobs(cluster, options_.now(), samples);
  if (!running_.AddTo(cluster, options_.most_domains, samples)) OnChange();
  auto figures = std::make_shared<Figures>();
  figures->text = samples.Text();
  figures->series = samples.size();
  worked_at_ = options_.seconds();
  worked_seconds_ = figures->seconds = worked_at_ - time;
  const bool audit_due =
      !audited_at_ || worked_at_ - *audited_at_ >= options_.audit_seconds_between;
  if (options_.audit && audit_due) {
    metrics::Samples gangs;
    // An error is a Placement beside a gang that does not divide: the others are judged next time.
    if (const auto report = decide::Audit(cluster)) AddGangs(cluster, *report, gangs);
    audit_text_ = gangs.Text();
    audited_at_ = options_.seconds();
  }
  figures->text += audit_text_;
  return figures;
}

}  // namespace weft::controllers
