#include "operator/render/plan_text.h"

#include <algorithm>
#include <set>

#include "operator/base/utf8.h"
#include "operator/cluster/text.h"
#include "operator/plan/status.h"
#include "operator/render/domain_count.h"
#include "operator/render/node_ranges.h"
#include "operator/render/refusals_text.h"
#include "operator/render/table.h"
#include "operator/report/explain.h"

namespace weft::render {

namespace {

using cluster::Cluster;
using plan::PlanEntry;
using plan::PlanReport;

constexpr std::size_t kMostDomain = 28;  // most bytes of a domain's name
constexpr std::size_t kSeveral = 2;      // from this many jobs on, there is a sum
constexpr const char* kNode = "node";

bool LinksDeclared(const Cluster& cluster, const PlanEntry& entry) {
  return !entry.fabric || cluster.fabrics[*entry.fabric].LinksDeclared();
}

// "100 %", with a star if the bandwidth of a link is assumed.
std::string StarredPercent(std::optional<std::int64_t> percent, bool declared) {
  return PercentText(percent) + (percent && !declared ? "*" : "");
}

std::string OfBest(const plan::Placed& placed) {
  if (!placed.best) return "-";
  const Int128 here = placed.scores.cross_node_bytes, best = placed.best->cross_node_bytes;
  if (best == 0) return here == 0 ? "100 %" : "best is 0";
  return PercentText(PercentOf(here, best));
}

// " (busiest uplink: leaf-3, 33 ms)".
std::string UplinkText(const objective::Uplink& uplink, bool declared) {
  std::string domain = Printable(uplink.domain);
  if (domain.size() > kMostDomain) domain = std::string(StartOf(domain, kMostDomain - 3)) + "...";
  return " (busiest uplink: " + domain + ", " + MillisecondsText(uplink.milliseconds) +
         (declared ? "" : "*") + ")";
}

class PlanPage {
 public:
  PlanPage(const Cluster& cluster, const PlanReport& report, const TextOptions& options)
      : cluster_(cluster), report_(report), options_(options) {}

  std::string Show() const {
    std::string out = JobTable().Show(options_.colour) + Footnotes() + NodeLists() +
                      RefusalsText(report_, options_);
    const std::string notes = Notes();
    if (!notes.empty()) out += "\n" + notes;
    return out + Summary();
  }

 private:
  // The levels that the placements use, widest first, the node last.
  std::vector<std::string> Levels() const {
    std::vector<std::string> levels;
    for (const PlanEntry& entry : report_.entries) {
      if (entry.placed() == nullptr) continue;
      for (const objective::Span& span : entry.placed()->scores.spans) {
        if (std::find(levels.begin(), levels.end(), span.level) != levels.end()) continue;
        const bool node_last = !levels.empty() && levels.back() == kNode;
        levels.insert(levels.end() - (node_last ? 1 : 0), span.level);
      }
    }
    return levels;
  }

  Table JobTable() const {
    const bool fabrics = cluster_.fabrics.size() > 1;
    const std::vector<std::string> levels = Levels();
    std::vector<Table::Column> columns = {{"JOB"}, {"WORKERS", Align::kRight}};
    if (fabrics) columns.push_back({"FABRIC"});
    for (const std::string& level : levels) {
      columns.push_back({Upper(Printable(level)), Align::kRight});
    }
    columns.insert(columns.end(), {{"CROSS-NODE", Align::kRight},
                                   {"OF BEST", Align::kRight},
                                   {"COST/BOUND", Align::kRight},
                                   {"COMM", Align::kRight}});
    Table table(std::move(columns));
    for (const PlanEntry& entry : report_.entries) {
      std::vector<Cell> row = {{Name(entry), entry.refused() ? Colour::kRed : Colour::kNone},
                               {Grouped(entry.workload.workers)}};
      if (fabrics) row.push_back({Fabric(entry)});
      for (const std::string& level : levels) row.push_back({SpanOf(entry, level)});
      const std::vector<Cell> outcome = Outcome(entry);
      row.insert(row.end(), outcome.begin(), outcome.end());
      table.Add(std::move(row));
    }
    return table;
  }

  // How many domains of the level the job uses.
  static std::string SpanOf(const PlanEntry& entry, const std::string& level) {
    if (entry.placed() == nullptr) return "-";
    for (const objective::Span& span : entry.placed()->scores.spans) {
      if (span.level == level) return Grouped(static_cast<std::int64_t>(span.domains));
    }
    return "-";
  }

  std::vector<Cell> Outcome(const PlanEntry& entry) const {
    if (entry.refused() != nullptr) return {{"not placed", Colour::kRed}, {"-"}, {"-"}, {"-"}};
    const plan::Placed& placed = *entry.placed();
    const bool declared = LinksDeclared(cluster_, entry);
    const auto bound = plan::CostOverLowerBoundPercent(placed.plan.cost, placed.plan.lower_bound);
    if (!entry.modelled) return {{"-"}, {"-"}, {StarredPercent(bound, declared)}, {"-"}};
    return {{BytesText(placed.scores.cross_node_bytes)},
            {OfBest(placed)},
            {StarredPercent(bound, declared)},
            {MillisecondsText(placed.scores.communication_milliseconds) + (declared ? "" : "*")}};
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
      const plan::Placed* placed = entry.placed();
      if (placed == nullptr) continue;
      const fabric::Fabric& fabric = *cluster_.fabrics[*entry.fabric].fabric;
      std::vector<std::string> names;
      for (const fabric::NodeIndex n : placed->plan.nodes) {
        names.push_back(Printable(fabric.node(n).name));
      }
      std::string text = NodeRanges(std::move(names));
      const auto& uplink = placed->scores.busiest_uplink;
      if (entry.modelled && uplink) text += UplinkText(*uplink, LinksDeclared(cluster_, entry));
      out += Wrap(Name(entry) + ": ", text, kIndent, options_.columns);
    }
    return out.empty() ? out : "\n" + Paint("Nodes", Colour::kBold, options_.colour) + "\n" + out;
  }

  std::string Notes() const {
    std::vector<cluster::Note> notes = report_.notes;
    const std::vector<cluster::Note> of_jobs = JobNotes(report_);
    notes.insert(notes.end(), of_jobs.begin(), of_jobs.end());
    return NotesText(notes, options_);
  }

  // The sum over several jobs: "300 jobs: 297 placed, 3 not. They take 2,376 GPUs; 1,720 of 4,096
  // stay free."
  std::string Summary() const {
    if (report_.entries.size() < kSeveral) return "";
    std::int64_t placed = 0, taken = 0;
    for (const PlanEntry& entry : report_.entries) {
      if (entry.placed() == nullptr) continue;
      ++placed;
      taken += static_cast<std::int64_t>(entry.workload.workers) *
               entry.workload.accelerator->per_worker;
    }
    DomainCount all;
    for (const cluster::ClusterFabric& fabric : cluster_.fabrics) {
      for (fabric::DomainIndex d{0}; d < fabric.fabric->domains(fabric::kOutside).EndIndex(); ++d) {
        all.Add(CountIn(fabric.claims, fabric::kOutside, d));
      }
    }
    const auto jobs = static_cast<std::int64_t>(report_.entries.size());
    std::string text = Grouped(jobs) + " jobs: " + Grouped(placed) + " placed";
    if (placed < jobs) text += ", " + Grouped(jobs - placed) + " not placed";
    text += ". They take " + Counted(taken, "GPU") + "; " +
            Grouped(std::max<std::int64_t>(all.free - taken, 0)) + " of " +
            Grouped(all.accelerators) + " stay free.";
    return "\n" + Wrap("", text, 0, options_.columns);
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
};

}  // namespace

std::string NotesText(const std::vector<cluster::Note>& notes, const TextOptions& options) {
  std::vector<const cluster::Note*> order;
  for (const cluster::Note& note : notes) order.push_back(&note);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->severity > b->severity; });
  std::string out;
  for (const cluster::Note* note : order) {
    const Colour colour = note->severity == cluster::Severity::kError     ? Colour::kRed
                          : note->severity == cluster::Severity::kWarning ? Colour::kYellow
                                                                          : Colour::kDim;
    const std::string name = note->severity == cluster::Severity::kInfo
                                 ? "note"
                                 : std::string(cluster::SeverityName(note->severity));
    std::string text = Wrap(name + ": ", Printable(note->text) + " (" + note->reason + ")", kIndent,
                            options.columns);
    if (options.colour) text.replace(0, name.size(), Paint(name, colour, true));
    out += text;
  }
  return out;
}

std::string PlanText(const Cluster& cluster, const PlanReport& report, const TextOptions& options) {
  if (report.entries.empty()) {
    return "No TrainingJob or Placement waits for nodes.\n" + NotesText(report.notes, options);
  }
  return PlanPage(cluster, report, options).Show();
}

}  // namespace weft::render
