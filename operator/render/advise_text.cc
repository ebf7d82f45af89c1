#include "operator/render/advise_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <set>
#include <utility>
#include <vector>

#include "operator/cluster/note.h"
#include "operator/outlook/step.h"
#include "operator/render/outlook_text.h"
#include "operator/render/table.h"

namespace weft::render {
namespace {

using report::AdvisedLayout;

constexpr double kKilo = 1000;

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

double TokensPerAccelerator(const AdvisedLayout& row) {
  return row.prediction.tokens_per_second / static_cast<double>(row.layout.ranks);
}

bool Tight(const AdvisedLayout& row) {
  return row.prediction.memory.Total() > outlook::kTightMemory * row.prediction.capacity;
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
          {(Tight(row) ? "tight " : "") + ShareText(one.memory.Total() / one.capacity)},
          {SecondsText(seconds)},
          {ShareText(one.step.Exposed() / seconds)},
          {ShareText(one.step.bubble / seconds)},
          {ShareText(one.mfu)},
          {Grouped(std::llround(one.tokens_per_second))},
          {Grouped(std::llround(one.watts / kKilo)) + " kW"},
          {row.days ? Short(*row.days) : ""},
          {row.cost ? Grouped(std::llround(*row.cost)) : ""}};
}

struct Column {
  const char* title;
  Align align;
  const char* nothing;  // what its cells are if the column tells nothing; null: it always does
};
constexpr const char* kSame = "same";  // it tells nothing if all cells are equal

// In the order of RowOf.
constexpr auto kColumns = std::to_array<Column>({{"ACCELERATORS", Align::kLeft, nullptr},
                                                 {"FABRIC", Align::kLeft, kSame},
                                                 {"TENSOR", Align::kRight, nullptr},
                                                 {"PIPELINE", Align::kRight, nullptr},
                                                 {"CONTEXT", Align::kRight, "1"},
                                                 {"EXPERT", Align::kRight, "1"},
                                                 {"SHARDING", Align::kLeft, nullptr},
                                                 {"MICRO-BATCH", Align::kRight, nullptr},
                                                 {"RECOMPUTE", Align::kLeft, nullptr},
                                                 {"MEMORY", Align::kRight, nullptr},
                                                 {"STEP", Align::kRight, nullptr},
                                                 {"EXPOSED", Align::kRight, nullptr},
                                                 {"BUBBLE", Align::kRight, nullptr},
                                                 {"MFU", Align::kRight, nullptr},
                                                 {"TOKENS/S", Align::kRight, nullptr},
                                                 {"POWER", Align::kRight, nullptr},
                                                 {"DAYS", Align::kRight, ""},
                                                 {"COST", Align::kRight, ""}});

// Without the columns that tell nothing.
Table TableOf(const report::Advice& advice) {
  std::vector<std::vector<Cell>> rows, shown(advice.layouts.size());
  for (const AdvisedLayout& row : advice.layouts) rows.push_back(RowOf(row));
  std::vector<Table::Column> titles;
  for (std::size_t c = 0; c < kColumns.size(); ++c) {
    const Column& column = kColumns[c];
    const std::string nothing = column.nothing == kSame     ? rows.front()[c].text
                                : column.nothing != nullptr ? column.nothing
                                                            : "";
    const bool tells = column.nothing == nullptr ||
                       std::any_of(rows.begin(), rows.end(), [&](const std::vector<Cell>& row) {
                         return row[c].text != nothing;
                       });
    if (!tells) continue;
    const bool cost = c + 1 == kColumns.size() && !advice.currency.empty();
    titles.push_back(
        {column.title + (cost ? ", " + Printable(advice.currency) : ""), column.align});
    for (std::size_t r = 0; r < rows.size(); ++r) shown[r].push_back(rows[r][c]);
  }
  Table table(std::move(titles));
  for (std::vector<Cell>& row : shown) table.Add(std::move(row));
  return table;
}

std::string BoundText(const report::Advice& advice) {
  const AdvisedLayout& best = advice.layouts.front();
  std::string text =
      "The first is bound by " + std::string(outlook::BoundBy(best.prediction.step)) + ".";
  if (advice.lifts.empty()) return text + " No change that Weft tries gives 2 % or more.";
  text += " Tokens per second per accelerator would rise by ";
  for (std::size_t i = 0; i < advice.lifts.size(); ++i) {
    if (i > 0) text += i + 1 == advice.lifts.size() ? " and by " : ", by ";
    text += ShareText(advice.lifts[i].gain) + " with " + advice.lifts[i].change;
  }
  return text + ".";
}

// How the job as it is written compares with the first layout.
std::string AsWrittenText(const report::Advice& advice) {
  const AdvisedLayout& own = *advice.as_written;
  const outlook::Prediction& one = own.prediction;
  const std::string on = Grouped(own.layout.ranks) + " x " + own.accelerator;
  const std::string memory = ShareText(one.memory.Total() / one.capacity) + " of the memory";
  if (!one.fits) {
    return "The layout in the job's spec does not fit: it takes " + memory + " of " + on + ".";
  }
  const double gain = TokensPerAccelerator(advice.layouts.front()) / TokensPerAccelerator(own) - 1;
  const std::string percent = ShareText(std::abs(gain));
  const std::string start = "The layout in the job's spec takes " + memory + " of " + on +
                            ", and a step takes " + SecondsText(one.step.Seconds()) + "; ";
  if (percent == "0 %") return start + "no layout is clearly faster.";
  return start + "the first layout trains on " + percent + (gain > 0 ? " more" : " fewer") +
         " tokens per second per accelerator.";
}

// What days and costs count in.
std::string FailuresText(const report::Advice& advice, const TextOptions& options) {
  if (!advice.layouts.front().days) return "";
  const auto number = [](double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.4g", value);
    return std::string(text.data());
  };
  std::string text = "Days and costs count " + number(advice.rates.per_1000_node_days) +
                     " failures in 1,000 node-days (assumed: Llama 3 405B, 2024)";
  const bool spot = std::any_of(advice.layouts.begin(), advice.layouts.end(),
                                [](const AdvisedLayout& row) { return row.spot_nodes > 0; });
  if (spot) {
    text += ", and for spot nodes " + number(advice.rates.interruptions_per_1000_node_days) +
            " interruptions (" +
            (advice.rates_of_prices ? "by the table of prices" : "assumed: Google Cloud, 2020") +
            ")";
  }
  return Wrap("", text + ".", 2, options.columns);
}

}  // namespace

std::string AdviceText(const report::Advice& advice, const TextOptions& options) {
  std::string text;
  for (const cluster::Note& note : advice.notes) {
    text += Wrap("", Printable(note.text), 2, options.columns);
  }
  const std::string counted = Grouped(advice.tried) + " layouts of " + Printable(advice.job) +
                              " tried, " + Grouped(advice.fitting) + " fit in memory.";
  if (advice.layouts.empty()) {
    const std::string why = advice.why_none.empty() ? "" : " " + Printable(advice.why_none);
    const std::string none = advice.tried == 0
                                 ? "No layout of " + Printable(advice.job) + " can be tried."
                                 : counted + " None is left to advise.";
    return text + Wrap("", none + why, 2, options.columns);
  }
  text += TableOf(advice).Show(options.colour) + "\n";
  if (std::any_of(advice.layouts.begin(), advice.layouts.end(), Tight)) {
    text += "tight: over 95 % of the memory; predictions of memory are right to about 10 %.\n";
  }
  text += Wrap("", counted + " " + BoundText(advice), 2, options.columns);
  if (advice.as_written) text += Wrap("", AsWrittenText(advice), 2, options.columns);
  text += FailuresText(advice, options);
  std::set<std::string> sources;
  for (const AdvisedLayout& row : advice.layouts) {
    sources.insert(CalibrationText(row.prediction, true));
  }
  text +=
      "\nPredicted on the empty fabric, on nodes that lie side by side, with these calibrations\n"
      "(operator/docs/outlook.md):\n";
  for (const std::string& source : sources) text += Wrap("  ", source, 4, options.columns);
  return text;
}

}  // namespace weft::render
