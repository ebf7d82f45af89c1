#include "operator/render/compare_text.h"

#include <algorithm>
#include <array>

#include "operator/render/table.h"

namespace weft::render {

namespace {

using decide::CompareJob;
using decide::CompareReport;
using decide::LevelBytes;
using decide::Policy;
using decide::PolicyOutcome;
using ByPolicy = std::array<PolicyOutcome, decide::kPolicies>;

constexpr std::array<Policy, decide::kPolicies> kAll = {Policy::kWeft, Policy::kFirstFit,
                                                        Policy::kFewestDomains, Policy::kRandom};

const PolicyOutcome& Of(const ByPolicy& by_policy, Policy policy) {
  return by_policy[static_cast<std::size_t>(policy)];
}

// Levels whose domains can be left, narrowest first: every one but outside, and but a scale-up
// network that crosses the levels, which nothing leaves.
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

std::string Upper(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

constexpr std::size_t kRatioWidth = 7;  // "  1.20x"

// "12.6 TB  1.20x": the bytes, and how many times Weft's they are.
Cell BytesCell(Int128 bytes, Int128 weft, bool is_weft) {
  if (is_weft) return {BytesText(bytes) + std::string(kRatioWidth, ' '), Colour::kGreen};
  std::string ratio = Ratio(static_cast<double>(bytes), static_cast<double>(weft));
  ratio.insert(0, std::max(kRatioWidth, ratio.size()) - ratio.size(), ' ');
  return {BytesText(bytes) + ratio, Colour::kNone};
}

std::string OutcomeTable(const ByPolicy& by_policy, bool modelled, const TextOptions& options) {
  if (std::none_of(by_policy.begin(), by_policy.end(), [](const auto& o) { return o.placed; })) {
    return "  placed by none\n";
  }
  const std::vector<std::string> levels = Columns(by_policy);
  std::vector<Table::Column> columns = {{"  PLACED BY"}};
  if (modelled) {
    columns.push_back({"CROSS NODES", Align::kRight});
    for (const std::string& level : levels) {
      columns.push_back({"LEAVE " + Upper(Printable(level)), Align::kRight});
    }
    columns.push_back({"COMM", Align::kRight});
  }
  columns.push_back({"COST", Align::kRight});
  Table table(std::move(columns));
  const PolicyOutcome& weft = Of(by_policy, Policy::kWeft);
  for (const Policy policy : kAll) {
    const PolicyOutcome& outcome = Of(by_policy, policy);
    const bool is_weft = policy == Policy::kWeft;
    const Colour colour = is_weft ? Colour::kGreen : Colour::kNone;
    std::vector<Cell> row = {{"  " + std::string(decide::PolicyName(policy)), colour}};
    if (!outcome.placed) {
      row.push_back({"not placed", Colour::kRed});
      table.Add(std::move(row));
      continue;
    }
    if (modelled) {
      row.push_back(BytesCell(outcome.cross_node_bytes, weft.cross_node_bytes, is_weft));
      for (const std::string& level : levels) {
        row.push_back(BytesCell(Crossing(outcome, level), Crossing(weft, level), is_weft));
      }
      row.push_back({MillisecondsText(outcome.communication_milliseconds), colour});
    }
    row.push_back(
        {Ratio(static_cast<double>(outcome.cost), static_cast<double>(weft.cost)), colour});
    table.Add(std::move(row));
  }
  return table.Show(options.colour);
}

std::string Title(const std::string& text, const TextOptions& options) {
  return Paint(text, Colour::kBold, options.colour) + "\n";
}

}  // namespace

std::string CompareText(const decide::Cluster& cluster, const decide::CompareReport& report,
                        const TextOptions& options) {
  if (report.jobs.empty()) return "";
  std::string text;
  if (report.compared > 1) {
    const std::string jobs = Counted(static_cast<std::int64_t>(report.compared), "job");
    text += Title("All " + jobs + " that every scheduler placed, one step each", options);
    text += OutcomeTable(report.total, true, options);
  }
  for (const CompareJob& job : report.jobs) {
    const std::string on =
        cluster.fabrics.size() > 1 ? " on " + cluster.fabrics[job.fabric].name() : "";
    if (!text.empty()) text += "\n";
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
           "of level X; COMM: communication without overlap; COST: of the objective, relative to "
           "Weft's.",
           0, options.columns);
  return text;
}

}  // namespace weft::render
