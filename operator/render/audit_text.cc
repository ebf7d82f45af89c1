#include "operator/render/audit_text.h"

#include <algorithm>

#include "operator/cluster/gangs.h"
#include "operator/cluster/text.h"
#include "operator/render/plan_text.h"
#include "operator/render/table.h"

namespace weft::render {

namespace {

// The cost above the best one: "+14 %".
Cell ExcessCell(const std::optional<std::int64_t>& percent) {
  if (!percent) return {"best is 0", Colour::kRed};
  const Colour colour = *percent == 0   ? Colour::kGreen
                        : *percent < 50 ? Colour::kYellow
                                        : Colour::kRed;
  return {"+" + Grouped(*percent) + " %", colour};
}

std::string BytesOf(const report::AuditGang& gang, const report::Judged& judged) {
  return gang.modelled ? BytesText(judged.scores.cross_node_bytes) : "ring";
}

std::string Name(const report::AuditGang& gang) { return Printable(api::Show(gang.key)); }

// With the API group if another gang would look the same.
std::string Kind(const report::AuditGang& gang) {
  return cluster::KindText(gang.kind, gang.group, gang.alike);
}

Table GangTable(const cluster::Cluster& cluster, const report::AuditReport& report, bool spans) {
  const bool fabrics = cluster.fabrics.size() > 1;
  std::vector<Table::Column> columns = {{"GANG"}, {"KIND"}, {"WORKERS", Align::kRight}};
  if (fabrics) columns.push_back({"FABRIC"});
  if (spans) columns.insert(columns.end(), {{"SPANS NOW"}, {"SPANS AT BEST"}});
  columns.insert(columns.end(), {{"CROSS-NODE NOW", Align::kRight},
                                 {"AT BEST", Align::kRight},
                                 {"COST OVER BEST", Align::kRight}});
  Table table(std::move(columns));
  for (const report::AuditGang& gang : report.gangs) {
    std::vector<Cell> row = {{Name(gang)}, {Printable(Kind(gang))}, {Grouped(gang.workers)}};
    if (fabrics) row.push_back({Printable(cluster.fabrics[gang.fabric].name())});
    if (spans) {
      row.push_back({cluster::SpansText(gang.now.scores)});
      row.push_back({gang.best ? cluster::SpansText(gang.best->scores) : "-"});
    }
    row.push_back({BytesOf(gang, gang.now)});
    row.push_back({gang.best ? BytesOf(gang, *gang.best) : "-"});
    row.push_back(gang.best ? ExcessCell(gang.excess_percent) : Cell{"-"});
    table.Add(std::move(row));
  }
  return table;
}

// Where each gang would be planned, and why that is better. Spans are here if they would make the
// table too wide.
std::string Changes(const report::AuditReport& report, bool spans, const TextOptions& options) {
  std::string text;
  for (const report::AuditGang& gang : report.gangs) {
    const std::string now = cluster::SpansText(gang.now.scores);
    if (gang.worse.empty()) {
      if (spans) text += Wrap(Name(gang) + ": ", now + ", as at best", 2, options.columns);
      continue;
    }
    const std::string where =
        spans ? now + " now; " + cluster::SpansText(gang.best->scores) + " at best. Now it "
              : "now it ";
    text += Wrap(Name(gang) + ": ", where + gang.worse + ".", 2, options.columns);
  }
  if (text.empty()) return "";
  const std::string title = spans ? "Spans" : "Better by weft plan";
  return Paint(title, Colour::kBold, options.colour) + "\n" + text + "\n";
}

std::string Gangs(const cluster::Cluster& cluster, const report::AuditReport& report,
                  const TextOptions& options) {
  const Table whole = GangTable(cluster, report, true);
  const bool fits = whole.Width() <= static_cast<std::size_t>(std::max(options.columns, 0));
  const Table narrow = GangTable(cluster, report, false);
  return (fits ? whole : narrow).Show(options.colour) + "\n" + Changes(report, !fits, options);
}

std::string LevelTable(const report::AuditReport::Total& total, const TextOptions& options) {
  Table table({{"  LEAVING A", Align::kLeft},
               {"NOW", Align::kRight},
               {"BEST", Align::kRight},
               {"RATIO", Align::kRight}});
  for (const report::LevelBytes& level : total.levels) {
    Int128 best = 0;
    for (const report::LevelBytes& other : total.best_levels) {
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

// `timed` is false for rings, whose bytes and times have no meaning.
std::string Sum(const std::string& title, const report::AuditReport::Total& total, bool timed,
                const TextOptions& options) {
  std::string text =
      Wrap("",
           title + ": " + Counted(static_cast<std::int64_t>(total.gangs), "gang") + ", " +
               Counted(static_cast<std::int64_t>(total.workers), "worker") + "; " +
               (timed ? "link time a step " + LinkTimeText(total.cost) + " now, " +
                            LinkTimeText(total.best_cost) + " at best ("
                      : std::string("cost over the best (")) +
               ExcessCell(total.excess_percent).text + ")",
           2, options.columns);
  if (options.colour) text.replace(0, title.size(), Paint(title, Colour::kBold, true));
  return text + LevelTable(total, options) + "\n";
}

// Separate sums, because bytes of gangs with a model and of rings with one byte per rank cannot be
// added.
std::string Sums(const report::AuditReport& report, const TextOptions& options) {
  if (report.modelled.gangs == 0 || report.rings.gangs == 0) {
    return Sum("Fleet", report.total, report.rings.gangs == 0, options);
  }
  return Sum("Gangs with a model", report.modelled, true, options) +
         Sum("Gangs as rings", report.rings, false, options);
}

}  // namespace

std::string AuditText(const cluster::Cluster& cluster, const report::AuditReport& report,
                      const TextOptions& options) {
  if (report.gangs.empty()) {
    return "No gang of two or more workers with accelerators is running.\n" +
           NotesText(report.notes, options);
  }
  std::string text = Gangs(cluster, report, options) + Sums(report, options);
  text += Paint("Assumed", Colour::kBold, options.colour) + "\n";
  for (const std::string& one : report.assumptions) text += Wrap("  ", one, 2, options.columns);
  return text + NotesText(report.notes, options);
}

}  // namespace weft::render
