#include "operator/predict/contention.h"

#include <gtest/gtest.h>

#include <map>

#include "operator/base/random.h"
#include "tests/support/fabric_builder.h"

namespace weft::predict {
namespace {

constexpr double kClose = 1e-6;

// Uplinks of a fabric of leaves, numbered from 0 by leaf.
struct Links {
  explicit Links(std::size_t leaves)
      : cluster(testing::MakeCluster(testing::Leaves(
            std::vector<testing::FreePerNode>(leaves, testing::FreePerNode(4, 8))))),
        uplinks(*cluster.fabric) {}

  std::uint32_t Leaf(std::uint32_t leaf) const {
    return uplinks.Of(*cluster.fabric->FindTier("leaf"), fabric::DomainIndex{leaf});
  }
  double rate() const { return uplinks.rate(Leaf(0)); }
  // A job with a step of one second that sends these shares of a leaf's rate.
  Pace Sends(const std::map<std::uint32_t, double>& shares, double gpus = 8) const {
    Pace pace;
    pace.alone = pace.shared = 1;
    for (const auto& [leaf, share] : shares) {
      pace.uses.push_back({Leaf(leaf), share * rate(), gpus});
    }
    return pace;
  }

  testing::Cluster cluster;
  Uplinks uplinks;
};

TEST(Contention, JobsThatTheLinkHoldsRunAtFullSpeed) {
  const Links links(2);
  Contention contention(links.uplinks);
  contention.Add(0, links.Sends({{0, 0.5}}));
  contention.Add(1, links.Sends({{0, 0.4}}));
  EXPECT_TRUE(contention.Update().empty());
  EXPECT_NEAR(contention.Load(links.Leaf(0)), 0.9, kClose);
}

TEST(Contention, EqualJobsShareAFullLinkEqually) {
  const Links links(2);
  Contention contention(links.uplinks);
  contention.Add(0, links.Sends({{0, 0.8}}));
  contention.Add(1, links.Sends({{0, 0.8}}));
  EXPECT_EQ(contention.Update().size(), 2U);
  EXPECT_NEAR(contention.speed(0), 0.5 / 0.8, kClose);
  EXPECT_NEAR(contention.speed(1), 0.5 / 0.8, kClose);
  EXPECT_NEAR(contention.Load(links.Leaf(0)), 1, kClose);
  contention.Remove(1);
  EXPECT_EQ(contention.Update().size(), 1U);
  EXPECT_NEAR(contention.speed(0), 1, kClose);
}

TEST(Contention, AJobThatWantsLittleKeepsItsSpeed) {
  const Links links(2);
  Contention contention(links.uplinks);
  contention.Add(0, links.Sends({{0, 0.1}}));
  contention.Add(1, links.Sends({{0, 0.8}}));
  contention.Add(2, links.Sends({{0, 0.8}}));
  contention.Update();
  EXPECT_NEAR(contention.speed(0), 1, kClose);
  EXPECT_NEAR(contention.speed(1), 0.45 / 0.8, kClose);
}

TEST(Contention, EveryGpuCountsTheSame) {
  const Links links(2);
  Contention contention(links.uplinks);
  contention.Add(0, links.Sends({{0, 1}}, 24));
  contention.Add(1, links.Sends({{0, 1}}, 8));
  contention.Update();
  EXPECT_NEAR(contention.speed(0), 0.75, kClose);
  EXPECT_NEAR(contention.speed(1), 0.25, kClose);
}

TEST(Contention, AJobSlowedOnOneLinkLeavesRoomOnAnother) {
  const Links links(2);
  Contention contention(links.uplinks);
  contention.Add(0, links.Sends({{0, 0.9}, {1, 0.9}}));
  contention.Add(1, links.Sends({{0, 0.9}}));
  contention.Add(2, links.Sends({{0, 0.9}}));
  contention.Add(3, links.Sends({{1, 0.9}}));
  contention.Update();
  EXPECT_NEAR(contention.speed(0), (1.0 / 3) / 0.9, kClose);
  EXPECT_NEAR(contention.speed(3), (2.0 / 3) / 0.9, kClose);
}

// Bertsekas and Gallager: an allocation is max-min fair if each job that wants more has a full link
// on which no other job gets more for each GPU, counted at its thickest link.
TEST(Contention, IsMaxMinFairForRandomJobs) {
  const Links links(6);
  SplitMix64 random(11);
  for (int round = 0; round < 200; ++round) {
    Contention contention(links.uplinks);
    std::vector<Pace> jobs;
    for (std::uint32_t j = 0; j < 12; ++j) {
      std::map<std::uint32_t, double> shares;
      const std::uint64_t count = 1 + random.Below(3);
      for (std::uint64_t u = 0; u < count; ++u) {
        shares[static_cast<std::uint32_t>(random.Below(6))] =
            0.05 + 0.01 * static_cast<double>(random.Below(60));
      }
      jobs.push_back(links.Sends(shares, 1 + static_cast<double>(random.Below(32))));
      contention.Add(j, jobs.back());
    }
    if (round % 2 == 1) {
      contention.Update();
      contention.Remove(5);
      jobs[5].uses.clear();
    }
    contention.Update();
    std::vector<double> load(links.uplinks.size(), 0), least(jobs.size(), 0);
    for (std::uint32_t j = 0; j < jobs.size(); ++j) {
      for (const LinkUse& use : jobs[j].uses) {
        load[use.link] += contention.speed(j) * use.bytes;
        least[j] = std::max(least[j], contention.speed(j) * use.bytes / use.gpus);
      }
    }
    for (std::uint32_t leaf = 0; leaf < 6; ++leaf) {
      EXPECT_LE(load[links.Leaf(leaf)], links.rate() * (1 + kClose));
    }
    for (std::uint32_t j = 0; j < jobs.size(); ++j) {
      if (jobs[j].uses.empty() || contention.speed(j) > 1 - kClose) continue;
      bool fair = false;
      for (const LinkUse& use : jobs[j].uses) {
        if (load[use.link] < links.rate() * (1 - kClose)) continue;
        bool most = true;
        for (std::uint32_t k = 0; k < jobs.size(); ++k) {
          for (const LinkUse& other : jobs[k].uses) {
            most = most && (other.link != use.link || least[k] <= least[j] * (1 + kClose));
          }
        }
        fair = fair || most;
      }
      EXPECT_TRUE(fair) << "round " << round << ", job " << j;
    }
  }
}

}  // namespace
}  // namespace weft::predict
