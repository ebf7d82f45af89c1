#include "operator/render/spares_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "operator/base/phrases.h"
#include "operator/render/table.h"

namespace weft::render {
namespace {

using report::DomainLoss;
using report::SpareAdvice;
using report::SpareLevel;
using report::SparePool;

constexpr const char* kOutside = "outside";  // the level of the whole fabric

std::string Format(const char* format, double value) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

// "72.6 %", "0.03 %", "99.96 %", "< 0.01 %": small shares and nearly whole ones matter.
std::string SmallShare(double share) {
  const double percent = 100 * share;
  if (percent <= 0) return "0 %";
  if (percent >= 100) return "100 %";
  if (percent < 0.01) return "< 0.01 %";
  if (percent > 99.99) return "> 99.99 %";
  return Format(percent < 1 || percent > 99 ? "%.2f %%" : "%.1f %%", percent);
}

// "0.06", "1.29", "38.8", "379": nodes that are away.
std::string AwayText(double rho) {
  return rho >= 100 ? Grouped(std::llround(rho)) : Format(rho < 10 ? "%.2f" : "%.1f", rho);
}

std::string IntervalText(const outlook::Reliability& reliability) {
  const double seconds = reliability.checkpoint_interval_seconds;
  return std::isinf(seconds) ? "never" : SecondsText(seconds);
}

// "6 nodes, 1 rack": what the best spares of a domain replace at once.
std::string CoversText(const SpareLevel& level) {
  if (level.best == 0) return "-";
  std::string text = Counted(level.best, "node");
  for (const DomainLoss& loss : level.losses) {
    if (loss.covered && loss.nodes > 1) return text + ", 1 " + Printable(loss.level);
  }
  return text;
}

std::string LevelTable(const SparePool& pool, const TextOptions& options) {
  Table table({{"LEVEL", Align::kLeft},
               {"DOMAINS", Align::kRight},
               {"NODES", Align::kRight},
               {"AWAY", Align::kRight},
               {"P99", Align::kRight},
               {"BEST", Align::kRight},
               {"SPARES", Align::kRight},
               {"IDLE", Align::kRight},
               {"WAITS WITHOUT", Align::kRight},
               {"WAITS WITH", Align::kRight},
               {"COVERS", Align::kLeft},
               {"CHECKPOINT", Align::kRight}});
  for (std::size_t l = 0; l < pool.levels.size(); ++l) {
    const SpareLevel& level = pool.levels[l];
    const Colour colour = l == 0 ? Colour::kBold : Colour::kNone;
    table.Add({{Printable(level.level), colour},
               {Grouped(level.domains)},
               {Grouped(level.nodes)},
               {AwayText(level.rho)},
               {Grouped(level.p99)},
               {Grouped(level.best)},
               {Grouped(level.total)},
               {SmallShare(level.idle_share)},
               {SmallShare(level.waits_without)},
               {SmallShare(level.waits_with)},
               {CoversText(level)},
               {IntervalText(level.reliability)}});
  }
  return table.Show(options.colour);
}

// "6 spare nodes anywhere in the fabric", "1 spare node in each leaf, 128 in all"; of domains that
// differ in size "up to 3 spare nodes in each leaf, 20 in all".
std::string PlaceText(const SpareLevel& level, std::int64_t each, std::int64_t total) {
  const std::string nodes = Counted(each, "spare node");
  if (level.level == kOutside) return nodes + " anywhere in the fabric";
  const std::string in = (each * level.domains == total ? "" : "up to ") + nodes + " in each " +
                         Printable(level.level);
  return level.domains == 1 ? in : in + ", " + Grouped(total) + " in all";
}

std::string BestText(const SpareLevel& level) { return PlaceText(level, level.best, level.total); }

double IdleShare(std::int64_t nodes, std::int64_t spares) {
  return static_cast<double>(spares) / static_cast<double>(nodes + spares);
}

// Where to keep the spares if a replacement may be anywhere.
std::string WideText(const SpareLevel& level) {
  const std::string without = SmallShare(level.waits_without);
  const std::string job = "a job on all " + Counted(level.nodes, "node");
  if (level.best == 0) {
    return "Keep no spare: " + job + " waits for a node " + without +
           " of the time, and one spare would idle " + SmallShare(IdleShare(level.nodes, 1)) +
           " of the nodes.";
  }
  return "Keep " + BestText(level) + ": they are " + SmallShare(level.idle_share) +
         " of the nodes, and " + job + " then waits for a node " + SmallShare(level.waits_with) +
         " of the time; without spares " + without + ".";
}

// The spares that a job needs near its nodes; "" if it needs none there.
std::string NearJobText(const report::SpareJob& job) {
  if (job.level == kOutside || job.best == 0) return "";
  const std::string level = Printable(job.level);
  return Printable(job.job) + " can replace a node only in the same " + level +
         ", by topology.required of the job or of a group: keep " +
         (job.best * job.domains == job.total ? "" : "up to ") + Counted(job.best, "spare node") +
         (job.domains == 1
              ? " in its " + level
              : " in each " + level + " that it uses, " + Grouped(job.total) + " in all") +
         ".";
}

// The narrowest level at which spares of its own cost at most kCheap of the nodes.
std::string NearText(const SparePool& pool) {
  constexpr double kCheap = 0.02;
  for (std::size_t l = pool.levels.size() - 1; l > 0; --l) {
    const SpareLevel& level = pool.levels[l];
    if (level.best == 0 || level.domains < 2 || level.idle_share > kCheap) continue;
    return "To replace nodes nearer, keep " + BestText(level) + ": " +
           SmallShare(level.idle_share) + " of the nodes.";
  }
  return "";
}

// Whole domains that the spares of the level do or do not replace.
std::string LossText(const SparePool& pool, const DomainLoss& loss) {
  const SpareLevel& at = pool.levels.front();
  const std::string name = Printable(loss.level);
  const std::string whole = "a whole " + name + " (" + Counted(loss.nodes, "node") + ")";
  if (loss.covered) {
    return "The loss of " + whole + " is covered, if " + Counted(loss.nodes, "spare") +
           " lie outside it.";
  }
  std::string text = "The loss of " + whole + " is not covered: that takes " +
                     Counted(loss.nodes, "spare") + " outside it, " +
                     SmallShare(IdleShare(at.nodes, loss.nodes)) + " of the nodes";
  if (!loss.away) return text + ".";
  return text + ". By its rate some " + name + " is away " + SmallShare(*loss.away) +
         " of the time, so that they " + (loss.pays ? "pay." : "do not pay.");
}

std::string PoolText(const SparePool& pool, const TextOptions& options) {
  const SpareLevel& at = pool.levels.front();
  std::string text = LevelTable(pool, options) + "\n";
  const auto say = [&](const std::string& sentence) {
    if (!sentence.empty()) text += Wrap("", sentence, 2, options.columns);
  };
  say(WideText(at));
  say(NearText(pool));
  std::int64_t before = at.nodes;
  for (const DomainLoss& loss : at.losses) {
    // A level whose domains are those of the wider one tells nothing, but its rate may.
    if (loss.nodes > 1 && (loss.nodes < before || loss.away)) say(LossText(pool, loss));
    before = loss.nodes;
  }
  if (pool.unusable > 0) {
    say("Now " + Grouped(pool.unusable) + " of " + Counted(pool.nodes, "node") +
        (pool.unusable == 1 ? " is" : " are") + " not usable; by these rates " +
        AwayText(pool.levels.front().rho) + " are away on average.");
  }
  if (pool.spot > 0) {
    say(Grouped(pool.spot) + " of " + Counted(pool.nodes, "node") +
        (pool.spot == 1 ? " is" : " are") +
        " spot capacity; what its cloud takes away is not counted here.");
  }
  return text;
}

std::string JobTable(const SpareAdvice& advice, const TextOptions& options) {
  if (advice.jobs.empty()) return "";
  Table table({{"JOB", Align::kLeft},
               {"NODES", Align::kRight},
               {"FAILS EVERY", Align::kRight},
               {"CHECKPOINT", Align::kRight},
               {"TRAINS", Align::kRight},
               {"P99", Align::kRight},
               {"BEST", Align::kRight},
               {"REPLACED IN", Align::kLeft}});
  for (const report::SpareJob& job : advice.jobs) {
    const double hours = job.reliability.hours_between_failures;
    const std::string fails = std::isinf(hours) ? "never"
                              : hours < 100
                                  ? Format("%.1f h", hours)
                                  : Format(hours < 1000 ? "%.1f days" : "%.0f days", hours / 24);
    table.Add({{Printable(job.job)},
               {Grouped(job.nodes)},
               {fails},
               {IntervalText(job.reliability)},
               {SmallShare(job.reliability.effective_share)},
               {Grouped(job.p99)},
               {Grouped(job.best)},
               {job.level == kOutside ? "the fabric" : "the same " + Printable(job.level)}});
  }
  std::string text = "\n" + table.Show(options.colour);
  for (const report::SpareJob& job : advice.jobs) {
    const std::string near = NearJobText(job);
    if (!near.empty()) text += Wrap("", near, 2, options.columns);
  }
  return text;
}

std::string AwayRateText(const outlook::AwayRate& rate, const std::string& what) {
  return Format("%.4g", rate.per_1000_days) + " failures in 1,000 days of a " + what +
         ", each away for " + DurationText(std::llround(rate.repair_seconds));
}

// What the numbers of one Fabric rest on.
std::string BasisText(const report::FabricFailures& one, bool several) {
  const report::FailureModel& model = one.model;
  std::string text =
      several ? "Fabric " + Printable(one.fabric) + " counts with " : "Counted with ";
  text += AwayRateText(model.node, "node") + " (" +
          (model.assumed ? "assumed: Llama 3 405B, 2024; --failures names yours"
                         : Printable(model.from));
  if (model.repair_from != model.from) {
    text += model.repair_from.empty() ? std::string("; time of repair assumed")
                                      : "; time of repair: " + Printable(model.repair_from);
  }
  text += ")";
  for (const report::LevelRate& level : model.levels) {
    text += "; " + AwayRateText(level.rate, "whole " + Printable(level.level));
  }
  text += ".";
  if (model.share_without_node > 0) {
    text += " After " + SmallShare(model.share_without_node) +
            " of the nodes' failures the node is used again at once.";
  }
  return text;
}

}  // namespace

std::string SparesText(const SpareAdvice& advice, const TextOptions& options) {
  std::string text;
  const bool several = advice.pools.size() > 1;
  for (const SparePool& pool : advice.pools) {
    if (several) {
      text +=
          (text.empty() ? "" : "\n") + std::string("Fabric ") + Printable(pool.fabric) + ", " +
          (pool.accelerator.empty() ? "accelerators without a name" : Printable(pool.accelerator)) +
          ":\n";
    }
    text += PoolText(pool, options);
  }
  text += JobTable(advice, options) + "\n";
  for (const report::RefusedJob& job : advice.refused) {
    if (job.invalid) continue;
    const std::string end = job.message.ends_with('.') ? "" : ".";
    text += Wrap("", "Left out: " + Printable(job.message) + end, 2, options.columns);
  }
  for (const report::FabricFailures& one : advice.failures) {
    text += Wrap("", BasisText(one, advice.failures.size() > 1), 2, options.columns);
  }
  text += Wrap("",
               "AWAY: nodes of a domain that are away on average; more than P99 are away at most "
               "1 % of the time; BEST gets the most work out of the domain; WAITS: the share of "
               "the time in which a job on all its nodes lacks one; CHECKPOINT: the interval that "
               "loses least, if a checkpoint stops the training for " +
                   SecondsText(advice.rates.checkpoint_seconds) + " and a restart takes " +
                   DurationText(std::llround(advice.rates.restart_seconds)) + " (assumed).",
               2, options.columns);
  return text + "operator/docs/survive.md explains these numbers.\n";
}

}  // namespace weft::render
