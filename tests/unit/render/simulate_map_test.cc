#include "operator/render/simulate_map.h"

#include <gtest/gtest.h>

#include "operator/render/simulate_html.h"
#include "operator/render/simulate_text.h"
#include "operator/simulate/summary.h"
#include "tests/unit/simulate/fleet_scene.h"

namespace weft::render {
namespace {

using simulate::FleetScene;

struct Ran {
  explicit Ran(const FleetScene& scene) {
    simulate::RunOptions options;
    options.observe = [this](simulate::Event&& event) { events.push_back(std::move(event)); };
    summary = simulate::Summarise(scene.scenario, options);
  }
  std::vector<simulate::Event> events;
  simulate::Summary summary;
};

// `a` runs on two nodes of four until 1,000 s; `b`, which needs three, waits for it; `c` runs
// beside `a` from 40 s on.
FleetScene Three() {
  return FleetScene(testing::FourNodes(),
                    {{"a", 0, 1000, 2}, {"b", 10, 500, 3}, {"c", 40, 100, 1, 4}});
}

TEST(SimulateMap, ShowsWhoRunsAndWhoWaitsAtATime) {
  const FleetScene scene = Three();
  const Ran ran(scene);
  const FleetMap map = MapAt(scene.scenario, ran.events, 100);
  ASSERT_EQ(map.input.jobs.size(), 2U);
  EXPECT_EQ(map.input.jobs[0].name, "ns/a");
  EXPECT_EQ(map.input.jobs[0].spans, "1 spine, 1 leaf, 2 node");
  EXPECT_EQ(map.input.jobs[0].why, "did not wait, runs for 100 s");
  EXPECT_EQ(map.input.jobs[1].name, "ns/c");
  EXPECT_EQ(map.input.jobs[1].gpus_per_worker, 4U);
  EXPECT_EQ(map.input.jobs[1].why, "did not wait, runs for 60.0 s");
  EXPECT_EQ(map.waiting, 1U);
  EXPECT_DOUBLE_EQ(map.longest_wait, 90);
}

TEST(SimulateMap, TakesTheEventsOfTheMomentIn) {
  const FleetScene scene = Three();
  const Ran ran(scene);
  const FleetMap map = MapAt(scene.scenario, ran.events, 1000);
  ASSERT_EQ(map.input.jobs.size(), 1U);
  EXPECT_EQ(map.input.jobs[0].name, "ns/b");
  EXPECT_EQ(map.input.jobs[0].why, "waited 16.5 min, runs for 0 s");
  EXPECT_EQ(map.waiting, 0U);
  EXPECT_TRUE(MapAt(scene.scenario, ran.events, 1e6).input.jobs.empty());
}

TEST(SimulateMap, IsOfTheTimeWhenTheMostGpusAreWaitedFor) {
  const FleetScene scene = Three();
  const Ran ran(scene);
  const double seconds = BusiestSeconds(ran.summary.series);
  EXPECT_GE(seconds, 10);
  EXPECT_LE(seconds, 1000);
  EXPECT_EQ(BusiestSeconds({}), 0);
}

TEST(SimulateHtml, HasAChartOfStrandedGpusAndTheMaps) {
  const FleetScene scene = Three();
  const Ran ran(scene);
  const std::string page =
      SimulateHtml(scene.scenario, {ran.summary}, {MapAt(scene.scenario, ran.events, 100)});
  EXPECT_NE(page.find("<h2>Stranded GPUs</h2>"), std::string::npos);
  EXPECT_NE(page.find("After 100 s: 2 jobs running, 1 waiting for up to 90.0 s."),
            std::string::npos);
  EXPECT_NE(page.find("ns/c: worker 0 (4 GPUs)"), std::string::npos);
  EXPECT_NE(page.find("<th>Energy</th>"), std::string::npos);
  EXPECT_EQ(page.find("<th>Cost"), std::string::npos);
}

TEST(SimulateText, SaysEnergyInKilowattHoursAndUp) {
  EXPECT_EQ(EnergyText(0), "0.00 kWh");
  EXPECT_EQ(EnergyText(3.6e6 * 12.34), "12.3 kWh");
  EXPECT_EQ(EnergyText(3.6e6 * 83'210), "83.2 MWh");
  EXPECT_EQ(EnergyText(3.6e6 * 1.5e6), "1.50 GWh");
}

}  // namespace
}  // namespace weft::render
