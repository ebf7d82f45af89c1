#include "operator/kube/rate_limit.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace weft::kube {
namespace {

struct Case {
  std::string name;
  // Milliseconds at which a token is taken, and how many it has to wait.
  std::vector<std::pair<int, int>> takes;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class Bucket : public ::testing::TestWithParam<Case> {};

// Two at once, ten a second.
TEST_P(Bucket, Waits) {
  RateLimit limit(10, 2);
  for (const auto& [at, wait] : GetParam().takes) {
    EXPECT_EQ(limit.Take(Instant{Millis{1'000 + at}}).count(), wait) << "at " << at;
  }
}

// clang-format off
INSTANTIATE_TEST_SUITE_P(Table, Bucket, ::testing::ValuesIn(std::vector<Case>{
  {"NobodyWhileThereAreTokens", {{0, 0}, {0, 0}}},
  {"EachBehindTheOther",        {{0, 0}, {0, 0}, {0, 100}, {0, 200}, {0, 300}}},
  {"LessAsTimeGoesBy",          {{0, 0}, {0, 0}, {0, 100}, {50, 150}, {250, 50}}},
  {"NobodyAtTheRate",           {{0, 0}, {100, 0}, {200, 0}, {300, 0}, {400, 0}}},
  {"AfterALongRestForTwoOnly",  {{0, 0}, {0, 0}, {60'000, 0}, {60'000, 0}, {60'000, 100}}},
  {"ALateCallerCountsAsNow",    {{100, 0}, {0, 0}, {0, 100}}},
}), [](const auto& row) { return row.param.name; });
// clang-format on

}  // namespace
}  // namespace weft::kube
