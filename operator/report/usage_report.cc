#include "operator/report/usage_report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "operator/outlook/accelerators.h"

namespace weft::report {
namespace {

using TeamKey = std::pair<std::string, std::string>;  // namespace, queue
using Teams = std::map<TeamKey, TeamUsage>;

std::string At(const Sample& sample, const std::string& label) {
  const auto found = sample.labels.find(label);
  return found == sample.labels.end() ? std::string() : found->second;
}

TeamUsage& TeamOf(const Sample& sample, Teams& teams) {
  TeamKey key{At(sample, "workload_namespace"), At(sample, "queue")};
  TeamUsage& team = teams[key];
  std::tie(team.space, team.queue) = std::move(key);
  return team;
}

// "a,b" or the one of both that is not empty, in braces.
std::string Matchers(const std::string& own, const std::string& match) {
  const char* comma = own.empty() || match.empty() ? "" : ",";
  return "{" + own + comma + match + "}";
}

// A subquery whose points lie in (until - period, until] in every version: Prometheus 2 counts the
// left end of a range, 3 does not.
std::string Over(const std::string& expression, const Period& period) {
  return "(" + expression + ")[" + std::to_string(period.seconds - 1) +
         "s:" + std::to_string(period.Step()) + "s]";
}

std::string Hours(const std::string& expression, const Period& period) {
  return "sum_over_time(" + Over(expression, period) + ") * " + std::to_string(period.Step()) +
         " / 3600";
}

// Without the copies of other replicas.
std::string Pools(const char* state, const std::string& match) {
  return "sum by (workload_namespace, queue, product, capacity_type) (max by (fabric, "
         "workload_namespace, queue, accelerator, product, capacity_type) "
         "(weft_usage_accelerators" +
         Matchers(std::string("state=\"") + state + "\"", match) + "))";
}

// "NVIDIA-L4" of "NVIDIA-L4 time slice 1/4" (fabric::Pool::UnitOf): as the table of prices names
// it.
std::string ProductOfUnit(std::string_view unit) {
  std::size_t end = unit.size();
  for (const std::string_view part : {" MIG ", " time slice", " MPS", " vGPU", " vNPU ",
                                      " memory or cores", " CPX", " DPX", " TPX", " QPX"}) {
    end = std::min(end, unit.find(part));
  }
  return std::string(fabric::WholeProduct(unit.substr(0, end)));
}

double Price(const Sample& sample, const outlook::Prices& prices, std::set<std::string>& unpriced) {
  const std::string unit = At(sample, "product"), product = ProductOfUnit(unit);
  const auto share = fabric::ShareOfUnit(unit);
  const auto found = outlook::FindAccelerator(product);
  const bool spot = At(sample, "capacity_type") == "Spot";
  const auto price = prices.PerHour(found ? std::string(found->name) : product,
                                    spot ? outlook::Terms::kSpot : prices.terms);
  if (price && share) return *price * *share;
  unpriced.insert(unit.empty() ? "unknown product" : unit);
  return 0;
}

void AddAllocated(const std::vector<Sample>& answer, const outlook::Prices* prices, Teams& teams,
                  UsageReport& report) {
  std::set<std::string> unpriced;
  for (const Sample& sample : answer) {
    TeamUsage& team = TeamOf(sample, teams);
    team.allocated += sample.value;
    if (prices == nullptr) continue;
    team.cost = team.cost.value_or(0) + sample.value * Price(sample, *prices, unpriced);
  }
  report.unpriced.assign(unpriced.begin(), unpriced.end());
}

void AddFleet(const std::vector<Sample>& answer, UsageReport& report) {
  for (const Sample& sample : answer) {
    report.all += sample.value;
    if (At(sample, "state") == "free") report.free = sample.value;
    if (At(sample, "state") == "unavailable") report.unavailable = sample.value;
  }
}

void AddTo(TeamUsage& total, const TeamUsage& team) {
  total.allocated += team.allocated;
  total.stranded += team.stranded;
  total.lost += team.lost;
  if (team.busy) total.busy = total.busy.value_or(0) + *team.busy;
  if (team.cost) total.cost = total.cost.value_or(0) + *team.cost;
}

// Nothing finer than a thousandth of an hour: rates are extrapolated anyway.
double Rounded(double hours) { return std::round(hours * 1000) / 1000; }

nlohmann::ordered_json TeamJson(const TeamUsage& team) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  json["allocatedHours"] = Rounded(team.allocated);
  if (team.busy) json["busyHours"] = Rounded(*team.busy);
  json["strandedHours"] = Rounded(team.stranded);
  json["lostHours"] = Rounded(team.lost);
  if (team.cost) json["cost"] = Rounded(*team.cost);
  return json;
}

}  // namespace

std::int64_t Period::Step() const {
  constexpr std::int64_t kMinute = 60, kMostSteps = 2016;
  return std::max(kMinute, (seconds / kMostSteps + kMinute - 1) / kMinute * kMinute);
}

std::string QueryText(UsageQuery query, const Period& period, const std::string& match) {
  switch (query) {
    case UsageQuery::kAllocated:
      return Hours(Pools("allocated", match), period);
    case UsageQuery::kStranded:
      return Hours(Pools("stranded", match), period);
    case UsageQuery::kBusy:
      return Hours("sum by (workload_namespace, queue) (team:weft_accelerators_busy:sum" +
                       Matchers("", match) + ")",
                   period);
    case UsageQuery::kLost:
      return "sum by (workload_namespace, queue) (increase(weft_lost_accelerator_seconds_total" +
             Matchers("", match) + "[" + std::to_string(period.seconds) + "s])) / 3600";
    case UsageQuery::kFleet:
      return Hours(
          "sum by (state) (max by (fabric, accelerator, product, state) "
          "(weft_fabric_accelerators" +
              Matchers("", match) + "))",
          period);
    case UsageQuery::kCovered:
      return "count_over_time(" + Over("max(weft_leader" + Matchers("", match) + ") == 1", period) +
             ") * " + std::to_string(period.Step());
  }
  return "";
}

UsageReport MakeUsageReport(const UsageAnswers& answers, const Period& period,
                            const std::string& space, const outlook::Prices* prices) {
  const auto of = [&answers](UsageQuery query) -> const std::vector<Sample>& {
    return answers[static_cast<std::size_t>(query)];
  };
  UsageReport report;
  report.period = period;
  report.space = space;
  Teams teams;
  AddAllocated(of(UsageQuery::kAllocated), prices, teams, report);
  for (const Sample& one : of(UsageQuery::kStranded)) TeamOf(one, teams).stranded += one.value;
  for (const Sample& one : of(UsageQuery::kLost)) TeamOf(one, teams).lost += one.value;
  for (const Sample& one : of(UsageQuery::kBusy)) {
    TeamUsage& team = TeamOf(one, teams);
    team.busy = team.busy.value_or(0) + one.value;
  }
  AddFleet(of(UsageQuery::kFleet), report);
  for (const Sample& one : of(UsageQuery::kCovered)) {
    report.covered_seconds = std::min<std::int64_t>(std::llround(one.value), period.seconds);
  }
  for (auto& [key, team] : teams) {
    if (report.covered_seconds == 0) break;
    if (!space.empty() && team.space != space) continue;
    AddTo(report.total, team);
    report.teams.push_back(std::move(team));
  }
  std::stable_sort(report.teams.begin(), report.teams.end(),
                   [](const auto& a, const auto& b) { return a.allocated > b.allocated; });
  if (prices != nullptr) report.currency = prices->currency;
  return report;
}

nlohmann::ordered_json UsageJson(const UsageReport& report) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  json["since"] = FormatTime(report.period.until - report.period.seconds);
  json["until"] = FormatTime(report.period.until);
  json["coveredSeconds"] = report.covered_seconds;
  if (report.covered_seconds == 0) {
    json["teams"] = nlohmann::ordered_json::array();
    return json;
  }
  json["fleet"] = {{"acceleratorHours", Rounded(report.all)},
                   {"freeHours", Rounded(report.free)},
                   {"unavailableHours", Rounded(report.unavailable)}};
  json["teams"] = nlohmann::ordered_json::array();
  for (const TeamUsage& team : report.teams) {
    nlohmann::ordered_json one = {{"namespace", team.space}};
    if (!team.queue.empty()) one["queue"] = team.queue;
    one.update(TeamJson(team));
    json["teams"].push_back(std::move(one));
  }
  json["total"] = TeamJson(report.total);
  if (!report.currency.empty()) json["currency"] = report.currency;
  if (!report.unpriced.empty()) json["unpriced"] = report.unpriced;
  return json;
}

}  // namespace weft::report
