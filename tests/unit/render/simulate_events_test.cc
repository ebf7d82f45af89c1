#include "operator/render/simulate_events.h"

#include <gtest/gtest.h>

#include "operator/simulate/summary.h"
#include "tests/unit/simulate/fleet_scene.h"

namespace weft::render {
namespace {

using simulate::Event;
using simulate::EventKind;
using simulate::FleetScene;

std::vector<Event> EventsOf(const FleetScene& scene, simulate::RunOptions options = {}) {
  std::vector<Event> events;
  options.observe = [&](Event&& event) { events.push_back(std::move(event)); };
  simulate::Summarise(scene.scenario, options);
  return events;
}

TEST(SimulateEvents, TellsWhenEachJobArrivedStartedAndEndedAndWhere) {
  const FleetScene scene(testing::Leaves({{8, 8}}),
                         {{.name = "a", .run = 10, .workers = 2},
                          {.name = "b", .arrival = 3, .run = 5, .workers = 2},
                          {.name = "c", .arrival = 4, .run = 2, .gpus = 4}});
  EXPECT_EQ(EventLines("weft", scene.scenario, EventsOf(scene)),
            "weft,0,arrive,ns/a,16,\n"
            "weft,0,start,ns/a,16,n0 n1\n"
            "weft,3,arrive,ns/b,16,\n"
            "weft,4,arrive,ns/c,4,\n"
            "weft,10,end,ns/a,16,\n"
            "weft,10,start,ns/b,16,n0 n1\n"
            "weft,15,end,ns/b,16,\n"
            "weft,15,start,ns/c,4,n0\n"
            "weft,17,end,ns/c,4,\n");
}

TEST(SimulateEvents, QuotesNamesThatHoldACommaOrAQuote) {
  FleetScene scene(testing::Leaves({{8}}), {{.name = "a", .run = 1}});
  scene.scenario.jobs[0].name = "say \"a, b\"";
  const std::vector<Event> events = {{1'500'000, EventKind::kEnd, 0, {}}};
  EXPECT_EQ(EventLines("weft, age", scene.scenario, events),
            "\"weft, age\",1.5,end,\"say \"\"a, b\"\"\",8,\n");
}

TEST(SimulateEvents, TellsWhichNodeFailedAndWhichJobsStartAgain) {
  const FleetScene scene(testing::Leaves({{8, 8}}), {{.name = "a", .run = 5'000'000}});
  simulate::RunOptions options;
  options.faults.failures = 40;
  const std::vector<Event> events = EventsOf(scene, options);
  const std::string text = EventLines("weft", scene.scenario, events);
  std::size_t lost = 0, restarts = 0, starts = 0;
  for (const Event& event : events) {
    lost += event.kind == EventKind::kLose ? 1U : 0U;
    restarts += event.kind == EventKind::kRestart ? 1U : 0U;
    starts += event.kind == EventKind::kStart ? 1U : 0U;
  }
  EXPECT_GT(lost, restarts);  // some meet the node that is idle
  EXPECT_GT(restarts, 0U);
  EXPECT_EQ(starts, restarts + 1);
  EXPECT_NE(text.find(",lose,,,n0\n"), std::string::npos);
  EXPECT_NE(text.find(",return,,,n0\n"), std::string::npos);
}

}  // namespace
}  // namespace weft::render
