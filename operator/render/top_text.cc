#include "operator/render/top_text.h"

#include <algorithm>
#include <numeric>

#include "operator/render/table.h"

namespace weft::render {
namespace {

using report::NodeUse;
using report::Overview;

// The age in kubectl's form: "3s", "12m", "5h", "2d".
std::string AgeText(std::optional<std::int64_t> seconds) {
  constexpr std::int64_t kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour;
  if (!seconds) return "-";
  if (*seconds < 2 * kMinute) return std::to_string(*seconds) + "s";
  if (*seconds < 2 * kHour) return std::to_string(*seconds / kMinute) + "m";
  if (*seconds < 2 * kDay) return std::to_string(*seconds / kHour) + "h";
  return std::to_string(*seconds / kDay) + "d";
}

std::string OrDash(const std::string& text) { return text.empty() ? "-" : Printable(text); }

std::int64_t Nodes(const Overview::FabricRow& fabric, NodeUse use) {
  return fabric.figures.nodes[static_cast<std::size_t>(use)];
}

std::string FabricTable(const Overview& overview, const TextOptions& options) {
  Table table({{"FABRIC", Align::kLeft},
               {"NODES", Align::kRight},
               {"FREE", Align::kRight},
               {"IN USE", Align::kRight},
               {"UNAVAILABLE", Align::kRight},
               {"ACCELERATOR", Align::kLeft},
               {"ALL", Align::kRight},
               {"IN USE", Align::kRight},
               {"FREE", Align::kRight}});
  for (const Overview::FabricRow& fabric : overview.fabrics) {
    const auto& nodes = fabric.figures.nodes;
    const std::int64_t unavailable =
        Nodes(fabric, NodeUse::kCordoned) + Nodes(fabric, NodeUse::kUnusable) + fabric.incomplete;
    std::vector<Cell> row = {
        {Printable(fabric.name)},
        {Grouped(std::accumulate(nodes.begin(), nodes.end(), fabric.incomplete))},
        {Grouped(Nodes(fabric, NodeUse::kFree))},
        {Grouped(Nodes(fabric, NodeUse::kPartial) + Nodes(fabric, NodeUse::kFull))},
        {Grouped(unavailable), unavailable > 0 ? Colour::kYellow : Colour::kNone}};
    for (const auto& [of, count] : fabric.figures.accelerators) {
      const auto& [resource, product] = of;
      const std::int64_t all = count.used + count.free + count.unavailable;
      row.insert(row.end(), {{Printable(product.empty() ? resource : product)},
                             {Grouped(all)},
                             {Grouped(count.used) + " " +
                              std::to_string(all == 0 ? 0 : 100 * count.used / all) + " %"},
                             {Grouped(count.free)}});
      table.Add(std::move(row));
      row = std::vector<Cell>(5);
    }
    if (row.front().text == Printable(fabric.name)) table.Add(std::move(row));
  }
  return table.Show(options.colour);
}

std::string LevelTable(const Overview& overview, const TextOptions& options) {
  Table table({{"FABRIC", Align::kLeft},
               {"LEVEL", Align::kLeft},
               {"DOMAINS", Align::kRight},
               {"LARGEST FREE BLOCK", Align::kRight}});
  for (const Overview::FabricRow& fabric : overview.fabrics) {
    for (const auto& level : fabric.figures.levels) {
      table.Add({{Printable(fabric.name)},
                 {Printable(level.name)},
                 {Grouped(level.domains)},
                 {Counted(level.largest_free_block, "node")}});
    }
  }
  return table.Show(options.colour);
}

Colour ColourOf(const Overview::JobRow& job) {
  if (job.phase == "Running") return Colour::kGreen;
  if (job.phase == "Invalid") return Colour::kRed;
  return job.why.empty() ? Colour::kNone : Colour::kYellow;
}

std::string JobTable(const Overview& overview, const TextOptions& options) {
  Table table({{"JOB", Align::kLeft},
               {"PHASE", Align::kLeft},
               {"WORKERS", Align::kRight},
               {"GPUS", Align::kRight},
               {"SPANS", Align::kLeft},
               {"CROSS-NODE", Align::kRight},
               {"OF BEST", Align::kRight},
               {"RESTARTS", Align::kRight},
               {"AGE", Align::kRight},
               {"WHY"}});
  for (const Overview::JobRow& job : overview.jobs) {
    const bool ours = job.kind == "TrainingJob";
    table.Add({{Printable(api::Show(job.key)) + (ours ? "" : " (" + job.kind + ")")},
               {job.phase, ColourOf(job)},
               {std::to_string(job.ready) + "/" + std::to_string(job.workers)},
               {Grouped(job.accelerators)},
               {OrDash(job.spans)},
               {OrDash(job.cross_node)},
               {OrDash(job.of_best)},
               {ours ? std::to_string(job.restarts) : "-"},
               {AgeText(job.age_seconds)},
               {OrDash(job.reason)}});
  }
  return table.empty() ? "No job waits or runs.\n" : table.Show(options.colour);
}

std::string Waiting(const Overview& overview, const TextOptions& options) {
  std::string text;
  for (const Overview::JobRow& job : overview.jobs) {
    if (job.why.empty()) continue;
    text += Wrap("", Printable(api::Show(job.key)) + ": " + Printable(job.why), kIndent,
                 options.columns);
  }
  return text.empty() ? "" : "\nWithout nodes\n" + text;
}

}  // namespace

std::string TopText(const Overview& overview, const TextOptions& options, bool wide) {
  std::string text = FabricTable(overview, options) + "\n";
  if (wide) text += LevelTable(overview, options) + "\n";
  text += JobTable(overview, options);
  std::string rest;
  if (overview.complete + overview.failed > 0) {
    rest += "Ended: " + Grouped(overview.complete) + " complete, " + Grouped(overview.failed) +
            " failed.\n";
  }
  if (overview.other_accelerators > 0) {
    rest += "Other pods hold " + Grouped(overview.other_accelerators) + " accelerators.\n";
  }
  return text + (rest.empty() ? "" : "\n" + rest) + Waiting(overview, options);
}

}  // namespace weft::render
