#include "operator/cli/prometheus_source.h"

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace weft::cli {
namespace {

using Json = nlohmann::json;

// Prometheus gives up a query after two minutes by default.
constexpr std::chrono::seconds kQueryTimeout{130};
constexpr std::size_t kMostShown = 200;  // of an answer that is not Prometheus'

Error Refused(const kube::Response& response) {
  const Json json = Json::parse(response.body, nullptr, false);
  std::string why = json.is_object() && json.contains("error") && json["error"].is_string()
                        ? json["error"].get<std::string>()
                        : response.body.substr(0, kMostShown);
  return {ErrorKind::kTransient,
          "Prometheus answered with status " + std::to_string(response.status) + ": " + why};
}

Error NotPrometheus() {
  return {ErrorKind::kTransient, "the server's answer is not one of Prometheus' HTTP API"};
}

// {"metric": {...}, "value": [time, "text"]}.
std::optional<report::Series> SeriesOf(const Json& json) {
  const auto metric = json.find("metric"), value = json.find("value");
  if (metric == json.end() || !metric->is_object()) return std::nullopt;
  if (value == json.end() || !value->is_array() || value->size() != 2 || !(*value)[1].is_string()) {
    return std::nullopt;
  }
  report::Series series;
  for (const auto& [label, text] : metric->items()) {
    if (text.is_string()) series.labels[label] = text.get<std::string>();
  }
  series.value = std::strtod((*value)[1].get_ref<const std::string&>().c_str(), nullptr);
  return series;
}

std::int64_t SecondsOf(char unit) {
  constexpr std::int64_t kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour;
  switch (unit) {
    case 'w':
      return 7 * kDay;
    case 'd':
      return kDay;
    case 'h':
      return kHour;
    case 'm':
      return kMinute;
    default:
      return 0;
  }
}

}  // namespace

Result<std::vector<report::Series>> AskPrometheus(kube::Transport& server, const std::string& query,
                                                  UnixSeconds at) {
  kube::Request request;
  request.path = "/api/v1/query";
  request.query = {{"query", query}, {"time", std::to_string(at)}};
  request.timeout = kQueryTimeout;
  const auto response = server.Send(request);
  if (!response) return response.error();
  if (response->status != 200) return Refused(*response);
  const Json json = Json::parse(response->body, nullptr, false);
  const Json::json_pointer where("/data/result");
  if (!json.is_object() || !json.contains(where) || !json[where].is_array()) return NotPrometheus();
  std::vector<report::Series> answer;
  for (const Json& item : json[where]) {
    auto series = item.is_object() ? SeriesOf(item) : std::nullopt;
    if (!series) return NotPrometheus();
    answer.push_back(*std::move(series));
  }
  return answer;
}

std::optional<std::int64_t> ParsePeriod(const std::string& text) {
  constexpr std::int64_t kLeast = 600, kMost = std::int64_t{3650} * 86'400;
  std::int64_t seconds = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    std::int64_t number = 0;
    const auto [rest, error] = std::from_chars(at, end, number);
    if (error != std::errc() || rest == end || number < 0 || number > kMost) return std::nullopt;
    const std::int64_t unit = SecondsOf(*rest);
    if (unit == 0) return std::nullopt;
    seconds += number * unit;
    if (seconds > kMost) return std::nullopt;
    at = rest + 1;
  }
  return seconds < kLeast ? std::nullopt : std::optional(seconds);
}

}  // namespace weft::cli
