#include "operator/outlook/spares.h"

#include <gtest/gtest.h>

#include <cmath>

#include "operator/outlook/failures.h"

namespace weft::outlook {
namespace {

constexpr double kHour = 3600;

AwayNodes Away(double nodes, double rate, double repair_hours) {
  return {nodes, AwayRate{rate, repair_hours * kHour}};
}

// The figures were computed apart from this program, by summing Poisson's terms in decimal
// arithmetic. The rates are those of Llama 3 (3.79 in 1,000 node-days, arXiv 2407.21783, table 5)
// and of Meta's research clusters (6.5, arXiv 2410.21680).
TEST(SparesTest, AreThoseOfThePoissonDistribution) {
  struct Case {
    double nodes, rate, repair_hours, rho;
    std::int64_t p99, p999, best;
    double goodput_with_none, goodput_with_best;
  };
  constexpr Case kCases[] = {
      {2048, 3.79, 1, 0.3234, 2, 3, 3, 0.7237, 0.9982},
      {2048, 3.79, 4, 1.2937, 5, 6, 6, 0.2743, 0.9967},
      {2048, 3.79, 24, 7.7619, 15, 18, 18, 0.0004, 0.9908},
      {1200, 3.79, 4, 0.7580, 3, 5, 5, 0.4686, 0.9957},
      {512, 6.5, 24, 3.3280, 8, 10, 9, 0.0359, 0.9804},
      {128, 3.79, 24, 0.4851, 3, 4, 3, 0.6156, 0.9756},
      {128, 3.79, 168, 3.3958, 8, 10, 8, 0.0335, 0.9334},
      {16, 3.79, 24, 0.0606, 1, 2, 0, 0.9412, 0.9412},
      {16, 8.0, 24, 0.1280, 1, 2, 1, 0.8799, 0.9341},
  };
  for (const Case& one : kCases) {
    SCOPED_TRACE(::testing::Message() << one.nodes << " nodes, " << one.repair_hours << " h");
    const AwayNodes away = Away(one.nodes, one.rate, one.repair_hours);
    EXPECT_NEAR(away.rho(), one.rho, 5e-5);
    EXPECT_EQ(away.SparesFor(kRarely), one.p99);
    EXPECT_EQ(away.SparesFor(0.001), one.p999);
    EXPECT_EQ(BestSpares(one.nodes, away), one.best);
    EXPECT_NEAR(Goodput(one.nodes, away, 0), one.goodput_with_none, 5.1e-5);
    EXPECT_NEAR(Goodput(one.nodes, away, one.best), one.goodput_with_best, 5.1e-5);
  }
}

// A rack of NVL72 whose job needs 16 of its trays: with few nodes the exact number of those away is
// binomial, and Poisson's is nearly the same. Trays fail 2 or 4 times in 1,000 days, for 24 hours.
TEST(SparesTest, InARackAreNearlyThoseOfTheBinomialDistribution) {
  struct Case {
    double trays, rate;
    std::int64_t down;
    double at_most;
  };
  constexpr Case kCases[] = {{16, 2, 0, 0.968538}, {17, 2, 1, 0.999469}, {18, 2, 2, 0.999994},
                             {16, 4, 0, 0.938125}, {17, 4, 1, 0.997926}, {18, 4, 2, 0.999951}};
  for (const Case& one : kCases) {
    EXPECT_NEAR(Away(one.trays, one.rate, 24).AtMost(one.down), one.at_most, 2e-4)
        << one.trays << " trays, at most " << one.down << " down";
  }
}

TEST(SparesTest, NodesThatNeverFailNeedNone) {
  const AwayNodes away(0);
  EXPECT_EQ(away.AtMost(0), 1);
  EXPECT_EQ(away.MoreThan(0), 0);
  EXPECT_EQ(away.SparesFor(kRarely), 0);
  EXPECT_EQ(BestSpares(2048, away), 0);
  EXPECT_EQ(Goodput(2048, away, 0), 1);
}

TEST(SparesTest, SharesAddUpForAnyNumberOfNodes) {
  for (const double rho : {1e-12, 0.3, 1.0, 7.0, 379.0, 4'000.5, 1e6}) {
    SCOPED_TRACE(rho);
    const AwayNodes away(rho);
    double before = 0;
    for (std::int64_t count = away.least(); count <= away.most(); ++count) {
      ASSERT_NEAR(away.AtMost(count) + away.MoreThan(count), 1, 1e-12);
      ASSERT_GE(away.AtMost(count), before);
      before = away.AtMost(count);
    }
    EXPECT_EQ(away.AtMost(away.least() - 1), 0);
    EXPECT_EQ(away.MoreThan(away.most()), 0);
  }
}

// 100,000 nodes, 20 failures in 1,000 node-days, repaired in two days: 4,000 nodes are away. The
// normal distribution, which Poisson's then resembles, is an independent check: its 99th
// percentile is rho + 2.326 sqrt(rho) + (2.326^2 - 1) / 6.
TEST(SparesTest, ThousandsOfNodesAwayAreCountedRight) {
  for (const double rho : {400.0, 4'000.0, 100'000.0}) {
    const double normal = rho + 2.3263 * std::sqrt(rho) + (2.3263 * 2.3263 - 1) / 6;
    EXPECT_NEAR(static_cast<double>(AwayNodes(rho).SparesFor(kRarely)), normal, 1) << rho;
  }
  const AwayNodes away = Away(100'000, 20, 48);
  EXPECT_NEAR(away.rho(), 4000, 1e-9);
  const std::int64_t best = BestSpares(100'000, away);
  EXPECT_GT(best, away.SparesFor(kRarely));
  EXPECT_GT(Goodput(100'000, away, best), 0.95);
}

TEST(SparesTest, FewerNodesNeverNeedMoreSpares) {
  for (const double rate : {0.5, 3.79, 30.0}) {
    for (const double hours : {1.0, 24.0, 168.0}) {
      std::int64_t best = 0, p99 = 0;
      for (double nodes = 1; nodes <= 4096; nodes *= 1.09) {
        const AwayNodes away = Away(nodes, rate, hours);
        const std::int64_t next = BestSpares(nodes, away), rarely = away.SparesFor(kRarely);
        EXPECT_GE(next, best) << nodes << " nodes, rate " << rate << ", " << hours << " h";
        EXPECT_GE(rarely, p99) << nodes << " nodes, rate " << rate << ", " << hours << " h";
        best = next;
        p99 = rarely;
      }
    }
  }
}

TEST(SparesTest, LongerRepairsNeverNeedFewerSpares) {
  std::int64_t best = 0, p99 = 0;
  for (double hours = 0.25; hours < 1000; hours *= 1.2) {
    const AwayNodes away = Away(512, 6.5, hours);
    EXPECT_GE(BestSpares(512, away), best);
    EXPECT_GE(away.SparesFor(kRarely), p99);
    best = BestSpares(512, away);
    p99 = away.SparesFor(kRarely);
  }
}

TEST(SparesTest, TheBestNumberIsThatOfTheMostWork) {
  for (const double nodes : {1.0, 16.0, 128.0, 512.0, 2048.0}) {
    for (const double domains : {1.0, 8.0, 128.0}) {
      const AwayNodes away = Away(nodes, 6.5, 24);
      const std::int64_t best = BestSpares(nodes, away, domains);
      const double most = Goodput(nodes, away, best, domains);
      for (std::int64_t spares = 0; spares < 60; ++spares) {
        const double other = Goodput(nodes, away, spares, domains);
        EXPECT_LE(other, most);
        EXPECT_EQ(other < most, spares != best);
      }
    }
  }
}

// A job on all 128 racks of 16 nodes, each of which replaces its own nodes, stands still if any
// rack has too few: a rack alone keeps no spare, one of many keeps two.
TEST(SparesTest, OfManyDomainsThatReplaceTheirOwnNodesAreMore) {
  const AwayNodes away = Away(16, 3.79, 24);
  EXPECT_EQ(BestSpares(16, away), 0);
  EXPECT_EQ(BestSpares(16, away, 128), 2);
  EXPECT_NEAR(Goodput(16, away, 0, 128), std::exp(-128 * away.rho()), 1e-12);
}

}  // namespace
}  // namespace weft::outlook
