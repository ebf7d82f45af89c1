#include "operator/render/compare_text.h"

#include <algorithm>
#include <array>

#include "operator/render/table.h"

namespace weft::render {

namespace {

using report::CompareJob;
using report::CompareReport;
using report::LevelBytes;
using report::Policy;
using report::PolicyOutcome;
using ByPolicy = std::array<PolicyOutcome, report::kPolicies>;

constexpr std::array<Policy, report::kPolicies> kAll = {Policy::kWeft, Policy::kFirstFit,
                                                        Policy::kFewestDomains, Policy::kRandom};

const PolicyOutcome& Of(const ByPolicy& by_policy, Policy policy) {
  return by_policy[static_cast<std::size_t>(policy)];
}

// Levels whose domains bytes can leave, narrowest first: all except outside and a scale-up network
// that crosses the levels.
std::vector<std::string> Columns(const ByPolicy& by_policy) {
  std::vector<std::string> names;
  for (const PolicyOutcome& outcome : by_policy) {
    for (auto level = outcome.levels.rbegin(); level != outcome.levels.rend(); ++level) {
      if (level->level == "outside" || level->crossing == 0) continue;
      if (std::find(names.begin(), names.end(), level->level) == names.end()) {
        names.push_back(level->level);
      }
    }
  }
  return names;
}

Int128 Crossing(const PolicyOutcome& outcome, const std::string& name) {
  for (const LevelBytes& level : outcome.levels) {
    if (level.level == name) return level.crossing;
  }
  return 0;
}

// One figure of every policy's placement.
struct Measure {
  std::string title;
  std::array<std::string, report::kPolicies> value, ratio;  // ratio: "" for Weft
  bool same = true;                                         // for all policies that placed it
};

Measure Measured(const ByPolicy& by_policy, std::string title, const auto& figure,
                 const auto& shown) {
  Measure measure{std::move(title), {}, {}, true};
  const auto weft = figure(Of(by_policy, Policy::kWeft));
  const bool weft_placed = Of(by_policy, Policy::kWeft).placed;
  for (const Policy policy : kAll) {
    const PolicyOutcome& outcome = Of(by_policy, policy);
    const auto p = static_cast<std::size_t>(policy);
    if (!outcome.placed) continue;
    measure.value[p] = shown(figure(outcome));
    if (!weft_placed) continue;
    if (policy != Policy::kWeft) {
      measure.ratio[p] = Ratio(static_cast<double>(figure(outcome)), static_cast<double>(weft));
    }
    measure.same = measure.same && shown(figure(outcome)) == shown(weft);
  }
  return measure;
}

// Bytes that leave narrow domains first, then the figures that follow from the bytes.
std::vector<Measure> Measures(const ByPolicy& by_policy, bool modelled) {
  std::vector<Measure> measures;
  if (modelled) {
    measures.push_back(Measured(
        by_policy, "CROSS NODES", [](const PolicyOutcome& one) { return one.cross_node_bytes; },
        BytesText));
    for (const std::string& level : Columns(by_policy)) {
      measures.push_back(Measured(
          by_policy, "LEAVE " + Upper(Printable(level)),
          [&](const PolicyOutcome& one) { return Crossing(one, level); }, BytesText));
    }
    measures.push_back(Measured(
        by_policy, "COMM", [](const PolicyOutcome& one) { return one.communication_milliseconds; },
        MillisecondsText));
  }
  const auto weft = static_cast<double>(Of(by_policy, Policy::kWeft).cost);
  measures.push_back(Measured(
      by_policy, "COST", [](const PolicyOutcome& one) { return static_cast<double>(one.cost); },
      [=](double cost) { return Ratio(cost, weft); }));
  return measures;
}

constexpr const char* kCost = "COST";  // the cost is a ratio itself

// The figure and its ratio to Weft's: "12.6 TB 1.20x".
Cell FigureCell(const Measure& measure, Policy policy) {
  constexpr std::size_t kRatioWidth = 7;  // "  1.20x"
  const auto p = static_cast<std::size_t>(policy);
  const Colour colour = policy == Policy::kWeft ? Colour::kGreen : Colour::kNone;
  if (measure.title == kCost) return {measure.value[p], colour};
  std::string ratio = measure.ratio[p];
  ratio.insert(0, std::max(kRatioWidth, ratio.size() + 1) - ratio.size(), ' ');
  return {measure.value[p] + ratio, colour};
}

constexpr std::string_view kEqual = "1.00x";  // a ratio below one percent

// Whether a scheduler's figure differs from Weft's by one percent or more.
bool Differs(const Measure& measure) {
  return !measure.same && std::any_of(measure.ratio.begin(), measure.ratio.end(),
                                      [&](const auto& r) { return !r.empty() && r != kEqual; });
}

// "The first column that differs is LEAVE LEAF: weft 2.3 TB, first fit 107 TB (46.7x), ..."; "" if
// nothing differs.
std::string FirstDifference(const ByPolicy& by_policy) {
  const std::vector<Measure> measures = Measures(by_policy, true);
  const auto first = std::find_if(measures.begin(), measures.end(), Differs);
  if (first == measures.end()) return "";
  std::string text;
  for (const Policy policy : kAll) {
    const auto p = static_cast<std::size_t>(policy);
    if (!Of(by_policy, policy).placed) continue;
    text += (text.empty() ? "" : ", ") + std::string(report::PolicyName(policy)) + " " +
            first->value[p];
    const std::string& ratio = first->ratio[p];
    const bool says = !ratio.empty() && ratio != "-" && ratio != kEqual;
    if (says && first->title != kCost) text += " (" + ratio + ")";
  }
  return "The first column that differs is " + first->title + ": " + text + ".";
}

std::string DifferenceTable(const std::vector<Measure>& measures, const ByPolicy& by_policy,
                            const TextOptions& options) {
  std::vector<Table::Column> columns = {{"  PLACED BY"}};
  for (const Measure& measure : measures) {
    if (!measure.same) columns.push_back({measure.title, Align::kRight});
  }
  if (columns.size() == 1) columns.push_back({"", Align::kLeft});  // if a policy placed no job
  Table table(std::move(columns));
  for (const Policy policy : kAll) {
    const bool is_weft = policy == Policy::kWeft;
    std::vector<Cell> row = {
        {"  " + std::string(report::PolicyName(policy)), is_weft ? Colour::kGreen : Colour::kNone}};
    if (!Of(by_policy, policy).placed) row.push_back({"not placed", Colour::kRed});
    for (const Measure& measure : measures) {
      const bool shown = Of(by_policy, policy).placed && !measure.same;
      if (shown) row.push_back(FigureCell(measure, policy));
    }
    table.Add(std::move(row));
  }
  return table.Show(options.colour);
}

// A table of the figures that differ between the schedulers, and a line with those that do not.
std::string OutcomeTable(const ByPolicy& by_policy, bool modelled, const TextOptions& options) {
  const auto placed = [](const PolicyOutcome& outcome) { return outcome.placed; };
  if (std::none_of(by_policy.begin(), by_policy.end(), placed)) return "  placed by none\n";
  const std::vector<Measure> measures = Measures(by_policy, modelled);
  const auto first = std::find_if(measures.begin(), measures.end(),
                                  [](const Measure& measure) { return !measure.same; });
  const bool all = std::all_of(by_policy.begin(), by_policy.end(), placed);
  std::string same, text;
  const auto any = std::find_if(by_policy.begin(), by_policy.end(), placed) - by_policy.begin();
  for (const Measure& measure : measures) {
    if (!measure.same) continue;
    const std::string& value = measure.value[static_cast<std::size_t>(any)];
    same += (same.empty() ? "" : ", ") + measure.title + " " + value;
  }
  if (first != measures.end() || !all) text += DifferenceTable(measures, by_policy, options);
  return same.empty() ? text
                      : text + Wrap("  ", "The same for all: " + same + ".", 2, options.columns);
}

std::string Title(const std::string& text, const TextOptions& options) {
  return Paint(text, Colour::kBold, options.colour) + "\n";
}

}  // namespace

std::string CompareText(const cluster::Cluster& cluster, const report::CompareReport& report,
                        const TextOptions& options) {
  if (report.jobs.empty()) return "";
  std::string text;
  if (report.compared > 0) {
    const std::string difference = FirstDifference(report.total);
    if (!difference.empty()) text += Wrap("", difference, 2, options.columns) + "\n";
  }
  if (report.compared > 1) {
    const std::string jobs = Counted(static_cast<std::int64_t>(report.compared), "job");
    text += Title("All " + jobs + " that every scheduler placed, one step each", options);
    text += OutcomeTable(report.total, true, options);
  }
  for (const CompareJob& job : report.jobs) {
    const std::string on =
        cluster.fabrics.size() > 1 ? " on " + cluster.fabrics[job.fabric].name() : "";
    if (!text.empty() && !text.ends_with("\n\n")) text += "\n";
    text += Title(Printable(api::Show(job.key) + on), options);
    text += OutcomeTable(job.by_policy, job.modelled, options);
  }
  text += "\n";
  text +=
      Wrap("",
           "Computed, not assumed: each scheduler places the whole queue on the same free nodes "
           "under the same node rules. first fit takes nodes by name; fewest domains takes the "
           "narrowest level that holds the job, else the fewest domains, workers in order; random "
           "is the median of five seeds. LEAVE X: bytes of one optimizer step that leave a domain "
           "of level X; COMM: communication of one step without overlap, added up over jobs; COST: "
           "the objective, relative to Weft's. A figure that is the same for all has no column.",
           0, options.columns);
  return text;
}

}  // namespace weft::render
