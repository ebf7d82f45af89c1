#include "operator/render/chart_svg.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "operator/render/map_input.h"
#include "operator/render/table.h"

namespace weft::render {
namespace {

// The drawing's own units; the page scales them.
constexpr double kWidth = 420, kHeight = 210;
constexpr double kLeft = 54, kRight = 12, kTop = 10, kBottom = 24;
constexpr double kPlotWidth = kWidth - kLeft - kRight, kPlotHeight = kHeight - kTop - kBottom;
constexpr int kYTicks = 4, kXTicks = 6;

std::string Number(double value, int digits = 1) {
  char text[48];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

// The least of 1, 2, 2.5 and 5 times a power of ten that is at least `value`.
double NiceStep(double value) {
  if (value <= 0) return 1;
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double step : {1.0, 2.0, 2.5, 5.0}) {
    if (step * power >= value * (1 - 1e-9)) return step * power;
  }
  return 10 * power;
}

struct TimeUnit {
  double seconds;
  const char* name;
};

TimeUnit UnitFor(double most) {
  constexpr TimeUnit kUnits[] = {{86'400, "d"}, {3'600, "h"}, {60, "min"}};
  for (const TimeUnit& unit : kUnits) {
    if (most >= 2 * unit.seconds) return unit;
  }
  return {1, "s"};
}

// An axis from 0: its step and end in the values' own unit.
struct Axis {
  double step = 1, most = 1, unit = 1;
  const char* suffix = "";

  std::string Text(double value) const {
    const double shown = value / unit;
    const double shown_step = step / unit;
    const int digits = shown_step >= 1 ? (std::fmod(shown_step, 1) > 1e-9 ? 1 : 0)
                                       : static_cast<int>(std::ceil(-std::log10(shown_step)));
    const std::string number = digits == 0 ? Grouped(std::llround(shown)) : Number(shown, digits);
    return number + suffix;
  }
};

Axis AxisFor(double most, Scale scale, int ticks) {
  Axis axis;
  if (scale == Scale::kPercent) {
    axis.unit = 0.01;
    axis.suffix = " %";
  } else if (scale == Scale::kSeconds) {
    const TimeUnit unit = UnitFor(most);
    axis.unit = unit.seconds;
    axis.suffix = unit.seconds == 1       ? " s"
                  : unit.seconds == 60    ? " min"
                  : unit.seconds == 3'600 ? " h"
                                          : " d";
  }
  double step = NiceStep(most / axis.unit / ticks);
  if (scale == Scale::kCount) step = std::max(1.0, std::ceil(step));
  axis.step = step * axis.unit;
  axis.most = std::max(1.0, std::ceil(most / axis.step - 1e-9)) * axis.step;
  return axis;
}

double YOf(double value, const Axis& axis) {
  return kTop + kPlotHeight * (1 - std::clamp(value / axis.most, 0.0, 1.0));
}

std::string Open() {
  return "<svg class=\"chart\" viewBox=\"0 0 " + Number(kWidth, 0) + " " + Number(kHeight, 0) +
         "\" role=\"img\">\n";
}

std::string Text(double x, double y, const char* anchor, const std::string& text) {
  return "<text x=\"" + Number(x) + "\" y=\"" + Number(y) + "\" text-anchor=\"" + anchor + "\">" +
         EscapeXml(text) + "</text>\n";
}

std::string YGrid(const Axis& axis) {
  std::string out;
  for (double value = 0; value <= axis.most * (1 + 1e-9); value += axis.step) {
    const std::string y = Number(YOf(value, axis));
    out += "<line x1=\"" + Number(kLeft) + "\" x2=\"" + Number(kWidth - kRight) + "\" y1=\"" + y +
           "\" y2=\"" + y + "\"/>\n";
    out += Text(kLeft - 6, YOf(value, axis) + 4, "end", axis.Text(value));
  }
  return out;
}

std::string ColourOf(unsigned colour) {
  return "var(--weft-series-" + std::to_string(colour % kSeriesColourCount) + ")";
}

}  // namespace

const char* const kSeriesColours =
    R"(:root{--weft-series-0:#0072b2;--weft-series-1:#d55e00;--weft-series-2:#009e73;
--weft-series-3:#b4518a;--weft-series-4:#8a6d00;--weft-series-5:#2f9fd0;--weft-series-6:#5d6873;
--weft-series-7:#7a4fbf}
@media (prefers-color-scheme:dark){:root{--weft-series-0:#4aa8e8;--weft-series-1:#f08a3c;
--weft-series-2:#2fc79b;--weft-series-3:#dd8fbd;--weft-series-4:#d9c04a;--weft-series-5:#8fd3f4;
--weft-series-6:#9aa5b1;--weft-series-7:#b39cf0}}
.chart{display:block;width:100%;height:auto}.chart line{stroke:var(--weft-groove)}
.chart text{font:11px system-ui,sans-serif;fill:var(--weft-dim)}
.chart path{fill:none;stroke-width:1.8;stroke-linejoin:round}
)";

std::string LineChartSvg(const LineChart& chart) {
  double most = chart.y_most;
  if (most == 0) {
    for (const ChartSeries& series : chart.series) {
      for (const auto& [x, y] : series.points) most = std::max(most, y);
    }
  }
  const Axis y_axis = AxisFor(most, chart.y, kYTicks);
  const double x_most = std::max(chart.x_most, 1.0);
  const Axis x_axis = AxisFor(x_most, Scale::kSeconds, kXTicks);
  std::string out = Open() + YGrid(y_axis);
  for (double value = 0; value <= x_most; value += x_axis.step) {
    out += Text(kLeft + kPlotWidth * value / x_most, kHeight - 8, "middle", x_axis.Text(value));
  }
  for (const ChartSeries& series : chart.series) {
    std::string path;
    double last = kLeft;
    for (const auto& [x, y] : series.points) {
      last = kLeft + kPlotWidth * std::min(x / x_most, 1.0);
      path += (path.empty() ? "M" : "L") + Number(last) + " " + Number(YOf(y, y_axis));
    }
    if (path.empty()) continue;
    const std::string style =
        chart.filled ? "fill:" + ColourOf(series.colour) + ";fill-opacity:.3;stroke:none"
                     : "stroke:" + ColourOf(series.colour);
    const std::string base = Number(kTop + kPlotHeight);
    if (chart.filled)
      path += "L" + Number(last) + " " + base + "L" + Number(kLeft) + " " + base + "Z";
    out += "<path d=\"" + path + "\" style=\"" + style + "\"><title>" + EscapeXml(series.name) +
           "</title></path>\n";
  }
  return out + "</svg>\n";
}

std::string BarChartSvg(const BarChart& chart) {
  double most = 0;
  for (const BarChart::Bar& bar : chart.bars) {
    for (const double value : bar.values) most = std::max(most, value);
  }
  const Axis axis = AxisFor(most, chart.y, kYTicks);
  std::string out = Open() + YGrid(axis);
  const double group =
      kPlotWidth / static_cast<double>(std::max<std::size_t>(1, chart.groups.size()));
  const double width =
      group * 0.8 / static_cast<double>(std::max<std::size_t>(1, chart.bars.size()));
  for (std::size_t g = 0; g < chart.groups.size(); ++g) {
    const double left = kLeft + group * (static_cast<double>(g) + 0.1);
    out += Text(left + group * 0.4, kHeight - 8, "middle", chart.groups[g]);
    for (std::size_t b = 0; b < chart.bars.size(); ++b) {
      const BarChart::Bar& bar = chart.bars[b];
      if (g >= bar.values.size()) continue;
      const double top = YOf(bar.values[g], axis);
      out += "<rect x=\"" + Number(left + width * static_cast<double>(b)) + "\" y=\"" +
             Number(top) + "\" width=\"" + Number(std::max(1.0, width - 1)) + "\" height=\"" +
             Number(kTop + kPlotHeight - top) + "\" style=\"fill:" + ColourOf(bar.colour) +
             "\"><title>" +
             EscapeXml(bar.name + ", " + chart.groups[g] + ": " + axis.Text(bar.values[g])) +
             "</title></rect>\n";
    }
  }
  return out + "</svg>\n";
}

}  // namespace weft::render
