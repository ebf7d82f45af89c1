#include "operator/render/lose_text.h"

#include <algorithm>

#include "operator/render/table.h"

namespace weft::render {
namespace {

using report::JobLoss;
using report::LoseReport;
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

// What would be enough for the job: ", 1 replacement is enough: the others could keep their nodes".
std::string EnoughText(const JobLoss& job) {
  switch (job.outcome) {
    case LossOutcome::kReplaced:
      break;
    case LossOutcome::kRecreated:
      return ", must be placed anew";
    case LossOutcome::kRefused:
      return ", has no place any more";
    case LossOutcome::kNotComputed:
      return ", whether replacements are enough was not computed";
    case LossOutcome::kInvalid:
      return ", its spec is invalid";
  }
  const auto healthy = std::count_if(job.moves.begin(), job.moves.end(),
                                     [](const auto& move) { return move.healthy; });
  const auto moves = static_cast<std::int64_t>(job.moves.size()) - healthy;
  std::string text = "; " + Counted(moves, "replacement");
  if (healthy > 0) text += " and moves of " + Counted(healthy, "healthy worker");
  text += moves == 1 && healthy == 0 ? " is enough" : " are enough";
  if (moves + healthy == job.workers) return text;
  return text + ": the others could keep their nodes";
}

std::string Heading(const JobLoss& job, const TextOptions& options) {
  const bool refused = !job.cost_after;
  return Paint(Printable(job.job), refused ? Colour::kRed : Colour::kBold, options.colour) +
         ": loses " + std::to_string(job.lost) + " of " + Counted(job.workers, "worker") +
         EnoughText(job) + "\n";
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
        (job.groups_moved == 1 ? "its" : "their") + " domain would move whole.");
  }
  text += MovesTable(job, options);
  if (!job.cost_after) return text;
  say(CostText(job));
  say(SpansText(job));
  return text;
}

// Whoever else loses a node; "" if nobody does.
std::string OthersText(const LoseReport& report, const TextOptions& options) {
  std::string text;
  constexpr std::size_t kMostNamed = 10;
  if (!report.others.empty()) {
    std::string sentence =
        "Weft cannot say what would become of these, because it did not place them or another node "
        "of theirs is in no fabric: ";
    for (std::size_t i = 0; i < std::min(report.others.size(), kMostNamed); ++i) {
      const report::OtherHolder& other = report.others[i];
      sentence += (i == 0 ? "" : ", ") + other.kind + " " + other.name;
    }
    if (report.others.size() > kMostNamed) {
      sentence += " and " + std::to_string(report.others.size() - kMostNamed) + " more";
    }
    text += Wrap("", Printable(sentence) + ".", kIndent, options.columns);
  }
  if (report.left_out > 0) {
    text += Counted(report.left_out, "workload") + " that " +
            (report.left_out == 1 ? "is" : "are") + " not shown " +
            (report.left_out == 1 ? "loses" : "lose") + " a node too.\n";
  }
  return text;
}

}  // namespace

std::string LoseText(const LoseReport& report, const TextOptions& options) {
  const auto lost = static_cast<std::int64_t>(report.lost.size());
  const std::string others = OthersText(report, options);
  if (report.jobs.empty()) {
    if (!report.others.empty() && report.left_out == 0) return others;
    return std::string(report.left_out == 0 ? "No running job" : "No job that is asked for") +
           " has a worker on " + (lost == 1 ? "this node" : "these " + Counted(lost, "node")) +
           ".\n" + others;
  }
  std::string text;
  for (const JobLoss& job : report.jobs) text += (text.empty() ? "" : "\n") + JobText(job, options);
  text +=
      "\n" + Wrap("",
                  "Today the operator restarts a job that loses a node whole (Recreate): all its "
                  "workers are placed anew.",
                  kIndent, options.columns);
  const auto spared = static_cast<std::int64_t>(report.spared.size());
  if (spared > 0) {
    text += Counted(spared, "other job") + (spared == 1 ? " loses" : " lose") + " no worker.\n";
  }
  return text + others;
}

}  // namespace weft::render
