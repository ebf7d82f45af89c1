// Large jobs, so that no change makes their placements worse unseen: the cost and the preferences
// of each may only fall, and the bound only rise. A change that gains updates the table: what it
// should hold is printed where a line differs.
#include <cstdio>
#include <set>

#include "gtest/gtest.h"
#include "operator/objective/levels.h"
#include "operator/placement/place.h"
#include "tests/support/large_instance.h"

namespace weft::placement {
namespace {

using weft::testing::Family;

struct Golden {
  Family family;
  std::uint64_t seed;
  double cost, bound;  // femtoseconds
  std::uint32_t missed;
};

constexpr weft::testing::LargeOptions kSizes = {
    .fewest_nodes = 1000, .most_nodes = 3000, .fewest_workers = 128, .most_workers = 768};
constexpr double kRounding = 1e-5;  // of the table's digits

class QualityTest : public ::testing::TestWithParam<Golden> {};

TEST_P(QualityTest, IsNoWorseThanItWas) {
  const Golden& golden = GetParam();
  const auto instance = weft::testing::MakeLargeInstance(golden.family, golden.seed, kSizes);
  objective::Options options;
  options.cost_tolerance_percent = 0;
  const Placement placement = Place(*instance.claims, instance.request, *instance.graph, options);
  const Plan* plan = std::get_if<Plan>(&placement);
  ASSERT_NE(plan, nullptr) << instance.what;
  char line[200];
  std::snprintf(line, sizeof line, "%s: now {%.6e, %.6e, %u}", instance.what.c_str(),
                static_cast<double>(plan->cost), static_cast<double>(plan->lower_bound),
                plan->preferences[objective::kGroupsMissed]);
  EXPECT_LE(static_cast<double>(plan->cost), golden.cost * (1 + kRounding)) << line;
  EXPECT_GE(static_cast<double>(plan->lower_bound), golden.bound * (1 - kRounding)) << line;
  EXPECT_LE(plan->preferences[objective::kGroupsMissed], golden.missed) << line;
}

const Golden kTable[] = {
    {Family::kExpertsOnRacks, 503, 3.041865e+18, 3.041865e+18, 0},
    {Family::kExpertsPreferRack, 500, 3.576028e+19, 3.576028e+19, 0},
    {Family::kExpertsAcrossNodes, 501, 6.825218e+18, 6.825218e+18, 0},
    {Family::kHybridSharding, 500, 1.866688e+19, 1.856774e+19, 0},
    {Family::kFullSharding, 500, 1.117935e+19, 1.117935e+19, 0},
    {Family::kUnevenRacks, 502, 1.058291e+17, 1.058291e+17, 0},
    {Family::kTensorOnTrays, 500, 3.688560e+16, 3.667080e+16, 0},
    {Family::kContext, 501, 4.854566e+18, 4.848366e+18, 0},
    {Family::kSeveralANode, 500, 5.624654e+17, 5.624654e+17, 0},
    {Family::kTensorTwoNodes, 500, 1.825735e+18, 1.825735e+18, 0},
    {Family::kGrid, 500, 8.380267e+18, 8.305933e+18, 0},
    {Family::kLevels, 500, 2.739144e+18, 2.739144e+18, 0},
    {Family::kRails, 501, 4.410556e+18, 4.379269e+18, 0},
    {Family::kCrossing, 502, 2.948225e+18, 2.784271e+18, 0},
    {Family::kSpareTrays, 502, 4.463690e+16, 4.225193e+16, 0},
    {Family::kTapered, 501, 3.826644e+19, 3.826644e+19, 0},
    {Family::kMI300XRails, 500, 1.218096e+19, 1.213852e+19, 0},
    {Family::kPrimes, 500, 3.882891e+19, 3.882891e+19, 0},
    {Family::kMixedFree, 500, 1.283812e+16, 1.249159e+16, 0},
    {Family::kTorus, 500, 4.141623e+16, 2.465761e+16, 0},
};

TEST(Quality, ASearchThatBeginsAfterNormalEffortIsNoWorse) {
  const auto instance = weft::testing::MakeLargeInstance(Family::kCrossing, 502, kSizes);
  const auto cost = [&](const objective::SearchLimits& limits) {
    objective::Options options;
    options.limits = limits;
    options.cost_tolerance_percent = 0;
    return Solve(*instance.claims, instance.request, *instance.graph, options)->cost;
  };
  objective::SearchLimits limits = objective::LimitsOf(objective::Effort::kQuick);
  const Int128 normal = cost(objective::LimitsOf(objective::Effort::kNormal));
  EXPECT_GT(cost(limits), normal);
  limits.after_normal = true;
  EXPECT_EQ(cost(limits), normal);
}

TEST(Quality, TheTableHasEveryFamily) {
  std::set<Family> families;
  for (const Golden& golden : kTable) families.insert(golden.family);
  EXPECT_EQ(families.size(), weft::testing::kFamilies);
}

INSTANTIATE_TEST_SUITE_P(Table, QualityTest, ::testing::ValuesIn(kTable));

}  // namespace
}  // namespace weft::placement
