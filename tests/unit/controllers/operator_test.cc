#include "operator/controllers/operator.h"

#include <gtest/gtest.h>

#include <future>
#include <string>

#include "tests/support/scripted_cluster.h"
#include "tests/unit/controllers/leader.h"

namespace weft::controllers {
namespace {

constexpr const char* kUnreadable =
    R"({"kind":"Fabric","metadata":{"name":"f1","resourceVersion":"4"},"spec":{"levels":7}})";

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
  Operator::Options options;
  options.read_only = true;
  options.counters = &counters;
  options.jobs.now = options.planner.now = options.fabrics.now =
      options.figures.now = [] { return kStart; };
  Operator work(cluster, api, events, log, options);
  work.Start();
  EXPECT_NE(noted.get_future().get().find("object=f1"), std::string::npos);
  work.Stop();
  EXPECT_NE(counters.Text().find("weft_unreadable_objects_total{kind=\"fabrics\"} 1"),
            std::string::npos)
      << counters.Text();
}

}  // namespace
}  // namespace weft::controllers
