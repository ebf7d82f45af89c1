#pragma once

#include <map>
#include <string>

namespace weft {

// One sample of Prometheus' instant vectors: the labels of its series, and its value.
struct Sample {
  std::map<std::string, std::string> labels;
  double value = 0;
};

}  // namespace weft
