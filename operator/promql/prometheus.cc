#include "operator/promql/prometheus.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

namespace weft::promql {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostShown = 200;  // of an answer that is not Prometheus'
// "HTTP API", format overview: parameters are wrong; the expression cannot be executed, for
// instance because it reads too many samples.
constexpr int kBadQuery = 400, kNotExecuted = 422;

Error Refused(const kube::Response& response) {
  const Json json = Json::parse(response.body, nullptr, false);
  std::string why = json.is_object() && json.contains("error") && json["error"].is_string()
                        ? json["error"].get<std::string>()
                        : response.body.substr(0, kMostShown);
  const bool query = response.status == kBadQuery || response.status == kNotExecuted;
  return {query ? ErrorKind::kInvalid : ErrorKind::kTransient,
          "Prometheus answered with status " + std::to_string(response.status) + ": " + why};
}

Error NotPrometheus() {
  return {ErrorKind::kTransient, "the server's answer is not one of Prometheus' HTTP API"};
}

// {"metric": {...}, "value": [time, "text"]}.
std::optional<Sample> SampleOf(const Json& json) {
  const auto metric = json.find("metric"), value = json.find("value");
  if (metric == json.end() || !metric->is_object()) return std::nullopt;
  if (value == json.end() || !value->is_array() || value->size() != 2 || !(*value)[1].is_string()) {
    return std::nullopt;
  }
  Sample sample;
  for (const auto& [label, text] : metric->items()) {
    if (text.is_string()) sample.labels[label] = text.get<std::string>();
  }
  sample.value = std::strtod((*value)[1].get_ref<const std::string&>().c_str(), nullptr);
  return sample;
}

}  // namespace

Result<kube::Config> ConfigOf(const Server& server) {
  const std::string& url = server.url;
  if (!url.starts_with("http://") && !url.starts_with("https://")) {
    return Invalid("--prometheus: \"" + url +
                   "\" must begin with http:// or https://, such as http://127.0.0.1:9090");
  }
  kube::Config config;
  config.server = url.substr(0, url.find_last_not_of('/') + 1);
  config.token.file = server.token_file;
  config.authority.file = server.authority_file;
  config.insecure = server.insecure;
  return config;
}

Result<std::vector<Sample>> QueryPrometheus(kube::Transport& server, const Query& query) {
  kube::Request request;
  request.path = "/api/v1/query";
  request.query = {{"query", query.text}, {"time", std::to_string(query.at)}};
  request.timeout = query.timeout;
  request.until = query.until;
  const auto response = server.Send(request);
  if (!response) return Error{ErrorKind::kTransient, response.error().message};
  if (response->status != 200) return Refused(*response);
  const Json json = Json::parse(response->body, nullptr, false);
  const Json::json_pointer where("/data/result");
  if (!json.is_object() || !json.contains(where) || !json[where].is_array()) return NotPrometheus();
  std::vector<Sample> answer;
  for (const Json& item : json[where]) {
    auto sample = item.is_object() ? SampleOf(item) : std::nullopt;
    if (!sample) return NotPrometheus();
    answer.push_back(*std::move(sample));
  }
  return answer;
}

}  // namespace weft::promql
