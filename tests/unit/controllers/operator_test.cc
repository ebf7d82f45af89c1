#include "operator/controllers/operator.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>
#include <thread>

#include "tests/support/scripted_cluster.h"
#include "tests/unit/controllers/leader.h"

namespace weft::controllers {
namespace {

constexpr const char* kUnreadable =
    R"({"kind":"Fabric","metadata":{"name":"f1","resourceVersion":"4"},"spec":{"levels":7}})";

Operator::Options OptionsAt(metrics::Counters& counters) {
  Operator::Options options;
  options.counters = &counters;
  options.jobs.now = options.planner.now = options.fabrics.now =
      options.figures.now = [] { return kStart; };
  return options;
}

TEST(OperatorTest, AnObjectThatCannotBeReadIsLoggedAndCounted) {
  testing::ScriptedCluster cluster(
      std::multimap<std::string, std::string>{{"fabrics", kUnreadable}});
  FakeApi api([] { return kStart; });
  Events events;
  std::promise<std::string> noted;
  Log log({.write =
               [&](const std::string& line) {
                 if (line.find("cannot be read") != line.npos) noted.set_value(line);
               },
           .time = [] { return std::string(); }});
  metrics::Counters counters;
  Operator::Options options = OptionsAt(counters);
  options.read_only = true;
  Operator work(cluster, api, events, log, options);
  work.Start();
  EXPECT_NE(noted.get_future().get().find("object=f1"), std::string::npos);
  work.Stop();
  EXPECT_NE(counters.Text().find("weft_unreadable_objects_total{kind=\"fabrics\"} 1"),
            std::string::npos)
      << counters.Text();
}

constexpr const char* kJob =
    R"({"kind":"TrainingJob","metadata":{"name":"j","namespace":"ns","uid":"u","resourceVersion":"4",)"
    R"("deletionTimestamp":"2026-08-22T10:00:00Z"},"spec":{}})";

constexpr int kEnough = 20;  // more than the first look and the retries of a second

// How often the only job was looked at: kEnough times, or as often as the time allowed.
int LooksAtJobs(run::Millis look_again, std::chrono::milliseconds patience) {
  testing::ScriptedCluster cluster(std::multimap<std::string, std::string>{{"trainingjobs", kJob}});
  FakeApi api([] { return kStart; });
  Events events;
  Log log({.write = [](const std::string&) {}, .time = [] { return std::string(); }});
  metrics::Counters counters;
  Operator::Options options = OptionsAt(counters);
  options.look_again = look_again;
  Operator work(cluster, api, events, log, options);
  work.Start();
  const auto looks = [&] {
    const std::string text = counters.Text();
    const std::string name = "weft_reconcile_seconds_count{controller=\"trainingjob\"} ";
    const auto at = text.find(name);
    return at == text.npos ? 0 : std::stoi(text.substr(at + name.size()));
  };
  const auto end = std::chrono::steady_clock::now() + patience;
  while (looks() < kEnough && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  work.Stop();
  return looks();
}

TEST(OperatorTest, EverythingIsLookedAtAgain) {
  EXPECT_GE(LooksAtJobs(run::Millis(5), std::chrono::seconds(120)), kEnough);
  EXPECT_LT(LooksAtJobs(run::Millis(0), std::chrono::milliseconds(500)), kEnough);
}

}  // namespace
}  // namespace weft::controllers
