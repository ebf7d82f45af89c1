#include "operator/metrics/samples.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <utility>

#include "operator/base/check.h"

namespace weft::metrics {

void Samples::Add(Id metric, Labels labels, double value) {
  WEFT_CHECK(labels.size() == Of(metric).label_count());
  samples_[metric].push_back({std::move(labels), value});
  ++size_;
}

std::string Samples::Text() const {
  std::vector<prometheus::MetricFamily> families;
  for (const auto& [id, samples] : samples_) {
    const Metric& metric = Of(id);
    const bool counter = metric.type == Type::kCounter;
    prometheus::MetricFamily family{
        std::string(metric.name),
        std::string(metric.help),
        counter ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge,
        {}};
    family.metric.reserve(samples.size());
    for (const Sample& sample : samples) {
      prometheus::ClientMetric& one = family.metric.emplace_back();
      one.label.reserve(sample.labels.size());
      for (std::size_t i = 0; i < sample.labels.size(); ++i) {
        one.label.push_back({std::string(metric.labels[i]), sample.labels[i]});
      }
      (counter ? one.counter.value : one.gauge.value) = sample.value;
    }
    families.push_back(std::move(family));
  }
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace weft::metrics
