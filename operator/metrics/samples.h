#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "operator/metrics/catalogue.h"

namespace weft::metrics {

// The values of a metric's labels, in the catalogue's order.
using Labels = std::vector<std::string>;

// The values of gauges at one moment. The next set has no values of objects deleted meanwhile.
class Samples {
 public:
  void Add(Id metric, Labels labels, double value);
  std::size_t size() const { return size_; }
  // In Prometheus' text format 0.0.4, in the catalogue's order.
  // Cost  O(size).
  std::string Text() const;

 private:
  struct Sample {
    Labels labels;
    double value = 0;
  };
  std::map<Id, std::vector<Sample>> samples_;
  std::size_t size_ = 0;
};

}  // namespace weft::metrics
