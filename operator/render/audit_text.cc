#include "operator/render/audit_text.h"

#include <algorithm>

#include "operator/decide/explain.h"
#include "operator/decide/text.h"
#include "operator/render/plan_text.h"
#include "operator/render/table.h"

namespace weft::render {

namespace {

// "+14 %": the cost over the best one.
Cell ExcessCell(const std::optional<std::int64_t>& percent) {
  if (!percent) return {"best is 0", Colour::kRed};
  const Colour colour = *percent == 0   ? Colour::kGreen
                        : *percent < 50 ? Colour::kYellow
                                        : Colour::kRed;
  return {"+" + Grouped(*percent) + " %", colour};
}

std::string BytesOf(const decide::AuditGang& gang, const decide::Judged& judged) {
  return gang.modelled ? BytesText(judged.scores.cross_node_bytes) : "ring";
}

std::string Name(const decide::AuditGang& gang) { return Printable(api::Show(gang.key)); }

Table GangTable(const decide::Cluster& cluster, const decide::AuditReport& report, bool spans) {
  const bool fabrics = cluster.fabrics.size() > 1;
  std::vector<Table::Column> columns = {{"GANG"}, {"KIND"}, {"WORKERS", Align::kRight}};
  if (fabrics) columns.push_back({"FABRIC"});
  if (spans) columns.insert(columns.end(), {{"SPANS NOW"}, {"SPANS AT BEST"}});
  columns.insert(columns.end(), {{"CROSS-NODE NOW", Align::kRight},
                                 {"AT BEST", Align::kRight},
                                 {"COST OVER BEST", Align::kRight}});
  Table table(std::move(columns));
  for (const decide::AuditGang& gang : report.gangs) {
    std::vector<Cell> row = {{Name(gang)}, {Printable(gang.kind)}, {Grouped(gang.workers)}};
    if (fabrics) row.push_back({Printable(cluster.fabrics[gang.fabric].name())});
    if (spans) {
      row.push_back({decide::SpansText(gang.now.scores)});
      row.push_back({gang.best ? decide::SpansText(gang.best->scores) : "-"});
    }
    row.push_back({BytesOf(gang, gang.now)});
    row.push_back({gang.best ? BytesOf(gang, *gang.best) : "-"});
    row.push_back(gang.best ? ExcessCell(gang.excess_percent) : Cell{"-"});
    table.Add(std::move(row));
  }
  return table;
}

// The table; the spans below it where it would be too wide with them.
std::string Gangs(const decide::Cluster& cluster, const decide::AuditReport& report,
                  const TextOptions& options) {
  const Table whole = GangTable(cluster, report, true);
  if (whole.Width() <= static_cast<std::size_t>(std::max(options.columns, 0))) {
    return whole.Show(options.colour) + "\n";
  }
  std::string text = GangTable(cluster, report, false).Show(options.colour) + "\n" +
                     Paint("Spans", Colour::kBold, options.colour) + "\n";
  for (const decide::AuditGang& gang : report.gangs) {
    const std::string best = gang.best ? decide::SpansText(gang.best->scores) : "";
    std::string spans = decide::SpansText(gang.now.scores);
    if (best == spans) {
      spans += ", as at best";
    } else if (!best.empty()) {
      spans.append(" now; ").append(best).append(" at best");
    }
    text += Wrap(Name(gang) + ": ", spans, 2, options.columns);
  }
  return text + "\n";
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
    table.Add({{"  " + Printable(level.level)},
               {BytesText(level.crossing)},
               {BytesText(best)},
               {Ratio(static_cast<double>(level.crossing), static_cast<double>(best))}});
  }
  return table.empty() ? "" : table.Show(options.colour);
}

std::string Sum(const std::string& title, const decide::AuditReport::Total& total,
                const TextOptions& options) {
  std::string text =
      Wrap("",
           title + ": " + Counted(static_cast<std::int64_t>(total.gangs), "gang") + ", " +
               Counted(static_cast<std::int64_t>(total.workers), "worker") + "; link time a step " +
               LinkTimeText(total.cost) + " now, " + LinkTimeText(total.best_cost) + " at best (" +
               ExcessCell(total.excess_percent).text + ")",
           2, options.columns);
  if (options.colour) text.replace(0, title.size(), Paint(title, Colour::kBold, true));
  return text + LevelTable(total, options) + "\n";
}

// Bytes of gangs with a model, and bytes of rings of one byte a rank, are not of one kind.
std::string Sums(const decide::AuditReport& report, const TextOptions& options) {
  if (report.modelled.gangs == 0 || report.rings.gangs == 0) {
    return Sum("Fleet", report.total, options);
  }
  return Sum("Gangs with a model", report.modelled, options) +
         Sum("Gangs as rings", report.rings, options);
}

}  // namespace

std::string AuditText(const decide::Cluster& cluster, const decide::AuditReport& report,
                      const TextOptions& options) {
  if (report.gangs.empty()) {
    return "No gang of two or more workers with accelerators is running.\n" +
           NotesText(report.notes, options);
  }
  std::string text = Gangs(cluster, report, options) + Sums(report, options);
  text += Wrap("",
               "Best is what the same solver finds for a gang with the others where they are. A "
               "gang without a Placement beside it counts as one ring over its ranks at one byte "
               "a rank.",
               0, options.columns);
  return text + NotesText(report.notes, options);
}

}  // namespace weft::render
