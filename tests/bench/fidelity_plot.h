#pragma once

#include <string>
#include <vector>

#include "tests/bench/fidelity_rows.h"

namespace weft::fidelity {

struct Point {
  double measured = 0, predicted = 0;
  bool fitted = false;
};
struct Panel {
  std::string title;
  std::vector<Point> points;
};

// Predicted against measured seconds, one panel a table, both axes logarithmic; filled points were
// fitted, the line is where both are equal, the band is 10 % on either side.
std::string Svg(const std::vector<Panel>& panels);

}  // namespace weft::fidelity
