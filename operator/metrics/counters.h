#pragma once

#include <memory>
#include <string>
#include <vector>

#include "operator/metrics/samples.h"

namespace weft::metrics {

// Counters and histograms of events, passed to the code that measures. Labels must have few values,
// because a series lives as long as the process.
// Thread-safety  all calls may run at once. Cost  well under a microsecond each; Text O(series).
class Counters {
 public:
  Counters();
  ~Counters();
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;

  void Add(Id counter, const Labels& labels = {}, double by = 1);
  void Observe(Id histogram, const Labels& labels, double value);

  // All series in Prometheus' text format 0.0.4. Series without labels exist from the start.
  std::string Text() const;

 private:
  class Families;
  std::unique_ptr<Families> families_;
};

}  // namespace weft::metrics
