#include "tests/bench/fidelity_plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace weft::fidelity {
namespace {

constexpr double kSide = 260, kGap = 50;  // of a panel, and around it
constexpr std::size_t kAcross = 3;

std::string Text(double x, double y, const std::string& text, const char* anchor) {
  char out[256];
  std::snprintf(out, sizeof(out), "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"%s\">%s</text>\n", x,
                y, anchor, text.c_str());
  return out;
}

// The powers of ten around all points.
std::pair<double, double> Range(const Panel& panel) {
  double low = 1e9, high = 1e-9;
  for (const Point& point : panel.points) {
    low = std::min({low, point.measured, point.predicted});
    high = std::max({high, point.measured, point.predicted});
  }
  return {std::floor(std::log10(low)),
          std::max(std::ceil(std::log10(high)), std::floor(std::log10(low)) + 1)};
}

std::string Frame(double left, double top, const std::pair<double, double>& range) {
  char out[600];
  const double tenth = std::log10(1.1) / (range.second - range.first) * kSide;
  std::snprintf(out, sizeof(out),
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.0f\" height=\"%.0f\" class=\"frame\"/>\n"
                "<polygon class=\"band\" points=\"%.1f,%.1f %.1f,%.1f %.1f,%.1f %.1f,%.1f\"/>\n"
                "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
                left, top, kSide, kSide, left, top + kSide - tenth, left + kSide - tenth, top,
                left + kSide, top + tenth, left + tenth, top + kSide, left, top + kSide,
                left + kSide, top);
  std::string text = out;
  for (double power = range.first; power <= range.second; ++power) {
    const double at = (power - range.first) / (range.second - range.first) * kSide;
    char label[16];
    std::snprintf(label, sizeof(label), "%g", std::pow(10, power));
    text += Text(left + at, top + kSide + 14, label, "middle");
    text += Text(left - 4, top + kSide - at + 4, label, "end");
  }
  text +=
      Text(left + kSide / 2, top + kSide + 28, "seconds: measured across, predicted up", "middle");
  return text;
}

std::string Draw(const Panel& panel, double left, double top) {
  const auto range = Range(panel);
  const auto at = [&](double seconds) {
    return (std::log10(seconds) - range.first) / (range.second - range.first) * kSide;
  };
  std::string text = Text(left, top - 8, panel.title, "start") + Frame(left, top, range);
  for (const Point& point : panel.points) {
    char out[160];
    std::snprintf(out, sizeof(out), "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" class=\"%s\"/>\n",
                  left + at(point.measured), top + kSide - at(point.predicted),
                  point.fitted ? "fitted" : "held");
    text += out;
  }
  return text;
}

}  // namespace

std::string Svg(const std::vector<Panel>& panels) {
  const std::size_t rows = (panels.size() + kAcross - 1) / kAcross;
  const double width = kAcross * (kSide + 2 * kGap);
  const double height = static_cast<double>(rows) * (kSide + 2 * kGap);
  char head[900];
  std::snprintf(
      head, sizeof(head),
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" "
      "height=\"%.0f\">\n<style>text{font:12px sans-serif;fill:#333}"
      ".frame{fill:none;stroke:#999}.band{fill:#8fb8de;fill-opacity:.35}line{stroke:#555}"
      ".fitted{fill:#999;fill-opacity:.6}.held{fill:none;stroke:#c0392b}</style>\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
      width, height, width, height);
  std::string text = head;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const double left = static_cast<double>(i % kAcross) * (kSide + 2 * kGap) + kGap;
    const double top = static_cast<double>(i / kAcross) * (kSide + 2 * kGap) + kGap;
    text += Draw(panels[i], left, top);
  }
  return text + "</svg>\n";
}

}  // namespace weft::fidelity
