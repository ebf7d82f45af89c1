#include "operator/render/lose_text.h"

#include "operator/render/table.h"

namespace weft::render {
namespace {

using report::JobLoss;
using report::LossOutcome;

std::string MovesTable(const JobLoss& job, const TextOptions& options) {
  Table table({{"  WORKER", Align::kRight},
               {"FROM", Align::kLeft},
               {"TO", Align::kLeft},
               {"WHY", Align::kLeft}});
  for (const JobLoss::Move& move : job.moves) {
    table.Add({{"  " + std::to_string(move.worker)},
               {Printable(move.from)},
               {Printable(move.to)},
               {move.healthy ? "moves with its group" : "node lost"}});
  }
  return table.empty() ? "" : table.Show(options.colour);
}

// "Cost C = 12 ms of link time a step before, 14 ms after (17 % more)."
std::string CostText(const JobLoss& job) {
  std::string text = "Cost C = " + LinkTimeText(job.cost_before) + " of link time a step before, " +
                     LinkTimeText(*job.cost_after) + " after";
  if (*job.cost_after == job.cost_before) {
    text += " (no change)";
  } else if (job.cost_before > 0) {
    const bool more = *job.cost_after > job.cost_before;
    const Int128 by = more ? *job.cost_after - job.cost_before : job.cost_before - *job.cost_after;
    text += " (" + std::to_string(PercentOf(by, job.cost_before)) + " % " +
            (more ? "more" : "less") + ")";
  }
  return text + ".";
}

std::string SpansText(const JobLoss& job) {
  if (job.spans_before == job.spans_after) return "It spans " + job.spans_after + ", as before.";
  return "It spans " + job.spans_after + "; before, " + job.spans_before + ".";
}

std::string Heading(const JobLoss& job, const TextOptions& options) {
  const bool refused = job.outcome == LossOutcome::kRefused;
  std::string text =
      Paint(Printable(job.job), refused ? Colour::kRed : Colour::kBold, options.colour) +
      ": loses " + std::to_string(job.lost) + " of " + Counted(job.workers, "worker");
  if (job.outcome == LossOutcome::kReplaced) return text + ", the others stay\n";
  return text + (refused ? ", has no place any more\n" : ", must be placed anew\n");
}

std::string JobText(const JobLoss& job, const TextOptions& options) {
  std::string text = Heading(job, options);
  const auto say = [&](const std::string& sentence) {
    text += Wrap("  ", Printable(sentence), kIndent, options.columns);
  };
  if (!job.why_not_replaced.empty()) say(job.why_not_replaced);
  if (!job.message.empty()) say(job.message);
  if (job.groups_moved > 0) {
    say(Counted(job.groups_moved, "group") + " of workers without a free node in " +
        (job.groups_moved == 1 ? "its" : "their") + " domain " +
        (job.groups_moved == 1 ? "moves" : "move") + " whole.");
  }
  text += MovesTable(job, options);
  if (!job.cost_after) return text;
  say(CostText(job));
  say(SpansText(job));
  return text;
}

}  // namespace

std::string LoseText(const report::LoseReport& report, const TextOptions& options) {
  const auto lost = static_cast<std::int64_t>(report.lost.size());
  if (report.jobs.empty()) {
    return "No running job has a worker on " +
           (lost == 1 ? "this node" : "these " + Counted(lost, "node")) + ".\n";
  }
  std::string text;
  for (const JobLoss& job : report.jobs) text += (text.empty() ? "" : "\n") + JobText(job, options);
  if (report.spared == 0) return text;
  return text + "\n" + Counted(report.spared, "other job") +
         (report.spared == 1 ? " loses" : " lose") + " no worker.\n";
}

}  // namespace weft::render
