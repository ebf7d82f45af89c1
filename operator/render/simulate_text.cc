#include "operator/render/simulate_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "operator/render/differ.h"
#include "operator/render/table.h"

namespace weft::render {
namespace {

using simulate::Summary;

std::string Percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", share * 100);
  return text;
}

std::string Factor(double factor) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3fx", factor);
  return text;
}

std::string ThreeDigits(double value, const char* unit) {
  char text[48];
  const int digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  std::snprintf(text, sizeof text, "%.*f %s", digits, value, unit);
  return text;
}

class SimulateTable {
 public:
  SimulateTable(const simulate::Scenario& scenario, const std::vector<Summary>& summaries)
      : summaries_(summaries),
        variations_(Differ(summaries, [](const Summary& one) { return one.variation.Name(); })),
        faults_(Differ(summaries, [](const Summary& one) { return one.failures > 0; }) ||
                summaries.front().failures > 0),
        orders_(Differ(summaries, [](const Summary& one) { return one.rules.order; })),
        backfills_(Differ(summaries, [](const Summary& one) { return one.rules.backfill; })),
        levels_(ShownLevels(scenario, summaries)) {}

  std::string Show(bool colour) const {
    Table table(Columns());
    for (const Summary& one : summaries_) table.Add(Row(one));
    return table.Show(colour);
  }

 private:
  std::vector<Table::Column> Columns() const {
    std::vector<Table::Column> columns;
    if (variations_) columns.push_back({"VARIATION", Align::kLeft});
    columns.push_back({"POLICY", Align::kLeft});
    if (orders_) columns.push_back({"ORDER", Align::kLeft});
    if (backfills_) columns.push_back({"BACKFILL", Align::kLeft});
    for (const char* title : {"FINISHED", "WAIT MEAN", "P50", "P99", "COMPLETION MEAN", "P99",
                              "NO CONTENTION", "MAKESPAN", "USED", "PLACED", "SHARED"}) {
      columns.push_back({title, Align::kRight});
    }
    if (faults_) {
      columns.push_back({"RESTARTS", Align::kRight});
      columns.push_back({"LOST", Align::kRight});
    }
    columns.push_back({"ENERGY", Align::kRight});
    if (const std::string& currency = summaries_.front().currency; !currency.empty()) {
      columns.push_back({"COST " + Upper(Printable(currency)), Align::kRight});
    }
    for (const std::size_t level : levels_) {
      const std::string& name = summaries_.front().level_bytes[level].first;
      columns.push_back({"LEAVE " + Upper(Printable(name)), Align::kRight});
    }
    return columns;
  }

  std::vector<Cell> Row(const Summary& one) const {
    const Colour colour =
        one.rules.policy == simulate::Policy::kWeft ? Colour::kGreen : Colour::kNone;
    std::vector<Cell> row;
    const auto add = [&](std::string text) { row.push_back({std::move(text), colour}); };
    if (variations_) add(one.variation.Name().empty() ? "as it is" : one.variation.Name());
    add(std::string(simulate::PolicyName(one.rules.policy)));
    if (orders_) add(std::string(simulate::QueueOrderName(one.rules.order)));
    if (backfills_) add(std::string(simulate::BackfillName(one.rules.backfill)));
    add(Grouped(static_cast<std::int64_t>(one.finished)));
    for (const double wait : {one.wait.mean, one.wait.p50, one.wait.p99}) add(LongTimeText(wait));
    add(LongTimeText(one.completion.mean));
    add(LongTimeText(one.completion.p99));
    add(LongTimeText(one.contention_free_completion.p99));
    add(LongTimeText(one.makespan));
    add(Percent(one.arriving_utilisation > 0 ? one.arriving_utilisation : one.utilisation));
    add(Factor(one.placement_slowdown));
    add(Factor(one.contention_slowdown));
    if (faults_) {
      add(Grouped(static_cast<std::int64_t>(one.restarts)));
      add(Percent(one.lost_share));
    }
    add(EnergyText(one.bill.job_joules + one.bill.idle_joules));
    if (!summaries_.front().currency.empty()) {
      add(one.bill.cost ? Grouped(std::llround(one.bill.cost->jobs)) : "-");
    }
    for (const std::size_t level : levels_) {
      constexpr double kMostBytes = 1e37;
      const std::string& name = summaries_.front().level_bytes[level].first;
      add(BytesText(static_cast<Int128>(std::min(BytesLeaving(one, name), kMostBytes))));
    }
    return row;
  }

  const std::vector<Summary>& summaries_;
  bool variations_, faults_, orders_, backfills_;
  std::vector<std::size_t> levels_;
};

// "a, b and 3 more".
std::string Names(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, names.size()); ++i) {
    text += (i == 0 ? "" : ", ") + Printable(names[i]);
  }
  if (names.size() <= kShown) return text;
  return text + " and " + Grouped(static_cast<std::int64_t>(names.size() - kShown)) + " more";
}

}  // namespace

std::string LongTimeText(double seconds) {
  constexpr double kMinute = 60, kHour = 3600, kDay = 86'400;
  if (seconds < 0.005) return "0 s";
  if (seconds < 2 * kMinute) return ThreeDigits(seconds, "s");
  if (seconds < 2 * kHour) return ThreeDigits(seconds / kMinute, "min");
  if (seconds < 2 * kDay) return ThreeDigits(seconds / kHour, "h");
  return ThreeDigits(seconds / kDay, "d");
}

std::vector<std::size_t> ShownLevels(const simulate::Scenario& scenario,
                                     const std::vector<Summary>& summaries) {
  const fabric::Fabric& fabric = *scenario.on->fabric;
  std::vector<std::size_t> shown;
  for (std::size_t l = 0; l < summaries.front().level_bytes.size(); ++l) {
    const auto tier = fabric::Tier::Of(l + 1);
    const std::string& name = summaries.front().level_bytes[l].first;
    const bool same = l > 0 && tier < fabric.node_tier() &&
                      fabric.domains(tier).size() == fabric.domains(tier - 1).size();
    const bool any = std::any_of(summaries.begin(), summaries.end(),
                                 [&](const Summary& one) { return BytesLeaving(one, name) > 0; });
    if (any && !same) shown.push_back(l);
  }
  return shown;
}

double BytesLeaving(const Summary& one, const std::string& level) {
  for (const auto& [name, bytes] : one.level_bytes) {
    if (name == level) return bytes;
  }
  return 0;
}

std::string EnergyText(double joules) {
  constexpr double kKilowattHour = 3.6e6, kMega = 1e3, kGiga = 1e6;
  const double hours = joules / kKilowattHour;
  if (hours < kMega) return ThreeDigits(hours, "kWh");
  if (hours < kGiga) return ThreeDigits(hours / kMega, "MWh");
  return ThreeDigits(hours / kGiga, "GWh");
}

std::string AdviceText(const Summary& as_it_is, const std::vector<simulate::Advice>& best,
                       const TextOptions& options) {
  Table table({{"CHANGE", Align::kLeft},
               {"WAIT MEAN", Align::kRight},
               {"COMPLETION MEAN", Align::kRight},
               {"P99", Align::kRight},
               {"GAIN", Align::kRight}});
  const auto add = [&](const std::string& what, const simulate::Spread& wait,
                       const simulate::Spread& completion) {
    const double mean = as_it_is.completion.mean;
    const std::string gain =
        mean > 0 && !what.empty() ? Percent((mean - completion.mean) / mean) : "";
    table.Add({{what.empty() ? "as it is" : what},
               {LongTimeText(wait.mean)},
               {LongTimeText(completion.mean)},
               {LongTimeText(completion.p99)},
               {gain}});
  };
  add("", as_it_is.wait, as_it_is.completion);
  for (const simulate::Advice& advice : best) add(advice.what, advice.wait, advice.completion);
  std::string text = table.Show(options.colour) + "\n";
  text +=
      Wrap("",
           best.empty() ? "None of the changes that were tried cuts the mean completion."
                        : "GAIN is the cut in mean completion; each change was simulated alone.",
           0, options.columns);
  return text;
}

std::string SimulateText(const simulate::Scenario& scenario, const std::vector<Summary>& summaries,
                         const TextOptions& options) {
  const fabric::Fabric& fabric = *scenario.on->fabric;
  char load[32];
  std::snprintf(load, sizeof load, "%.2f", scenario.load);
  std::string text =
      Wrap("",
           Counted(static_cast<std::int64_t>(scenario.jobs.size()), "job") + " on " +
               Counted(fabric.node_count(), "node") + " with " +
               Grouped(fabric.AcceleratorsIn(fabric::kOutside, fabric::DomainIndex{0})) +
               " GPUs; offered load " + load + ".",
           0, options.columns);
  if (!scenario.never_fit.empty()) {
    text += Wrap("",
                 Counted(static_cast<std::int64_t>(scenario.never_fit.size()), "job") +
                     " can never fit: " + Names(scenario.never_fit) + ".",
                 0, options.columns);
  }
  text += "\n" + SimulateTable(scenario, summaries).Show(options.colour) + "\n";
  for (const Summary& one : summaries) {
    if (one.never_fit.empty() && one.unfinished == 0) continue;
    std::string line = std::string(simulate::PolicyName(one.rules.policy)) + ": ";
    if (!one.never_fit.empty()) line += "never places " + Names(one.never_fit) + ". ";
    if (one.unfinished > 0) {
      line += Counted(static_cast<std::int64_t>(one.unfinished), "job") +
              " still waited when nothing ran any more.";
    }
    text += Wrap("", line, 0, options.columns);
  }
  return text +
         Wrap("",
              "COMPLETION is from arrival to end; NO CONTENTION is its P99 if jobs did not slow "
              "each other down. USED is the share of GPUs in use until the last arrival. PLACED is "
              "how much longer jobs of several nodes run where they are "
              "placed than on their best nodes; SHARED, how much longer because other jobs use "
              "their links. ENERGY is that of all GPUs with their servers, idle ones included, "
              "without cooling" +
                  std::string(summaries.front().currency.empty()
                                  ? "."
                                  : "; COST, that of the GPU hours that jobs held."),
              0, options.columns);
}

}  // namespace weft::render
