// Whole gangs of members and a coordinator, in named situations and in thousands of random ones.
#include <gtest/gtest.h>

#include <set>

#include "tests/support/gang_world.h"

namespace weft::inplace {
namespace {

using Strings = std::vector<std::string>;

MemberOptions Gang(int workers) {
  MemberOptions options;
  options.workers = workers;
  options.heartbeat = Time{5'000};
  return options;
}

TEST(Gang, StartsWhenAllAreThere) {
  GangWorld world(Gang(4), 1);
  world.Lose(2, false);
  world.Run(Time{60'000});
  EXPECT_EQ(world.At(0)->member.State().phase, Phase::kDown);
  world.Replace(2, 0);
  world.Run(Time{3'000});
  EXPECT_TRUE(world.AllRunAt(0));
  EXPECT_EQ(world.violations, Strings{});
}

TEST(Gang, RestartsInPlaceWhenAWorkerIsReplaced) {
  for (int lost = 0; lost < 4; ++lost) {
    for (const bool silently : {false, true}) {
      GangWorld world(Gang(4), 7);
      world.Run(Time{3'000});
      ASSERT_TRUE(world.AllRunAt(0));
      world.Lose(lost, silently);
      world.Run(Time{2'000});
      world.Replace(lost, 1);
      world.Run(Time{40'000});
      EXPECT_TRUE(world.AllRunAt(1)) << lost << silently;
      EXPECT_EQ(world.violations, Strings{});
    }
  }
}

TEST(Gang, RestartsByHandWithoutARevisionInTheEnvironment) {
  for (int lost = 0; lost < 3; ++lost) {
    GangWorld world(Gang(3), 3);
    world.Run(Time{3'000});
    world.Lose(lost, false);
    world.Replace(lost, 0);
    world.Run(Time{40'000});
    EXPECT_TRUE(world.AllRunAt(1)) << lost;
    EXPECT_EQ(world.violations, Strings{});
  }
}

TEST(Gang, RestartsAtTheRevisionOfACall) {
  GangWorld world(Gang(3), 3);
  world.Run(Time{3'000});
  EXPECT_TRUE(world.At(2)->member.CallStop(6, world.now()));
  EXPECT_FALSE(world.At(2)->member.CallStop(5, world.now()));
  world.Run(Time{20'000});
  EXPECT_TRUE(world.AllRunAt(6));
}

TEST(Gang, ByDefaultATrainersOwnFailureIsTheExitCodeOfItsParent) {
  GangWorld world(Gang(3), 3);
  world.Run(Time{3'000});
  for (int rank = 0; rank < 3; ++rank) world.Fail(rank, 40 + rank);
  world.Run(Time{30'000});
  ASSERT_TRUE(world.AllLeft());
  for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(world.At(rank)->left->code, 40 + rank);
}

TEST(Gang, AFailedTrainerWaitsLongerWhileAWorkerIsOutOfContact) {
  for (int lost = 0; lost < 3; ++lost) {
    GangWorld world(Gang(3), 3);
    world.Run(Time{3'000});
    world.Lose(lost, true);
    for (int rank = 0; rank < 3; ++rank) world.Fail(rank, 1);
    world.Run(Time{200'000});
    world.Replace(lost, 1);
    world.Run(Time{60'000});
    EXPECT_TRUE(world.AllRunAt(1)) << lost;
  }
}

TEST(Gang, RestartsFailedTrainersAsOftenAsAllowed) {
  MemberOptions options = Gang(3);
  options.restarts = 2;
  GangWorld world(options, 3);
  world.Run(Time{3'000});
  for (Revision revision = 1; revision <= 2; ++revision) {
    world.Fail(1, 9);
    world.Run(Time{20'000});
    EXPECT_TRUE(world.AllRunAt(revision));
  }
  world.Fail(1, 9);
  world.Run(Time{25'000});
  ASSERT_TRUE(world.At(1)->left);
  EXPECT_EQ(world.At(1)->left->code, 9);
}

TEST(Gang, EndsTogetherWhenAllAreDone) {
  GangWorld world(Gang(3), 3);
  world.Run(Time{3'000});
  world.Fail(0, 0);
  world.Fail(2, 0);
  world.Run(Time{20'000});
  EXPECT_FALSE(world.At(0)->left || world.At(2)->left);
  world.Fail(1, 0);
  world.Run(Time{2'000});
  ASSERT_TRUE(world.AllLeft());
  for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(world.At(rank)->left->code, 0);
}

TEST(Gang, GoesOnWithoutAWorker0ThatIsDone) {
  GangWorld world(Gang(3), 3);
  world.Run(Time{3'000});
  world.Fail(0, 0);
  world.Run(Time{70'000});
  ASSERT_TRUE(world.At(0)->left);
  world.Run(Time{600'000});
  EXPECT_FALSE(world.At(1)->left);
  world.Fail(1, 3);
  world.Fail(2, 0);
  EXPECT_EQ(world.At(1)->left->code, 3);
  EXPECT_EQ(world.At(2)->left->code, 0);
}

TEST(Gang, LeavesWithAReasonWhenNoReplacementComes) {
  GangWorld world(Gang(3), 3);
  world.Run(Time{3'000});
  world.Lose(1, false);
  world.At(2)->member.CallStop(1, world.now());
  world.Run(Time{130'000});
  ASSERT_TRUE(world.AllLeft());
  EXPECT_EQ(world.At(0)->left->code, kLeaveCode);
  EXPECT_EQ(world.At(0)->left->reason,
            "Late: revision 1 has not started within 60 s: 1 of 3 workers out of contact");
}

TEST(Gang, GivesUpARunThatHasLostAWorkerForTooLong) {
  GangWorld world(Gang(3), 3);
  world.Run(Time{3'000});
  world.Lose(1, true);
  world.Run(Time{290'000});
  EXPECT_TRUE(world.At(0)->process.has_value());
  world.Run(Time{60'000});
  ASSERT_TRUE(world.AllLeft());
  EXPECT_EQ(world.At(2)->left->reason.substr(0, 12), "Unreachable:");
}

TEST(Gang, APausedParentThatWasReplacedStopsItsTrainer) {
  GangWorld world(Gang(2), 3);
  world.Run(Time{3'000});
  auto* old = world.At(1);
  CoordinatorOptions options{2, 0, Time{15'000}};
  Coordinator coordinator(options);
  Report newer = old->member.State();
  newer.birth = newer.want = 1;
  newer.instance += 1;
  newer.phase = Phase::kDown;
  newer.at = kNoRevision;
  coordinator.Receive(5, newer, Time{0});
  coordinator.Take();
  coordinator.Receive(6, old->member.State(), Time{0});
  const auto out = coordinator.Take();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_TRUE(out[0].close);
  old->member.Receive(std::get<Refusal>(out[0].message), world.now());
  world.Run(Time{20'000});
  ASSERT_TRUE(old->left);
  EXPECT_EQ(old->left->reason, "Replaced: another parent is worker 1 now");
}

// One random history: a minute of losses, replacements, cuts, pauses, failures and calls.
class History {
 public:
  History(std::uint64_t seed, const MemberOptions& options) : world(options, seed) {
    world.most_delay = Time{1 + world.Below(world.OneIn(4) ? 3'000 : 300)};
    by_hand_ = world.OneIn(4);
    world.stubborn_one_in = 1 + world.Below(5);
    world.Run(Time{world.Below(4'000)});
    for (const Time end = world.now() + Time{60'000}; world.now() < end;) {
      Happen(options.workers);
      world.Run(Time{world.OneIn(3) ? 20 : world.Below(8'000)});
    }
  }
  // Nothing happens any more but what must: lost workers are replaced if `replace`.
  void Calm(int workers, bool replace) {
    for (int rank = 0; rank < workers; ++rank) {
      auto* parent = world.At(rank);
      if (parent != nullptr) parent->paused = false;
      if (replace && parent == nullptr) world.Replace(rank, NextRevision());
    }
  }
  GangWorld world;

 private:
  // Of a replacement: the operator's, or none where a person replaces.
  Revision NextRevision() { return by_hand_ ? 0 : ++revision_; }
  void Happen(int workers) {
    const int rank = world.OneIn(3) ? 0 : world.Below(workers);
    auto* parent = world.At(rank);
    if (parent == nullptr) {
      world.Replace(rank, NextRevision());
      return;
    }
    switch (world.Below(8)) {
      case 0:
      case 1:
        world.Lose(rank, world.OneIn(2));
        if (world.OneIn(2)) world.Replace(rank, NextRevision());
        break;
      case 2:
        world.Break(rank, world.OneIn(2));
        break;
      case 3:
        parent->paused = !parent->paused;
        break;
      case 4:
        world.Fail(rank, 1 + world.Below(3));
        break;
      case 5:
        if (!parent->left) parent->member.CallStop(++revision_, world.now());
        break;
      case 6:
        for (int other = 0; other < workers; ++other) world.Fail(other, 1);
        break;
      default:
        parent->paused = false;
        break;
    }
  }
  Revision revision_ = 0;
  bool by_hand_ = false;
};

TEST(Gang, ComesToOneRevisionAfterAnyHistory) {
  std::set<Revision> ended_at;
  for (std::uint64_t seed = 0; seed < 1'500; ++seed) {
    MemberOptions options = Gang(2 + static_cast<int>(seed % 4));
    options.limit = options.start_limit = Time{3'600'000};
    options.contact_limit = options.hold = Time{3'600'000};
    options.restarts = static_cast<int>(seed % 3);
    History history(seed, options);
    history.Calm(options.workers, true);
    history.world.Run(Time{90'000});
    ASSERT_EQ(history.world.violations, Strings{}) << seed;
    for (int rank = 0; rank < options.workers; ++rank) {
      ASSERT_FALSE(history.world.At(rank)->left)
          << seed << ": " << history.world.At(rank)->left->reason;
    }
    const Report state = history.world.At(0)->member.State();
    ended_at.insert(state.want);
    for (int rank = 0; rank < options.workers; ++rank) {
      const Report other = history.world.At(rank)->member.State();
      ASSERT_EQ(other.want, state.want) << seed;
      ASSERT_EQ(other.at, state.want) << seed << history.world.Describe();
      ASSERT_TRUE(other.phase == Phase::kRunning || other.phase == Phase::kFailed) << seed;
    }
  }
  EXPECT_GT(ended_at.size(), 8u) << "the histories are all alike";
}

TEST(Gang, RunsAtOneRevisionOrLeavesWithAReason) {
  int ran = 0, left = 0;
  for (std::uint64_t seed = 10'000; seed < 11'500; ++seed) {
    MemberOptions options = Gang(2 + static_cast<int>(seed % 4));
    options.limit = Time{20'000 + static_cast<int>(seed % 7) * 5'000};
    options.start_limit = options.limit;
    options.contact_limit = Time{60'000};
    options.restarts = static_cast<int>(seed % 3);
    History history(seed, options);
    history.Calm(options.workers, seed % 2 == 0);
    history.world.Run(Time{220'000});
    ASSERT_EQ(history.world.violations, Strings{}) << seed;
    const auto* first = history.world.At(0);
    if (first != nullptr && !first->left) {
      ASSERT_TRUE(history.world.AllRunAt(first->member.State().at))
          << seed << history.world.Describe();
      ++ran;
      continue;
    }
    ASSERT_TRUE(history.world.AllLeft()) << seed;
    ++left;
    for (int rank = 0; rank < options.workers; ++rank) {
      const auto* parent = history.world.At(rank);
      if (parent == nullptr) continue;
      ASSERT_NE(parent->left->code, 0) << seed;
      ASSERT_EQ(parent->left->code == kLeaveCode, !parent->left->reason.empty()) << seed;
    }
  }
  EXPECT_GT(ran, 150);
  EXPECT_GT(left, 150);
}

}  // namespace
}  // namespace weft::inplace
