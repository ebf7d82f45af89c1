#include "operator/render/audit_text.h"

#include "operator/decide/explain.h"
#include "operator/decide/text.h"
#include "operator/render/plan_text.h"
#include "operator/render/table.h"

namespace weft::render {

namespace {

std::string Excess(const std::optional<std::int64_t>& percent) {
  return percent ? "+" + std::to_string(*percent) + " %" : "-";
}

Colour ExcessColour(const std::optional<std::int64_t>& percent) {
  if (!percent || *percent == 0) return Colour::kGreen;
  return *percent < 50 ? Colour::kYellow : Colour::kRed;
}

std::string GangTable(const decide::Cluster& cluster, const decide::AuditReport& report,
                      const TextOptions& options) {
  Table table({{"GANG", Align::kLeft},
               {"KIND", Align::kLeft},
               {"WORKERS", Align::kRight},
               {"FABRIC", Align::kLeft},
               {"NOW", Align::kLeft},
               {"BEST", Align::kLeft},
               {"CROSS-NODE NOW", Align::kRight},
               {"BEST", Align::kRight},
               {"COST OVER BEST", Align::kRight}});
  for (const decide::AuditGang& gang : report.gangs) {
    const std::string now = gang.modelled ? BytesText(gang.now.scores.cross_node_bytes) : "ring";
    const std::string best = !gang.best       ? "-"
                             : !gang.modelled ? "ring"
                                              : BytesText(gang.best->scores.cross_node_bytes);
    table.Add({{Printable(api::Show(gang.key))},
               {Printable(gang.kind)},
               {std::to_string(gang.workers)},
               {Printable(cluster.fabrics[gang.fabric].name())},
               {decide::SpansText(gang.now.scores)},
               {gang.best ? decide::SpansText(gang.best->scores) : "-"},
               {now},
               {best},
               {Excess(gang.excess_percent), ExcessColour(gang.excess_percent)}});
  }
  return table.Show(options.colour);
}

std::string LevelTable(const decide::AuditReport::Total& total, const TextOptions& options) {
  Table table({{"  LEAVING A", Align::kLeft},
               {"NOW", Align::kRight},
               {"BEST", Align::kRight},
               {"RATIO", Align::kRight}});
  for (const decide::LevelBytes& level : total.levels) {
    Int128 best = 0;
    for (const decide::LevelBytes& other : total.best_levels) {
      if (other.level == level.level) best = other.crossing;
    }
    if (level.level == "outside") continue;
    table.Add({{"  " + level.level},
               {BytesText(level.crossing)},
               {BytesText(best)},
               {Ratio(static_cast<double>(level.crossing), static_cast<double>(best))}});
  }
  return table.empty() ? "" : table.Show(options.colour);
}

}  // namespace

std::string AuditText(const decide::Cluster& cluster, const decide::AuditReport& report,
                      const TextOptions& options) {
  if (report.gangs.empty()) {
    return "No gang of two or more workers with accelerators is running.\n" +
           NotesText(report.notes, options);
  }
  std::string text = GangTable(cluster, report, options) + "\n";
  const decide::AuditReport::Total& total = report.total;
  text += Paint("Fleet", Colour::kBold, options.colour) + ": " +
          Counted(static_cast<std::int64_t>(total.gangs), "gang") + ", " +
          Counted(static_cast<std::int64_t>(total.workers), "worker") + "; link time a step " +
          decide::LinkTimeText(total.cost) + " now, " + decide::LinkTimeText(total.best_cost) +
          " at best (" + Excess(total.excess_percent) + ")\n";
  text += LevelTable(total, options);
  text +=
      Wrap("",
           "Best is what the same solver finds for a gang with the others where they are. A gang "
           "without a Placement beside it counts as one ring over its ranks at one byte a rank.",
           0, options.columns);
  text += NotesText(report.notes, options);
  return text;
}

}  // namespace weft::render
