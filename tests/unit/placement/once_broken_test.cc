// Random problems (tests/fuzz/instances.cc) on which a promise was once broken.
#include <gtest/gtest.h>

#include <variant>

#include "operator/objective/hard_rules.h"
#include "operator/objective/instance.h"
#include "operator/placement/place.h"
#include "tests/support/any_instance.h"

namespace weft::placement {
namespace {

using testing::RandomInstance;

void ExpectPlacedInItsRooms(const RandomInstance& problem) {
  objective::Options options;
  options.cost_tolerance_percent = 0;
  const Placement placement = Place(*problem.claims, problem.request, *problem.graph, options);
  const Plan* plan = std::get_if<Plan>(&placement);
  ASSERT_NE(plan, nullptr);
  const objective::Instance instance(*problem.claims, problem.request, *problem.graph, options,
                                     plan->pools);
  EXPECT_TRUE(objective::MeetsHardRules(instance, plan->nodes));
}

// A leaf without power for all its nodes gives it to those that come first. A restart is solved
// again among fewer nodes, where others came first, and took more of a node than its bound counted.
TEST(OnceBroken, ARestartUnderAPowerLimitTakesTheRoomsThatItsBoundCounts) {
  const RandomInstance problem = testing::MakeAnyInstance(10'089'094, {});
  ASSERT_TRUE(problem.fabric->limits_power());
  ASSERT_FALSE(problem.request.previous_nodes.empty());
  ExpectPlacedInItsRooms(problem);
}

// Parts of a ring went to an NVLink domain that counted as unused because one of two rings in it
// had left.
TEST(OnceBroken, PartsOfARingGoToNoDomainThatAnotherRingIsIn) {
  const RandomInstance problem = testing::MakeAnyInstance(10'583'869, {});
  ASSERT_TRUE(problem.request.ring);
  ExpectPlacedInItsRooms(problem);
}

}  // namespace
}  // namespace weft::placement
