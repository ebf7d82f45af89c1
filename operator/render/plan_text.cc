#include "operator/render/plan_text.h"

#include <algorithm>
#include <set>

#include "operator/decide/explain.h"
#include "operator/decide/status.h"
#include "operator/decide/text.h"
#include "operator/render/node_ranges.h"
#include "operator/render/table.h"

namespace weft::render {

namespace {

using decide::Cluster;
using decide::PlanEntry;
using decide::PlanReport;

constexpr std::size_t kIndent = 2;
constexpr std::size_t kMostDomain = 28;  // bytes of a domain's name in the table

bool LinksDeclared(const Cluster& cluster, const PlanEntry& entry) {
  return !entry.fabric || cluster.fabrics[*entry.fabric].LinksDeclared();
}

// "100 %", with a star where a link's bandwidth behind it is assumed.
std::string StarredPercent(std::optional<std::int64_t> percent, bool declared) {
  return PercentText(percent) + (percent && !declared ? "*" : "");
}

std::string OfBest(const decide::Placed& placed) {
  if (!placed.best) return "-";
  const Int128 here = placed.scores.cross_node_bytes, best = placed.best->cross_node_bytes;
  if (best == 0) return here == 0 ? "100 %" : "best is 0";
  return PercentText(PercentOf(here, best));
}

std::string UplinkText(const std::optional<placement::Uplink>& uplink, bool declared) {
  if (!uplink) return "-";
  std::string domain = Printable(uplink->domain);
  if (domain.size() > kMostDomain) domain = domain.substr(0, kMostDomain - 3) + "...";
  return domain + " " + MillisecondsText(uplink->milliseconds) + (declared ? "" : "*");
}

class PlanPage {
 public:
  PlanPage(const Cluster& cluster, const PlanReport& report, const TextOptions& options)
      : cluster_(cluster), report_(report), options_(options) {}

  std::string Show() {
    Table table = JobTable(true);
    wide_ = table.Width() > static_cast<std::size_t>(std::max(options_.columns, 0));
    if (wide_) table = JobTable(false);
    std::string out = table.Show(options_.colour) + Footnotes() + NodeLists() + Refusals();
    const std::string notes = Notes();
    if (!notes.empty()) out += "\n" + notes;
    return out;
  }

 private:
  Table JobTable(bool spans) const {
    const bool fabrics = cluster_.fabrics.size() > 1;
    std::vector<Table::Column> columns = {{"JOB"}, {"WORKERS", Align::kRight}};
    if (fabrics) columns.push_back({"FABRIC"});
    if (spans) columns.push_back({"SPANS"});
    columns.insert(columns.end(), {{"CROSS-NODE", Align::kRight},
                                   {"OF BEST", Align::kRight},
                                   {"COST/BOUND", Align::kRight},
                                   {"BUSIEST UPLINK"},
                                   {"COMM", Align::kRight}});
    Table table(std::move(columns));
    for (const PlanEntry& entry : report_.entries) {
      std::vector<Cell> row = {{Name(entry), entry.refused() ? Colour::kRed : Colour::kNone},
                               {Grouped(entry.workload.workers)}};
      if (fabrics) row.push_back({Fabric(entry)});
      const std::vector<Cell> outcome = Outcome(entry, spans);
      row.insert(row.end(), outcome.begin(), outcome.end());
      table.Add(std::move(row));
    }
    return table;
  }

  std::vector<Cell> Outcome(const PlanEntry& entry, bool spans) const {
    std::vector<Cell> cells;
    if (entry.refused() != nullptr) {
      const Cell no{"not placed", Colour::kRed};
      return spans ? std::vector<Cell>{no} : std::vector<Cell>{{"-"}, {"-"}, {"-"}, no, {"-"}};
    }
    const decide::Placed& placed = *entry.placed();
    const bool declared = LinksDeclared(cluster_, entry);
    if (spans) cells.push_back({decide::SpansText(placed.scores)});
    const auto bound = decide::CostOverLowerBoundPercent(placed.plan.cost, placed.plan.lower_bound);
    if (!entry.modelled) {
      cells.insert(cells.end(), {{"-"}, {"-"}, {StarredPercent(bound, declared)}, {"-"}, {"-"}});
      return cells;
    }
    cells.insert(cells.end(), {{BytesText(placed.scores.cross_node_bytes)},
                               {OfBest(placed)},
                               {StarredPercent(bound, declared)},
                               {UplinkText(placed.scores.busiest_uplink, declared)},
                               {MillisecondsText(placed.scores.communication_milliseconds) +
                                (declared ? "" : "*")}});
    return cells;
  }

  std::string Footnotes() const {
    std::string out;
    bool assumed = false, unmodelled = false;
    for (const PlanEntry& entry : report_.entries) {
      if (entry.placed() == nullptr) continue;
      assumed = assumed || !LinksDeclared(cluster_, entry);
      unmodelled = unmodelled || !entry.modelled;
    }
    const auto dim = [&](const std::string& text) {
      const std::string wrapped = Wrap("", text, kIndent, options_.columns);
      out += Paint(wrapped.substr(0, wrapped.size() - 1), Colour::kDim, options_.colour) + "\n";
    };
    if (assumed) dim("* some link bandwidths of this fabric are assumed, not declared.");
    if (unmodelled) dim("- no model given: placed for one ring over all ranks, bytes unknown.");
    return out;
  }

  std::string NodeLists() const {
    std::string out;
    for (const PlanEntry& entry : report_.entries) {
      const decide::Placed* placed = entry.placed();
      if (placed == nullptr) continue;
      const fabric::Fabric& fabric = *cluster_.fabrics[*entry.fabric].fabric;
      std::vector<std::string> names;
      for (const fabric::NodeIndex n : placed->plan.nodes) {
        names.push_back(Printable(fabric.node(n).name));
      }
      std::string lead = Name(entry) + ": ";
      if (wide_) {
        out += Wrap("", lead + decide::SpansText(placed->scores), kIndent, options_.columns);
        lead = std::string(kIndent, ' ');
      }
      out += Wrap(lead, NodeRanges(std::move(names)), kIndent, options_.columns);
    }
    return out.empty() ? out : "\n" + Paint("Nodes", Colour::kBold, options_.colour) + "\n" + out;
  }

  std::string Refusals() const {
    std::string out;
    for (const PlanEntry& entry : report_.entries) {
      const decide::Refused* refused = entry.refused();
      if (refused == nullptr) continue;
      out += Paint(Name(entry), Colour::kRed, options_.colour) + " (" + refused->reason + ")\n";
      const std::string space(kIndent, ' ');
      out += Wrap(space, Printable(refused->message), kIndent, options_.columns);
    }
    return out.empty() ? out
                       : "\n" + Paint("Not placed", Colour::kBold, options_.colour) + "\n" + out;
  }

  std::string Notes() const {
    std::vector<decide::Note> notes = report_.notes;
    for (const PlanEntry& entry : report_.entries) {
      for (const decide::Note& note : entry.notes) {
        notes.push_back({note.severity, note.reason, Name(entry) + ": " + note.text});
      }
    }
    return NotesText(notes, options_);
  }

  std::string Fabric(const PlanEntry& entry) const {
    return entry.fabric ? Printable(cluster_.fabrics[*entry.fabric].name()) : "-";
  }

  static std::string Name(const PlanEntry& entry) {
    return Printable(api::Show(entry.workload.key()));
  }

  const Cluster& cluster_;
  const PlanReport& report_;
  const TextOptions& options_;
  bool wide_ = false;  // the spans do not fit into the table
};

}  // namespace

std::string NotesText(const std::vector<decide::Note>& notes, const TextOptions& options) {
  std::vector<const decide::Note*> order;
  for (const decide::Note& note : notes) order.push_back(&note);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->severity > b->severity; });
  std::string out;
  for (const decide::Note* note : order) {
    const Colour colour = note->severity == decide::Severity::kError     ? Colour::kRed
                          : note->severity == decide::Severity::kWarning ? Colour::kYellow
                                                                         : Colour::kDim;
    const std::string name = note->severity == decide::Severity::kInfo
                                 ? "note"
                                 : std::string(decide::SeverityName(note->severity));
    std::string text = Wrap(name + ": ", Printable(note->text) + " (" + note->reason + ")", kIndent,
                            options.columns);
    if (options.colour) text.replace(0, name.size(), Paint(name, colour, true));
    out += text;
  }
  return out;
}

std::string PlanText(const Cluster& cluster, const PlanReport& report, const TextOptions& options) {
  if (report.entries.empty()) return NotesText(report.notes, options);
  return PlanPage(cluster, report, options).Show();
}

}  // namespace weft::render
