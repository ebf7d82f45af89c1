#include "operator/render/advise_text.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <set>

#include "operator/outlook/step.h"
#include "operator/render/table.h"

namespace weft::render {
namespace {

using report::AdvisedLayout;

constexpr double kMillis = 1000;

std::string Percent(double share) { return PercentText(std::lround(100 * share)); }

// "0.42", "12.3", "1,234": three digits or more.
std::string Short(double value) {
  if (value >= 100) return Grouped(std::llround(value));
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), value < 10 ? "%.2f" : "%.1f", value);
  return text.data();
}

std::string ShardingText(const traffic::Parallelism& p) {
  static constexpr std::array<const char*, 5> kNames = {"None", "OptimizerState", "Gradients",
                                                        "Full", "Hybrid"};
  std::string text = kNames[static_cast<std::size_t>(p.sharding)];
  if (p.shard_group_size) text += " " + std::to_string(*p.shard_group_size);
  return text;
}

// "8": a degree; "4 x 2": stages and virtual stages.
std::string PipelineText(const traffic::Parallelism& p) {
  std::string text = std::to_string(p.pipeline);
  if (p.virtual_pipeline > 1) text += " x " + std::to_string(p.virtual_pipeline);
  return text;
}

std::vector<Cell> RowOf(const AdvisedLayout& row) {
  const traffic::Parallelism& p = row.layout.parallelism;
  const outlook::Prediction& one = row.prediction;
  const double seconds = one.step.Seconds();
  const bool full = row.layout.model.recomputation == traffic::Recomputation::kFull;
  return {{Grouped(row.layout.ranks) + " x " + row.accelerator},
          {Printable(row.fabric)},
          {std::to_string(p.tensor)},
          {PipelineText(p)},
          {std::to_string(p.context)},
          {std::to_string(p.expert)},
          {ShardingText(p)},
          {std::to_string(row.layout.model.micro_batch_size)},
          {full ? "Full" : "None"},
          {Percent(one.memory.Total() / one.capacity)},
          {MillisecondsText(seconds * kMillis)},
          {Percent(one.step.Exposed() / seconds)},
          {Percent(one.step.bubble / seconds)},
          {Percent(one.mfu)},
          {Grouped(std::llround(one.tokens_per_second))},
          {Grouped(std::llround(one.watts / kMillis)) + " kW"},
          {row.days ? Short(*row.days) : ""},
          {row.cost ? Grouped(std::llround(*row.cost)) : ""}};
}

Table TableOf(const report::Advice& advice) {
  const Align right = Align::kRight;
  const std::string cost = advice.currency.empty() ? "COST" : "COST, " + Printable(advice.currency);
  Table table({{"ACCELERATORS"},
               {"FABRIC"},
               {"TENSOR", right},
               {"PIPELINE", right},
               {"CONTEXT", right},
               {"EXPERT", right},
               {"SHARDING"},
               {"MICRO-BATCH", right},
               {"RECOMPUTATION"},
               {"MEMORY", right},
               {"STEP", right},
               {"EXPOSED", right},
               {"BUBBLE", right},
               {"MFU", right},
               {"TOKENS/S", right},
               {"POWER", right},
               {"DAYS", right},
               {cost, right}});
  for (const AdvisedLayout& row : advice.layouts) table.Add(RowOf(row));
  return table;
}

std::string BoundText(const report::Advice& advice) {
  const AdvisedLayout& best = advice.layouts.front();
  std::string text =
      "The first is bound by " + std::string(outlook::BoundBy(best.prediction.step)) + ".";
  if (advice.lifts.empty()) return text + " No change that Weft tries gives 2 % or more.";
  text += " Tokens per second and accelerator would rise by ";
  for (std::size_t i = 0; i < advice.lifts.size(); ++i) {
    if (i > 0) text += i + 1 == advice.lifts.size() ? " and by " : ", by ";
    text += Percent(advice.lifts[i].gain) + " with " + advice.lifts[i].change;
  }
  return text + ".";
}

}  // namespace

std::string AdviceText(const report::Advice& advice, const TextOptions& options) {
  std::string text;
  for (const decide::Note& note : advice.notes) {
    text += Wrap("", Printable(note.text), 2, options.columns);
  }
  const std::string counted = Grouped(advice.tried) + " layouts of " + Printable(advice.job) +
                              " tried, " + Grouped(advice.fitting) + " fit in memory.";
  if (advice.layouts.empty()) {
    return text + Wrap("", counted + " None is left to advise.", 2, options.columns);
  }
  text += TableOf(advice).Show(options.colour) + "\n";
  text += Wrap("", counted + " " + BoundText(advice), 2, options.columns);
  std::set<std::string> sources;
  for (const AdvisedLayout& row : advice.layouts) {
    const outlook::Calibration& by = *row.prediction.calibration;
    sources.insert(std::string(by.name) + " (+-" + Percent(by.error) +
                   "): " + std::string(by.fitted_on) + ".");
  }
  text +=
      "\nPredicted on nodes side by side of the empty fabric, with these calibrations "
      "(operator/docs/outlook.md):\n";
  for (const std::string& source : sources) text += Wrap("  ", source, 4, options.columns);
  return text;
}

}  // namespace weft::render
