#pragma once

#include <string>
#include <utility>
#include <vector>

namespace weft::render {

// Charts as SVG that scales with the page. Their colours are the page's custom properties
// (page_style.h) and --weft-series-0 to --weft-series-7 (kSeriesColours).

// How the numbers of an axis read.
enum class Scale : unsigned char {
  kCount,    // 1,200
  kPercent,  // of 1
  kSeconds,  // with the unit that suits the largest
};

struct ChartSeries {
  std::string name;  // for who points at it
  unsigned colour = 0;
  std::vector<std::pair<double, double>> points;  // x ascending
};

struct LineChart {
  Scale y = Scale::kCount;
  double x_most = 0, y_most = 0;  // ends of the axes; y_most 0: that of the largest value
  bool filled = false;            // see-through areas down to the axis: one in another is darker
  std::vector<ChartSeries> series;
};
// x is a time in seconds from the beginning.
std::string LineChartSvg(const LineChart& chart);

struct BarChart {
  Scale y = Scale::kSeconds;
  std::vector<std::string> groups;  // along x
  struct Bar {
    std::string name;
    unsigned colour = 0;
    std::vector<double> values;  // by group
  };
  std::vector<Bar> bars;  // side by side in each group
};
std::string BarChartSvg(const BarChart& chart);

inline constexpr unsigned kSeriesColourCount = 8;
// Rules that define the colours of series, light and dark.
// Source  Okabe and Ito, "Color Universal Design", 2008: colours that colour-blind people can tell
//         apart; lighter or darker where they would not stand out from the page.
extern const char* const kSeriesColours;

}  // namespace weft::render
