#include "operator/render/usage_text.h"

#include <cmath>
#include <utility>
#include <vector>

#include "operator/base/phrases.h"
#include "operator/render/table.h"

namespace weft::render {
namespace {

using report::TeamUsage;
using report::UsageReport;

// "12,345"; one decimal below 100.
std::string HoursText(double hours) {
  constexpr double kWhole = 99.95;
  if (hours >= kWhole) return Grouped(std::llround(hours));
  const auto tenths = std::llround(hours * 10);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

std::string ShareOf(double part, double whole) { return whole > 0 ? ShareText(part / whole) : "-"; }

// "2026-11-24 10:00 UTC".
std::string MinuteText(UnixSeconds time) {
  constexpr std::size_t kDay = 10, kTime = 11, kMinutes = 5;
  const std::string text = FormatTime(time);
  return text.substr(0, kDay) + " " + text.substr(kTime, kMinutes) + " UTC";
}

std::string Heading(const UsageReport& report) {
  std::string text = "From " + MinuteText(report.period.until - report.period.seconds) + " to " +
                     MinuteText(report.period.until);
  if (report.covered_seconds < report.period.seconds) {
    text += "; Prometheus has samples of " + DurationText(report.covered_seconds) + " of it";
  }
  const double used = report.all - report.free - report.unavailable;
  text += ". The fleet had " + HoursText(report.all) + " GPU-hours: " + ShareOf(used, report.all) +
          " allocated, " + ShareOf(report.free, report.all) + " free, " +
          ShareOf(report.unavailable, report.all) + " free on nodes that are cordoned or unusable.";
  return text;
}

std::vector<Cell> RowOf(std::string space, std::string queue, const TeamUsage& team,
                        const UsageReport& report) {
  std::vector<Cell> row{{std::move(space)},
                        {std::move(queue)},
                        {HoursText(team.allocated)},
                        {ShareOf(team.allocated, report.all)},
                        {team.busy ? ShareOf(*team.busy, team.allocated) : "-"},
                        {HoursText(team.stranded)},
                        {HoursText(team.lost)}};
  if (!report.currency.empty()) {
    row.push_back({team.cost ? Grouped(std::llround(*team.cost)) : "-"});
  }
  return row;
}

std::string TeamTable(const UsageReport& report, const TextOptions& options) {
  std::vector<Table::Column> columns{{"NAMESPACE"},
                                     {"QUEUE"},
                                     {"GPU-HOURS", Align::kRight},
                                     {"OF FLEET", Align::kRight},
                                     {"BUSY", Align::kRight},
                                     {"STRANDED", Align::kRight},
                                     {"LOST", Align::kRight}};
  if (!report.currency.empty()) {
    columns.push_back({"COST " + Upper(Printable(report.currency)), Align::kRight});
  }
  Table table(std::move(columns));
  for (const TeamUsage& team : report.teams) {
    table.Add(RowOf(Printable(team.space), team.queue.empty() ? "-" : Printable(team.queue), team,
                    report));
  }
  if (report.teams.size() > 1) table.Add(RowOf("(total)", "", report.total, report));
  return table.Show(options.colour);
}

std::string Explanation(const UsageReport& report) {
  std::string text =
      "BUSY is the share of the GPU-hours in which DCGM saw the GPUs busy. STRANDED: GPU-hours "
      "that "
      "were free on nodes whose other GPUs the team held, so that no job of whole nodes could use "
      "them. LOST, at most: GPU-hours of attempts of TrainingJobs that were taken down; the work "
      "since the last checkpoint is lost, and Weft does not see checkpoints. Restarts of other "
      "kinds of jobs are not counted.";
  if (!report.total.busy) {
    text +=
        " Prometheus has no samples of DCGM's exporter for these pods, or lacks the chart's "
        "rules (metrics.rules.enabled).";
  }
  if (!report.unpriced.empty()) {
    text += " Not in the table of prices, so counted as 0:";
    for (std::size_t i = 0; i < report.unpriced.size(); ++i) {
      text += (i == 0 ? " " : ", ") + Printable(report.unpriced[i]);
    }
    text += ".";
  }
  return text;
}

}  // namespace

std::string UsageText(const UsageReport& report, const TextOptions& options) {
  if (report.covered_seconds == 0) {
    return Wrap("",
                "Prometheus has no samples of a leading weft-operator from " +
                    MinuteText(report.period.until - report.period.seconds) + " to " +
                    MinuteText(report.period.until) +
                    ". Query weft_leader there. If the answer is empty, Prometheus does not scrape "
                    "the operator (the chart's values metrics.serviceMonitor and "
                    "metrics.podMonitor), or --match excludes its series. Otherwise choose another "
                    "time with --since and --until.",
                0, options.columns);
  }
  std::string text = Wrap("", Heading(report), 0, options.columns) + "\n";
  if (report.teams.empty() && report.space.empty()) return text + "No pod held an accelerator.\n";
  if (report.teams.empty()) {
    return text + "Namespace " + Printable(report.space) + " used no accelerator.\n";
  }
  return text + TeamTable(report, options) + "\n" +
         Wrap("", Explanation(report), 0, options.columns);
}

}  // namespace weft::render
