#include "operator/promql/prometheus.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace weft::promql {
namespace {

// Answers every request alike and keeps the last one.
class PrometheusServer final : public kube::Transport {
 public:
  PrometheusServer(int status, std::string body) : answer_{status, {}, std::move(body)} {}

  Result<kube::Response> Send(const kube::Request& request) override {
    asked = request;
    return answer_;
  }
  Result<kube::Response> Stream(const kube::Request&, const kube::ChunkSink&,
                                const kube::Cancel&) override {
    return Error{ErrorKind::kTransient, "no streams"};
  }

  kube::Request asked;

 private:
  kube::Response answer_;
};

std::string FailureOf(int status, const std::string& body) {
  PrometheusServer server(status, body);
  const auto answer = QueryPrometheus(server, {"up", 0});
  return answer ? "answered" : answer.error().message;
}

TEST(PrometheusTest, ReadsAVectorOfSeries) {
  PrometheusServer server(200, R"({"status": "success", "data": {"resultType": "vector", "result": [
      {"metric": {"queue": "q"}, "value": [1000.5, "2.5"]}, {"metric": {}, "value": [1, "3"]}]}})");
  const auto answer = QueryPrometheus(server, {"sum(up)", 1000});
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->size(), 2U);
  EXPECT_EQ((*answer)[0].labels.at("queue"), "q");
  EXPECT_EQ((*answer)[0].value, 2.5);
  EXPECT_TRUE((*answer)[1].labels.empty());
  EXPECT_EQ(server.asked.path, "/api/v1/query");
  EXPECT_EQ(server.asked.query.at("query"), "sum(up)");
  EXPECT_EQ(server.asked.query.at("time"), "1000");
}

TEST(PrometheusTest, TellsTheServersOwnWords) {
  EXPECT_EQ(FailureOf(422, R"({"status": "error", "errorType": "execution", "error": "too many"})"),
            "Prometheus answered with status 422: too many");
  EXPECT_EQ(FailureOf(404, "no such page"), "Prometheus answered with status 404: no such page");
}

TEST(PrometheusTest, OtherAnswersAreRefused) {
  const std::string refused = "the server's answer is not one of Prometheus' HTTP API";
  for (const char* body :
       {"", "<html>", "[]", "{}", R"({"data": {"result": 1}})", R"({"data": {"result": [1]}})",
        R"({"data": {"result": [{"metric": {}, "value": [1]}]}})",
        R"({"data": {"result": [{"metric": [], "value": [1, "2"]}]}})"}) {
    EXPECT_EQ(FailureOf(200, body), refused) << body;
  }
}

TEST(PrometheusTest, ServerNeedsAnHttpUrl) {
  const auto config = ConfigOf({"https://prometheus.example.com/", "token", "ca.pem"});
  ASSERT_TRUE(config);
  EXPECT_EQ(config->server, "https://prometheus.example.com");
  EXPECT_EQ(config->token.file, "token");
  EXPECT_EQ(config->authority.file, "ca.pem");
  EXPECT_FALSE(config->insecure);
  const auto wrong = ConfigOf({"prometheus:9090"});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(wrong.error().message,
            "--prometheus: \"prometheus:9090\" must begin with http:// or https://, such as "
            "http://127.0.0.1:9090");
}

}  // namespace
}  // namespace weft::promql
