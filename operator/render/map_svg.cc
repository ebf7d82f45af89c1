#include "operator/render/map_svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "operator/base/utf8.h"
#include "operator/render/domain_count.h"
#include "operator/render/map_layout.h"
#include "operator/render/map_usage.h"
#include "operator/render/table.h"
#include "operator/render/text_format.h"

namespace weft::render {

using fabric::DomainIndex;
using fabric::Tier;

namespace {

constexpr int kLegendLine = 20;
constexpr int kLeastWidth = 640;
constexpr int kLeastFill = 2;  // pixels, so that a few GPUs of a large domain are visible
constexpr std::size_t kMostLabel = 20, kMostLegend = 160;  // characters
// Approximately the most pixels of a character, for the font sizes in the style below.
constexpr double kNameCharacter = 6.8, kCountCharacter = 5.6, kLegendCharacter = 6.3;

// Okabe and Ito ("Color Universal Design", 2008) without black, then wine, olive, indigo, brown and
// a pale teal after Tol ("Colour schemes", 2021), lightened if they would be too dark for a dark
// page.
constexpr std::array<const char*, 12> kColours = {"#0072b2", "#e69f00", "#009e73", "#cc79a7",
                                                  "#d55e00", "#56b4e9", "#f0e442", "#882255",
                                                  "#999933", "#6a5acd", "#8c5a2b", "#7fd1c7"};
constexpr int kEdges = 4;            // colours of a domain's edge, by the load of its uplink
constexpr std::size_t kStrokes = 3;  // patterns for colours that are used again

constexpr std::string_view kSvgStyle =
    "<style>.b{fill:var(--weft-box,#fff);stroke:var(--weft-line,#c3c9d1)}"
    ".t{fill:var(--weft-ink,#1d2733);font-size:11px;font-weight:600}"
    ".l{fill:var(--weft-ink,#1d2733);font-size:12px}"
    ".s{fill:var(--weft-dim,#5d6873);font-size:10px}"
    ".r{fill:var(--weft-bad,#b3261e);font-size:12px}"
    ".f{fill:var(--weft-free,#fff);stroke:var(--weft-line,#c3c9d1)}"
    ".g{fill:var(--weft-groove,#e8ebef)}.u{fill:var(--weft-used,#a4acb6)}"
    ".x{fill:var(--weft-off,#f3c9c4);stroke:var(--weft-bad,#b3261e)}"
    ".w{fill:var(--weft-bar,#4a5561)}"
    ".e1{stroke:#d9b64a;stroke-width:1.5}.e2{stroke:#e8912d;stroke-width:2}"
    ".e3{stroke:#dc5a1f;stroke-width:2.5}.e4{stroke:#b3261e;stroke-width:3}</style>\n";

std::string Rect(int x, int y, int width, int height) {
  return "<rect x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\" width=\"" +
         std::to_string(width) + "\" height=\"" + std::to_string(height) + "\" ";
}

std::string MapText(int x, int y, const std::string& attributes, const std::string& text) {
  return "<text x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\" " + attributes +
         ">" + EscapeXml(text) + "</text>";
}

int Pixels(const std::string& text, double character) {
  return static_cast<int>(static_cast<double>(CodePoints(text)) * character);
}

std::string Clip(const std::string& text, std::size_t most) {
  if (CodePoints(text) <= most) return text;
  std::size_t at = 0;
  for (std::size_t seen = 0; at < text.size(); ++at) {
    if (StartsCharacter(text[at]) && ++seen == most) break;
  }
  return text.substr(0, at) + "\u2026";
}

std::string JobArea(std::size_t job, const MapBox& area) {
  const std::string rect = Rect(area.x, area.y, area.width, area.height) + "rx=\"2\" ";
  std::string out =
      "<g data-job=\"" + std::to_string(job) + "\">" + rect + "fill=\"" + JobColour(job) + "\"/>";
  const std::size_t strokes = job / kColours.size() % (kStrokes + 1);
  if (strokes > 0) out += rect + "fill=\"url(#weft-stroke-" + std::to_string(strokes) + ")\"/>";
  return out + "</g>";
}

class Picture {
 public:
  explicit Picture(const MapInput& map) : map_(map), fabric_(*map.fabric), usage_(map) {
    cell_tier_ = MapCellTier(fabric_, {kMostNodeCells, kMostDomainCells});
    for (Tier t{1}; t < cell_tier_; ++t) {
      for (const MapFlow& flow : map.leaving[t]) {
        most_ = std::max(most_, flow.bytes);
        longest_ = std::max(longest_, flow.milliseconds);
      }
    }
  }

  std::string Show(Legend legend) {
    const std::vector<MapBox> boxes = LayOutMap(
        fabric_, cell_tier_, [this](Tier tier, DomainIndex d) { return LabelWidth(tier, d); });
    const MapBox& whole = boxes.front();
    int width = std::max(whole.x + whole.width + kMapPad, kLeastWidth);
    int height = whole.y + whole.height + kMapPad;
    std::string body;
    for (const MapBox& box : boxes) body += box.cell ? Cell(box) : Frame(box);
    if (legend == Legend::kDrawn) {
      body += ShowLegend(height + kLegendLine);
      width = std::max(width, legend_width_);
      height += kLegendLine * (legend_lines_ + 1);
    }
    const std::string size =
        "width=\"" + std::to_string(width) + "\" height=\"" + std::to_string(height) + "\"";
    std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" " + size +
                      " viewBox=\"0 0 " + std::to_string(width) + " " + std::to_string(height) +
                      "\" font-family=\"system-ui,sans-serif\">\n";
    svg += "<title>" + EscapeXml("Fabric " + map_.title) + "</title>\n";
    svg += kSvgStyle;
    svg += MapPatterns();
    svg += Rect(0, 0, width, height) + "fill=\"var(--weft-page,#f4f6f8)\"/>\n";
    return svg + body + "</svg>\n";
  }

 private:
  std::string Name(Tier tier, DomainIndex domain) const {
    if (tier == fabric::kOutside) return map_.title;
    return tier == fabric_.node_tier() ? fabric_.node(AsNode(domain)).name
                                       : fabric_.domains(tier).names[domain];
  }

  // The name without its parent's, whose frame contains the domain.
  std::string Label(Tier tier, DomainIndex domain) const {
    std::string name = Name(tier, domain);
    if (tier > Tier{1}) {
      const std::string parent = Name(tier - 1, Parent(tier, domain)) + "/";
      if (name.size() > parent.size() && name.starts_with(parent)) name.erase(0, parent.size());
    }
    return Clip(name, kMostLabel);
  }

  DomainIndex Parent(Tier tier, DomainIndex domain) const {
    return fabric_.domains(tier - 1).of_node[fabric_.domains(tier).begin[domain]];
  }

  // The domains that contain a domain: "spine-1 / leaf-3".
  std::string Path(Tier tier, DomainIndex domain) const {
    const fabric::NodeIndex node = fabric_.domains(tier).begin[domain];
    std::string path;
    for (Tier t{1}; t < tier; ++t) {
      path += (path.empty() ? "" : " / ") + Label(t, fabric_.domains(t).of_node[node]);
    }
    return path;
  }

  static std::string FreeText(const DomainUsage& usage) {
    return Grouped(usage.free) + " / " + Grouped(usage.total) + " free";
  }

  int LabelWidth(Tier tier, DomainIndex domain) const {
    // The number of free GPUs has at most as many digits as the total.
    const std::string total = Grouped(fabric_.AcceleratorsIn(tier, domain));
    return kMapPad + Pixels(Label(tier, domain), kNameCharacter) + 2 * kMapPad +
           Pixels(total + " / " + total + " free", kCountCharacter);
  }

  std::string FlowText(Tier tier, DomainIndex domain) const {
    const MapFlow& flow = map_.leaving[tier][domain];
    return BytesText(flow.bytes) + " leave per step, " + MillisecondsText(flow.milliseconds);
  }

  std::string Frame(const MapBox& box) const {
    const int left = box.x + kMapPad, right = box.x + box.width - kMapPad;
    std::string out =
        Rect(box.x, box.y, box.width, box.height) + "rx=\"6\" class=\"b" + Edge(box) + "\"/>\n<g>";
    out += MapText(left, box.y + 15, "class=\"t\"", Label(box.tier, box.domain));
    out += MapText(right, box.y + 15, "class=\"s\" text-anchor=\"end\"",
                   FreeText(usage_.In(box.tier, box.domain)));
    std::string title = Name(box.tier, box.domain);
    for (Tier t = box.tier; t < SameFrame(fabric_, box.tier, cell_tier_); ++t) {
      title += ", " + fabric_.tiers()[t + 1].name + " " + Name(t + 1, box.domain);
    }
    if (box.tier != fabric::kOutside && most_ > 0) {
      const MapFlow& flow = map_.leaving[box.tier][box.domain];
      const double share = static_cast<double>(flow.bytes) / static_cast<double>(most_);
      const int bar = static_cast<int>(std::lround(share * (right - left)));
      out += Rect(left, box.y + 20, right - left, 4) + "class=\"g\"/>";
      if (flow.bytes > 0) out += Rect(left, box.y + 20, std::max(bar, 1), 4) + "class=\"w\"/>";
      title += ": " + FlowText(box.tier, box.domain);
    }
    const std::string trouble = Trouble(box);
    const std::string more = trouble.empty() ? "" : "\n" + EscapeXml(trouble);
    return out + "<title>" + EscapeXml(title) + more + "</title></g>\n";
  }

  // The class of a frame's edge: the longer its uplink needs for a step, the warmer.
  std::string Edge(const MapBox& box) const {
    if (box.tier == fabric::kOutside || longest_ <= 0) return "";
    const double share = map_.leaving[box.tier][box.domain].milliseconds / longest_;
    const int edge = static_cast<int>(std::ceil(share * kEdges));
    return edge == 0 ? "" : " e" + std::to_string(std::min(edge, kEdges));
  }

  // What is wrong with the node or with nodes of the domain; "" if nothing.
  std::string Trouble(const MapBox& box) const {
    if (box.tier != fabric_.node_tier()) {
      return OffText(CountIn(*map_.claims, box.tier, box.domain));
    }
    if (!fabric_.usable(AsNode(box.domain)))
      return "unusable: " + fabric_.unusable_why(AsNode(box.domain));
    return fabric_.node(AsNode(box.domain)).unschedulable ? "cordoned" : "";
  }

  // Whether any node of the box takes pods.
  bool TakesPods(const MapBox& box) const {
    const DomainCount count = CountIn(*map_.claims, box.tier, box.domain);
    return count.unusable + count.cordoned < count.nodes;
  }

  // A cell, from the bottom: earlier pods, the plan's jobs, the free rest.
  std::string Cell(const MapBox& box) const {
    const DomainUsage usage = usage_.In(box.tier, box.domain);
    std::string out = "<g>" + Rect(box.x, box.y, box.width, box.height) + "rx=\"2\" class=\"" +
                      (TakesPods(box) ? "f" : "x") + "\"/>";
    MapBox strip = box;
    double below = 0;  // GPUs under the strip's upper edge
    strip.y += box.height;
    const auto stack = [&](std::int64_t gpus) {
      below += static_cast<double>(gpus);
      const double share = std::min(1.0, below / std::max(1.0, static_cast<double>(usage.total)));
      const int bottom = strip.y;
      strip.y = box.y + box.height - static_cast<int>(std::lround(share * box.height));
      strip.y = std::max(box.y, std::min(strip.y, bottom - kLeastFill));
      strip.height = bottom - strip.y;
      return gpus > 0 && strip.height > 0;
    };
    if (stack(usage.earlier)) {
      out += Rect(strip.x, strip.y, strip.width, strip.height) + "rx=\"2\" class=\"u\"/>";
    }
    for (const auto& [job, gpus] : usage.planned) {
      if (stack(gpus)) out += JobArea(job, strip);
    }
    return out + "<title>" + CellTitle(box, usage) + "</title></g>\n";
  }

  // The escaped tooltip: a line each for the name, the enclosing domains, the jobs, the free GPUs.
  std::string CellTitle(const MapBox& box, const DomainUsage& usage) const {
    std::vector<std::string> lines = {Name(box.tier, box.domain)};
    const bool is_node = box.tier == fabric_.node_tier();
    if (box.tier > Tier{1}) lines.push_back(Path(box.tier, box.domain));
    if (!is_node) {
      const auto& begin = fabric_.domains(box.tier).begin;
      lines.push_back(Counted(begin[box.domain + 1] - begin[box.domain], "node"));
    }
    if (map_.leaving[box.tier][box.domain].bytes > 0) {
      lines.push_back(FlowText(box.tier, box.domain));
    }
    for (const auto& [job, gpus] : usage.planned) {
      const auto workers = usage_.Workers(box.tier, box.domain, job);
      lines.push_back(map_.jobs[job].name + ": worker" + (workers.size() == 1 ? " " : "s ") +
                      WorkerRanges(workers) + " (" + Counted(gpus, "GPU") + ")");
      for (const std::string* more : {&map_.jobs[job].why, &map_.jobs[job].predicted}) {
        if (!more->empty()) lines.push_back("  " + *more);
      }
    }
    lines.push_back(FreeText(usage) + ", " + Grouped(usage.earlier) + " held by earlier pods");
    const std::string trouble = Trouble(box);
    if (!trouble.empty()) lines.push_back(trouble);
    std::string text;
    for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + EscapeXml(line);
    return text;
  }

  // Adds a line to the legend and returns the position of its text.
  int NextLine(int first, const std::string& text) {
    const int left = 2 * kMapPad + kMapSwatch;
    legend_width_ =
        std::max(legend_width_, left + Pixels(Clip(text, kMostLegend), kLegendCharacter) + kMapPad);
    return first + kLegendLine * legend_lines_++;
  }

  std::string ShowLegend(int first) {
    const int left = 2 * kMapPad + kMapSwatch;
    std::string out;
    const auto line = [&](const std::string& paint, const std::string& kind,
                          const std::string& text) {
      const int y = NextLine(first, text);
      if (!paint.empty()) {
        out += Rect(kMapPad, y - 11, kMapSwatch, kMapSwatch) + "rx=\"2\" " + paint + "/>";
      }
      out += MapText(left, y, "class=\"" + kind + "\"", Clip(text, kMostLegend)) + "\n";
    };
    for (std::size_t job = 0; job < map_.jobs.size(); ++job) {
      const MapJob& each = map_.jobs[job];
      const int y = first + kLegendLine * legend_lines_;
      out += JobSwatch(job, kMapPad, y - 11, kMapSwatch);
      std::string text = each.name + ": " +
                         Counted(static_cast<std::int64_t>(each.nodes.size()), "worker") + " on " +
                         each.spans;
      if (each.cross_node != "-") text += "; " + each.cross_node + " between nodes per step";
      line("", "l", text);
    }
    for (const MapUnplaced& job : map_.unplaced) {
      line("", "r", job.name + ": not placed, " + job.refusal.reason);
    }
    line("class=\"u\"", "l", "GPUs held by earlier pods");
    line("class=\"x\"", "l", "node unusable or cordoned");
    if (most_ > 0) {
      line("class=\"w\"", "l",
           "bar: bytes that leave the domain per step; the longest is " + BytesText(most_) +
               ". The edge is the warmer, the longer they take; at most " +
               MillisecondsText(longest_));
    }
    return out;
  }

  const MapInput& map_;
  const fabric::Fabric& fabric_;
  MapUsage usage_;
  Tier cell_tier_{1};
  Int128 most_ = 0;     // leaving any frame
  double longest_ = 0;  // milliseconds that its uplink needs for them
  int legend_lines_ = 0, legend_width_ = 0;
};

}  // namespace

std::string JobColour(std::size_t index) { return kColours[index % kColours.size()]; }

std::string JobSwatch(std::size_t job, int x, int y, int side) {
  return JobArea(job, {.x = x, .y = y, .width = side, .height = side});
}

std::string MapPatterns() {
  // Strokes in one direction, in the other, and in both.
  constexpr std::array<const char*, kStrokes> kPaths = {
      "M-1 1L1-1M0 6L6 0M5 7L7 5", "M-1 5L1 7M0 0L6 6M5-1L7 1",
      "M-1 1L1-1M0 6L6 0M5 7L7 5M-1 5L1 7M0 0L6 6M5-1L7 1"};
  std::string out = "<defs>";
  for (std::size_t p = 0; p < kPaths.size(); ++p) {
    out += "<pattern id=\"weft-stroke-" + std::to_string(p + 1) +
           "\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><path d=\"" + kPaths[p] +
           "\" stroke=\"#fff\" stroke-width=\"1.6\"/></pattern>";
  }
  return out + "</defs>\n";
}

std::string MapSvg(const MapInput& map, Legend legend) { return Picture(map).Show(legend); }

}  // namespace weft::render
