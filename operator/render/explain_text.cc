#include "operator/render/explain_text.h"

#include <algorithm>
#include <cstdio>

#include "operator/cluster/text.h"
#include "operator/render/plan_text.h"
#include "operator/render/table.h"

namespace weft::render {

namespace {

// The most domains of a refusal that are listed.
constexpr std::size_t kMostDomains = 12;

// "torus, 1.25 hops": where bytes cross more than one link, how many on average.
std::string LevelText(const report::CostShare& share) {
  if (share.crossed <= share.bytes) return share.level;
  char text[32];
  std::snprintf(text, sizeof text, ", %.2f hops", report::Hops(share));
  return share.level + text;
}

std::string CostTable(const plan::PlanEntry& entry, const report::Explanation& one,
                      const TextOptions& options) {
  Table table({{"  AXIS", Align::kLeft},
               {"LEVEL", Align::kLeft},
               {"BYTES A STEP", Align::kRight},
               {"LINK TIME", Align::kRight},
               {"OF THE COST", Align::kRight}});
  for (const report::CostShare& share : one.cost) {
    const std::string part =
        one.total_cost > 0 ? std::to_string(PercentOf(share.cost, one.total_cost)) + " %" : "-";
    table.Add({{"  " + std::string(traffic::AxisName(share.axis))},
               {LevelText(share)},
               {entry.modelled ? BytesText(share.bytes) : "-"},
               {LinkTimeText(share.cost)},
               {part}});
  }
  return table.empty() ? "" : table.Show(options.colour);
}

std::string RunnerUp(const report::Explanation& one, const TextOptions& options) {
  if (!one.runner_up) return "";
  const report::RunnerUpText& second = *one.runner_up;
  std::string line = "Runner-up: " + second.spans;
  if (second.cost_percent) line += ", " + PercentText(second.cost_percent) + " of the cost";
  return Wrap("  ", line + "; not chosen: " + second.why_not + ".", 2, options.columns);
}

// What the loss of one domain would do, for each level.
std::string BlastLines(const report::Explanation& one, const TextOptions& options) {
  if (one.blast.empty()) return "";
  std::string text = "  If the domain with most of its workers were lost now:\n";
  for (const report::BlastRadius& radius : one.blast) {
    text += Wrap("    ", Printable(report::BlastText(radius)) + ".", 6, options.columns);
  }
  return text +
         Wrap("  ",
              "Today the operator restarts a job that loses a node whole (Recreate); it does "
              "not replace single workers.",
              2, options.columns);
}

std::string PlacedText(const plan::PlanEntry& entry, const report::Explanation& one,
                       const TextOptions& options) {
  std::string text;
  for (const std::string& sentence : one.why_here) text += Wrap("  ", sentence, 2, options.columns);
  text += CostTable(entry, one, options);
  if (one.total_cost == 0) {
    text += "  Cost C = 0: nothing is sent between nodes.\n";
    return text + RunnerUp(one, options) + BlastLines(one, options);
  }
  std::string cost = "Cost C = " + LinkTimeText(one.total_cost) + " of link time a step";
  if (one.over_lower_bound_percent == 100) {
    cost += ", the least possible on the free capacity";
  } else if (one.over_lower_bound_percent) {
    cost += ", at most " + PercentText(one.over_lower_bound_percent) +
            " of the least possible on the free capacity";
  }
  return text + Wrap("  ", cost + ".", 2, options.columns) + RunnerUp(one, options) +
         BlastLines(one, options);
}

std::string RefusedText(const plan::PlanEntry& entry, const report::Explanation& one,
                        const TextOptions& options) {
  const plan::Refused& refused = *entry.refused();
  std::string text = Wrap("  ", refused.message, 2, options.columns);
  const std::size_t shown = std::min(kMostDomains, one.domains.size());
  if (shown > 0) text += "  By " + one.level + ", most room first:\n";
  for (std::size_t i = 0; i < shown; ++i) {
    text += Wrap("    ", one.domains[i].sentence, 6, options.columns);
  }
  if (shown < one.domains.size()) {
    text += "    and " + Counted(static_cast<std::int64_t>(one.domains.size() - shown), "domain") +
            " with no more room\n";
  }
  for (const placement::Relaxation& relaxation : one.relaxations) {
    const std::string line = "It could start now with " + relaxation.constraint + ": " +
                             relaxation.change + ", at a cost of " + LinkTimeText(relaxation.cost) +
                             " of link time a step.";
    text += Wrap("  ", line, 2, options.columns);
  }
  return text;
}

}  // namespace

std::string ExplainText(const plan::PlanReport& report,
                        const std::vector<report::Explanation>& explanations,
                        const TextOptions& options) {
  std::string text;
  for (const report::Explanation& one : explanations) {
    const plan::PlanEntry& entry = report.entries[one.entry];
    if (!text.empty()) text += "\n";
    const std::string name = Printable(api::Show(entry.workload.key()));
    const std::string workers = Counted(entry.workload.workers, "worker");
    if (const plan::Placed* placed = entry.placed()) {
      text += Paint(name, Colour::kBold, options.colour) + ": " + workers + " on " +
              cluster::SpansText(placed->scores) + "\n" + PlacedText(entry, one, options);
    } else {
      text += Paint(name, Colour::kRed, options.colour) + ": " + workers + ", not placed (" +
              entry.refused()->reason + ")\n" + RefusedText(entry, one, options);
    }
    text += NotesText(entry.notes, options);
  }
  return text;
}

}  // namespace weft::render
