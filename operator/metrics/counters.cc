#include "operator/metrics/counters.h"

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "operator/base/check.h"

namespace weft::metrics {
namespace {

std::map<std::string, std::string> Named(const Metric& metric, const Labels& labels) {
  WEFT_CHECK(labels.size() == metric.label_count());
  std::map<std::string, std::string> named;
  for (std::size_t i = 0; i < labels.size(); ++i) named.emplace(metric.labels[i], labels[i]);
  return named;
}

}  // namespace

// A family is registered with its first series, so events that do not happen here are not shown.
class Counters::Families {
 public:
  prometheus::Counter& Counter(Id id, const Labels& labels) {
    const Metric& metric = Of(id);
    WEFT_CHECK(metric.type == Type::kCounter);
    return Find(counters_, id, [&] { return prometheus::BuildCounter(); })
        .Add(Named(metric, labels));
  }

  prometheus::Histogram& Histogram(Id id, const Labels& labels) {
    const Metric& metric = Of(id);
    WEFT_CHECK(metric.type == Type::kHistogram);
    const auto bounds = BucketsOf(id);
    return Find(histograms_, id, [&] { return prometheus::BuildHistogram(); })
        .Add(Named(metric, labels),
             prometheus::Histogram::BucketBoundaries(bounds.begin(), bounds.end()));
  }

  const prometheus::Registry& registry() const { return registry_; }

 private:
  template <typename Family, typename Build>
  Family& Find(std::map<Id, Family*>& families, Id id, const Build& build) {
    const std::lock_guard lock(mutex_);
    Family*& family = families[id];
    if (family == nullptr) {
      const Metric& metric = Of(id);
      family = &build()
                    .Name(std::string(metric.name))
                    .Help(std::string(metric.help))
                    .Register(registry_);
    }
    return *family;
  }

  std::mutex mutex_;
  prometheus::Registry registry_;
  std::map<Id, prometheus::Family<prometheus::Counter>*> counters_;
  std::map<Id, prometheus::Family<prometheus::Histogram>*> histograms_;
};

// Series that exist from the start, so that rate() sees the first event as an increase.
const std::pair<Id, Labels> kFromTheStart[] = {
    {Id::kBindRefusals, {"BindRefused"}},      {Id::kBindRefusals, {"CreateRefused"}},
    {Id::kReconcileFailures, {"trainingjob"}}, {Id::kReconcileFailures, {"placement"}},
    {Id::kReconcileFailures, {"planner"}},     {Id::kPlacements, {"Placed", "Placed"}},
    {Id::kJobAttempts, {"Submitted"}},
};

Counters::Counters() : families_(std::make_unique<Families>()) {
  for (const Metric& metric : Catalogue()) {
    if (metric.label_count() > 0 || metric.origin != Origin::kEvents) continue;
    if (metric.type == Type::kHistogram) families_->Histogram(metric.id, {});
    if (metric.type == Type::kCounter) families_->Counter(metric.id, {});
  }
  for (const auto& [id, labels] : kFromTheStart) families_->Counter(id, labels);
}
Counters::~Counters() = default;

void Counters::Add(Id counter, const Labels& labels, double by) {
  families_->Counter(counter, labels).Increment(by);
}

void Counters::Observe(Id histogram, const Labels& labels, double value) {
  families_->Histogram(histogram, labels).Observe(value);
}

std::string Counters::Text() const {
  return prometheus::TextSerializer().Serialize(families_->registry().Collect());
}

}  // namespace weft::metrics
