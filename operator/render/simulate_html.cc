#include "operator/render/simulate_html.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "operator/render/chart_svg.h"
#include "operator/render/differ.h"
#include "operator/render/map_input.h"
#include "operator/render/map_svg.h"
#include "operator/render/page_card.h"
#include "operator/render/page_style.h"
#include "operator/render/simulate_text.h"
#include "operator/render/table.h"
#include "operator/render/text_format.h"

namespace weft::render {
namespace {

using simulate::Series;
using simulate::Summary;

constexpr const char* kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>A fleet through time</title><link rel="icon" href="data:,"><style>
)";
constexpr const char* kStyle = R"(*{box-sizing:border-box}
body{margin:20px 24px;background:var(--weft-page);color:var(--weft-ink);
font:14px/1.45 system-ui,sans-serif}
h1{font-size:20px;margin:0 0 4px}h2{font-size:15px;margin:0 0 2px}
p{margin:0 0 10px;color:var(--weft-dim);max-width:80em}
.legend{display:flex;flex-wrap:wrap;gap:4px 18px;margin:0 0 12px;padding:0;list-style:none}
.legend li:before,td:first-child:before{content:"";display:inline-block;width:11px;height:11px;
margin-right:7px;border-radius:2px;background:var(--colour)}
table{border-collapse:collapse;background:var(--weft-box);width:100%}
.wide{overflow-x:auto;margin:0 0 16px}
th,td{border:1px solid var(--weft-line);padding:4px 6px;text-align:right;white-space:nowrap;
font-variant-numeric:tabular-nums}
th:first-child,td:first-child{text-align:left}
th{font-weight:600;color:var(--weft-dim);white-space:normal}
main{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(360px,100%),1fr));gap:14px}
section{background:var(--weft-box);border:1px solid var(--weft-line);border-radius:6px;
padding:12px 14px;break-inside:avoid}
section p{font-size:12.5px;margin:0 0 6px}
.map{grid-column:1/-1}.map .wide{margin:0}.map svg{max-width:100%;height:auto}
@media(max-width:700px){body{margin:12px}thead{display:none}table,tbody{display:block}
tr{display:grid;grid-template-columns:1fr 1fr;gap:1px 14px;padding:8px 10px;
border-bottom:1px solid var(--weft-line)}
td{border:0;padding:0;display:flex;justify-content:space-between;gap:10px}
td:first-child{grid-column:1/3;font-weight:600;justify-content:flex-start;align-items:center;gap:0}
td:not(:first-child):before{content:attr(data-title);color:var(--weft-dim);white-space:normal}}
@media(max-width:700px){.map svg{max-width:none}}
@media(max-width:560px){.chart text{font-size:13px}tr{grid-template-columns:1fr}td:first-child{grid-column:1}}
@media print{:root{color-scheme:light;--weft-page:#fff;--weft-box:#fff;--weft-line:#c3c9d1;
--weft-ink:#000;--weft-dim:#444;--weft-groove:#e8ebef}body{margin:0}
main{grid-template-columns:1fr 1fr}}
</style></head><body>
)";

std::string Share(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", share * 100);
  return text;
}

std::string Times(double factor) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", factor);
  return text;
}

// A time's share above another one, as "+3.2 %".
std::string More(double value, double than) {
  if (than <= 0) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%+.1f %%", (value / than - 1) * 100);
  return text;
}

std::string Section(const std::string& title, const std::string& text, const std::string& body) {
  return "<section><h2>" + EscapeXml(title) + "</h2><p>" + EscapeXml(text) + "</p>\n" + body +
         "</section>\n";
}

class Report {
 public:
  Report(const simulate::Scenario& scenario, const std::vector<Summary>& summaries,
         const std::vector<FleetMap>& maps)
      : scenario_(scenario), summaries_(summaries), maps_(maps) {
    for (const Summary& one : summaries) {
      names_.push_back(RunName(one, summaries));
      if (!one.series.points.empty()) {
        seconds_ = std::max(seconds_, one.series.points.back().seconds);
      }
    }
  }

  std::string Page() const {
    std::string page = std::string(kHead) + kPageColours + kSeriesColours + kCardStyle + kStyle;
    page += "<h1>A fleet through time</h1>\n<p>" + Facts() + "</p>\n" + Legend() + Table();
    page +=
        "<main>\n" + WaitBars() + SizeBars() + Utilisation() + QueueLength() + Links() + Stranded();
    for (std::size_t s = 0; s < summaries_.size(); ++s) page += Blocks(s);
    for (std::size_t s = 0; s < maps_.size(); ++s) page += Map(s);
    return page + "</main>\n<script>var main=document.querySelector('main');" + kCardScript +
           "</script></body></html>\n";
  }

 private:
  static unsigned Colour(std::size_t summary) { return static_cast<unsigned>(summary); }

  static std::string ColourStyle(std::size_t summary) {
    return " style=\"--colour:var(--weft-series-" +
           std::to_string(Colour(summary) % kSeriesColourCount) + ")\"";
  }

  std::string Facts() const {
    const fabric::Fabric& fabric = *scenario_.on->fabric;
    char load[32];
    std::snprintf(load, sizeof load, "%.2f", scenario_.load);
    std::string text = Counted(static_cast<std::int64_t>(scenario_.jobs.size()), "job") + " on " +
                       Counted(fabric.node_count(), "node") + " with " +
                       Grouped(fabric.AcceleratorsIn(fabric::kOutside, fabric::DomainIndex{0})) +
                       " GPUs, offered load " + load + ".";
    if (!scenario_.never_fit.empty()) {
      text += " " + Counted(static_cast<std::int64_t>(scenario_.never_fit.size()), "job") +
              " can never fit and are left out.";
    }
    return EscapeXml(text);
  }

  std::string Legend() const {
    std::string list = "<ul class=\"legend\">";
    for (std::size_t s = 0; s < names_.size(); ++s) {
      list += "<li" + ColourStyle(s) + ">" + EscapeXml(names_[s]) + "</li>";
    }
    return list + "</ul>\n";
  }

  struct Figure {
    std::string title, text;
  };
  std::vector<Figure> FiguresOf(const Summary& one) const {
    std::vector<Figure> figures = {
        {"Wait, mean", LongTimeText(one.wait.mean)},
        {"Wait, p99", LongTimeText(one.wait.p99)},
        {"Completion, mean", LongTimeText(one.completion.mean)},
        {"Completion, p99", LongTimeText(one.completion.p99)},
        {"p99 over no contention", More(one.completion.p99, one.contention_free_completion.p99)},
        {"GPUs used",
         Share(one.arriving_utilisation > 0 ? one.arriving_utilisation : one.utilisation)},
        {"Slower by placement", Times(one.placement_slowdown)},
        {"Slower by sharing", Times(one.contention_slowdown)}};
    if (one.failures > 0) {
      figures.push_back({"Restarts", Grouped(static_cast<std::int64_t>(one.restarts))});
      figures.push_back({"Time lost", Share(one.lost_share)});
    }
    figures.push_back({"Energy", EnergyText(one.bill.job_joules + one.bill.idle_joules)});
    if (const std::string& currency = summaries_.front().currency; !currency.empty()) {
      figures.push_back({"Cost, " + Printable(currency),
                         one.bill.cost ? Grouped(std::llround(one.bill.cost->jobs)) : "-"});
    }
    for (const std::size_t l : ShownLevels(scenario_, summaries_)) {
      const std::string& level = summaries_.front().level_bytes[l].first;
      const double bytes = BytesLeaving(one, level);
      constexpr double kMostBytes = 1e37;
      figures.push_back(
          {"Bytes leaving " + level, BytesText(static_cast<Int128>(std::min(bytes, kMostBytes)))});
    }
    return figures;
  }

  std::string Table() const {
    std::string head = "<tr><th>Policy</th>", rows;
    for (const Figure& figure : FiguresOf(summaries_.front())) {
      head += "<th>" + EscapeXml(figure.title) + "</th>";
    }
    for (std::size_t s = 0; s < summaries_.size(); ++s) {
      rows += "<tr><td" + ColourStyle(s) + ">" + EscapeXml(names_[s]) + "</td>";
      for (const Figure& figure : FiguresOf(summaries_[s])) {
        rows += "<td data-title=\"" + EscapeXml(figure.title) + "\">" + EscapeXml(figure.text) +
                "</td>";
      }
      rows += "</tr>\n";
    }
    return "<div class=\"wide\"><table><thead>" + head + "</tr></thead><tbody>\n" + rows +
           "</tbody></table></div>\n";
  }

  // A line for each policy of one figure of its series.
  template <typename Of>
  std::string Lines(Scale scale, double most, Of of) const {
    LineChart chart;
    chart.y = scale;
    chart.x_most = seconds_;
    chart.y_most = most;
    for (std::size_t s = summaries_.size(); s-- > 0;) {  // the first on top
      ChartSeries line{names_[s], Colour(s), {}};
      for (const Series::Point& point : summaries_[s].series.points) {
        line.points.emplace_back(point.seconds, of(point));
      }
      chart.series.push_back(std::move(line));
    }
    return LineChartSvg(chart);
  }

  std::string Utilisation() const {
    const auto gpus = static_cast<double>(
        scenario_.on->fabric->AcceleratorsIn(fabric::kOutside, fabric::DomainIndex{0}));
    return Section("GPUs in use", "Share of all GPUs that jobs hold, over time.",
                   Lines(Scale::kPercent, 1, [&](const Series::Point& point) {
                     return gpus > 0 ? point.mean.used_gpus / gpus : 0;
                   }));
  }

  std::string QueueLength() const {
    return Section("Queue", "Jobs that wait, over time.",
                   Lines(Scale::kCount, 0,
                         [](const Series::Point& point) { return point.mean.waiting_jobs; }));
  }

  // The busiest uplink of each level.
  std::string Links() const {
    const fabric::Fabric& fabric = *scenario_.on->fabric;
    std::string sections;
    for (const std::size_t l : ShownLevels(scenario_, summaries_)) {
      const auto tier = fabric::Tier::Of(l + 1);
      if (tier == fabric.node_tier()) continue;  // its bytes are counted, not its links
      sections += Section("Uplinks of level " + Printable(fabric.tiers()[tier].name),
                          "What crosses the busiest uplink, as a share of its rate, over time.",
                          Lines(Scale::kPercent, 0, [&](const Series::Point& point) {
                            return tier < point.link_load.EndIndex() ? point.link_load[tier] : 0;
                          }));
    }
    return sections;
  }

  std::string Stranded() const {
    return Section(
        "Stranded GPUs",
        "Share of the free GPUs that are on partly used nodes, over time: a job of "
        "several nodes cannot use them.",
        Lines(Scale::kPercent, 0, [](const Series::Point& point) { return point.stranded_share; }));
  }

  std::string WaitBars() const {
    BarChart chart;
    chart.groups = {"mean", "p50", "p99"};
    for (std::size_t s = 0; s < summaries_.size(); ++s) {
      const auto& wait = summaries_[s].wait;
      chart.bars.push_back({names_[s], Colour(s), {wait.mean, wait.p50, wait.p99}});
    }
    return Section("Waiting", "From arrival to start, over all jobs.", BarChartSvg(chart));
  }

  std::string SizeBars() const {
    BarChart chart;
    for (const simulate::SizeClass& size : summaries_.front().sizes) {
      chart.groups.push_back(size.most_gpus == 0 ? "more" : "to " + Grouped(size.most_gpus));
    }
    for (std::size_t s = 0; s < summaries_.size(); ++s) {
      BarChart::Bar bar{names_[s], Colour(s), {}};
      for (const auto& size : summaries_[s].sizes) bar.values.push_back(size.mean_wait);
      chart.bars.push_back(std::move(bar));
    }
    return Section("Waiting by size", "Mean wait of jobs with so many GPUs.", BarChartSvg(chart));
  }

  // Free nodes that lie together: of the blocks of each size, the nodes in them.
  std::string Blocks(std::size_t s) const {
    LineChart chart;
    chart.x_most = seconds_;
    chart.filled = true;
    chart.y_most = 1;
    std::size_t sizes = 0;
    for (const Series::Point& point : summaries_[s].series.points) {
      sizes = std::max(sizes, point.free_blocks.size());
      if (!point.free_blocks.empty()) {
        chart.y_most = std::max<double>(chart.y_most, point.free_blocks.front());
      }
    }
    std::string text = "Wholly free nodes; darker: in one domain together with";
    for (std::size_t i = 0; i < sizes; i += 2) {
      const auto size = static_cast<double>(std::size_t{1} << i);
      ChartSeries area{
          names_[s] + ": in blocks of " + Grouped(std::int64_t{1} << i), Colour(s), {}};
      for (const Series::Point& point : summaries_[s].series.points) {
        const double blocks = i < point.free_blocks.size() ? point.free_blocks[i] : 0;
        area.points.emplace_back(point.seconds, blocks * size);
      }
      chart.series.push_back(std::move(area));
      if (i > 0) text += (i > 2 ? ", " : " ") + Grouped((std::int64_t{1} << i) - 1);
    }
    text += sizes > 1 ? " others or more." : " others.";
    return Section("Free blocks: " + names_[s], text, LineChartSvg(chart));
  }

  // Who was where.
  std::string Map(std::size_t s) const {
    const FleetMap& fleet = maps_[s];
    std::string text = "After " + LongTimeText(fleet.seconds) + ": " +
                       Counted(static_cast<std::int64_t>(fleet.input.jobs.size()), "job") +
                       " running, " + Grouped(static_cast<std::int64_t>(fleet.waiting)) +
                       " waiting";
    if (fleet.waiting > 0) text += " for up to " + LongTimeText(fleet.longest_wait);
    text +=
        ". A square is a node (of a large fabric, a domain), filled by its GPUs, with a colour for "
        "each job. The bar under a name shows the bytes that leave the domain per step, and the "
        "edge "
        "of a domain is the warmer, the longer they take. Point at a square to see its jobs.";
    return "<section class=\"map\"><h2>" + EscapeXml("Map: " + names_[s]) + "</h2><p>" +
           EscapeXml(text) + "</p>\n<div class=\"wide\">" + MapSvg(fleet.input, Legend::kNone) +
           "</div></section>\n";
  }

  const simulate::Scenario& scenario_;
  const std::vector<Summary>& summaries_;
  const std::vector<FleetMap>& maps_;
  std::vector<std::string> names_;
  double seconds_ = 0;
};

}  // namespace

std::string RunName(const Summary& one, const std::vector<Summary>& all) {
  std::string name(simulate::PolicyName(one.rules.policy));
  if (Differ(all, [](const Summary& other) { return other.variation.Name(); })) {
    const std::string variation = one.variation.Name();
    name += ", " + (variation.empty() ? "as it is" : variation);
  }
  if (Differ(all, [](const Summary& other) { return other.rules.order; })) {
    name += ", " + std::string(simulate::QueueOrderName(one.rules.order));
  }
  if (Differ(all, [](const Summary& other) { return other.rules.backfill; })) {
    name += ", " + std::string(simulate::BackfillName(one.rules.backfill));
  }
  return name;
}

std::string SimulateHtml(const simulate::Scenario& scenario, const std::vector<Summary>& summaries,
                         const std::vector<FleetMap>& maps) {
  return Report(scenario, summaries, maps).Page();
}

}  // namespace weft::render
