#include "operator/life/ledger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "operator/base/random.h"

namespace weft::life {
namespace {

using Phase = api::RecoveryPhase;

Ledger::Failure FailureAt(UnixSeconds at, bool saved = true) {
  return {.cause = "NodeLost", .worker = 5, .node = "a-05", .at = at, .saved = saved};
}

std::optional<Phase> PhaseOf(const Ledger& ledger) {
  if (!ledger.recovery()) return std::nullopt;
  return ledger.recovery()->phase;
}

// A gang of 1,024 GPUs that starts at 0 and has a complete checkpoint at 36,000.
Ledger WithCheckpoint() {
  Ledger ledger;
  ledger.Ready(0);
  ledger.Keep(36'000);
  return ledger;
}

TEST(LedgerTest, CountsAFailureFromTheLastCompleteCheckpointToTheFirstStep) {
  Ledger ledger = WithCheckpoint();
  // Another checkpoint is begun at 37,100 and never complete; a node is lost at 37,230.
  ledger.Fail(FailureAt(37'230), 37'240);
  EXPECT_EQ(PhaseOf(ledger), Phase::kDetecting);
  EXPECT_EQ(ledger.recovery()->since, 37'230);
  ledger.TakenDown(37'240, true);
  EXPECT_EQ(PhaseOf(ledger), Phase::kStopping);
  ledger.Unplaced();
  EXPECT_EQ(PhaseOf(ledger), Phase::kReplacing);
  ledger.Bound(37'252);
  EXPECT_EQ(PhaseOf(ledger), Phase::kStarting);
  ledger.Ready(37'285);
  EXPECT_EQ(PhaseOf(ledger), Phase::kLoading);
  ledger.FirstStep(37'345);
  EXPECT_EQ(PhaseOf(ledger), std::nullopt);

  const api::LostTime& lost = ledger.lost();
  EXPECT_EQ(lost.work, 1'230);
  EXPECT_EQ(lost.down(), 115);
  EXPECT_EQ((std::array{lost.detect, lost.replace, lost.start, lost.load}),
            (std::array<std::int64_t, 4>{10, 12, 33, 60}));
  EXPECT_EQ((lost.work + lost.down()) * 1'024, 1'377'280);  // 382.6 GPU-hours
  EXPECT_EQ(lost.wall(), 37'345);
  EXPECT_EQ(lost.failures, 1);
  EXPECT_TRUE(lost.exact);
  EXPECT_EQ(EffectivePercent(lost), 96.3);  // 36,000 of 37,345 s
}

TEST(LedgerTest, ALossWithoutAnyCheckpointIsNotExact) {
  Ledger ledger;
  ledger.Ready(100);
  ledger.Fail(FailureAt(400, false), 410);
  EXPECT_EQ(ledger.lost().work, 300);
  EXPECT_FALSE(ledger.lost().exact);
}

TEST(LedgerTest, NothingIsCountedBeforeAllWorkersAreReady) {
  Ledger ledger;
  ledger.Fail(FailureAt(50), 60);
  ledger.TakenDown(60, true);
  ledger.Bound(90);
  EXPECT_EQ(ledger.lost(), api::LostTime());
  EXPECT_EQ(ledger.recovery(), std::nullopt);
  EXPECT_EQ(EffectivePercent(ledger.lost()), std::nullopt);
}

TEST(LedgerTest, TrainingIsLostOnceIfTheNextAttemptFailsBeforeACheckpoint) {
  Ledger ledger = WithCheckpoint();
  ledger.Fail(FailureAt(36'100), 36'100);
  ledger.TakenDown(36'100, true);
  ledger.Bound(36'150);
  ledger.Ready(36'200);
  ledger.Fail(FailureAt(36'300), 36'300);
  EXPECT_EQ(ledger.lost().work, 200);  // 36,000 to 36,100 and 36,200 to 36,300
  EXPECT_EQ(ledger.lost().down(), 100);
  EXPECT_EQ(ledger.lost().failures, 2);
}

TEST(LedgerTest, ASecondFailureDuringTheTakedownOnlyChangesTheBlame) {
  Ledger ledger = WithCheckpoint();
  ledger.Fail(FailureAt(36'100), 36'110);
  ledger.TakenDown(36'110, true);
  ledger.Fail({.cause = "NodeFault", .worker = 7, .node = "a-07", .at = 36'120}, 36'130);
  EXPECT_EQ(ledger.recovery(), (api::Recovery{"NodeFault", 7, "a-07", 36'100, Phase::kStopping}));
  EXPECT_EQ(ledger.lost().failures, 1);
}

TEST(LedgerTest, AFailureOfTheNextAttemptJoinsTheRecovery) {
  Ledger ledger = WithCheckpoint();
  ledger.Fail(FailureAt(36'000), 36'000);
  ledger.TakenDown(36'000, true);
  ledger.Unplaced();
  ledger.Bound(36'010);
  ledger.Fail(FailureAt(36'030), 36'035);
  EXPECT_EQ(ledger.recovery()->since, 36'000);
  EXPECT_EQ(PhaseOf(ledger), Phase::kDetecting);
  ledger.TakenDown(36'035, true);
  EXPECT_EQ(ledger.lost().replace, 10);
  EXPECT_EQ(ledger.lost().start, 20);
  EXPECT_EQ(ledger.lost().detect, 5);
  EXPECT_EQ(ledger.lost().failures, 2);
}

TEST(LedgerTest, AnAttemptThatIsNotBoundIsTriedAgainWithinTheRecovery) {
  Ledger ledger = WithCheckpoint();
  ledger.Fail(FailureAt(36'000), 36'000);
  ledger.TakenDown(36'000, true);
  ledger.Unplaced();
  ledger.TakenDown(36'060, true);  // kube-scheduler refused
  EXPECT_EQ(PhaseOf(ledger), Phase::kStopping);
  ledger.Bound(36'100);
  EXPECT_EQ(ledger.lost().replace, 100);
  EXPECT_EQ(ledger.lost().failures, 1);
}

TEST(LedgerTest, ACheckpointTellsThatTheJobTrainsAgain) {
  Ledger ledger = WithCheckpoint();
  ledger.Fail(FailureAt(36'000), 36'000);
  ledger.TakenDown(36'000, true);
  ledger.Bound(36'010);
  ledger.Ready(36'020);
  ledger.Keep(36'500);
  EXPECT_EQ(ledger.recovery(), std::nullopt);
  EXPECT_EQ(ledger.lost().load, 0);
  EXPECT_EQ(ledger.lost().kept, 36'480);
  ledger.FirstStep(36'600);  // too late to tell
  EXPECT_EQ(ledger.lost().load, 0);
}

TEST(LedgerTest, TheFirstStepOfAnEarlierAttemptTellsNothing) {
  Ledger ledger = WithCheckpoint();
  ledger.Fail(FailureAt(36'100), 36'100);
  ledger.TakenDown(36'100, true);
  ledger.Bound(36'110);
  ledger.Ready(36'120);
  ledger.FirstStep(36'050);
  EXPECT_EQ(PhaseOf(ledger), Phase::kLoading);
  ledger.FirstStep(36'119);  // before the operator saw that all were ready
  EXPECT_EQ(PhaseOf(ledger), std::nullopt);
  EXPECT_EQ(ledger.lost().load, 0);
}

TEST(LedgerTest, CheckpointsOfTheTimeBeforeAFailureDoNotCountBack) {
  Ledger ledger = WithCheckpoint();
  ledger.Fail(FailureAt(36'100), 36'160);
  const api::LostTime before = ledger.lost();
  ledger.Keep(36'090);
  ledger.Keep(36'150);
  EXPECT_EQ(ledger.lost(), before);
}

TEST(LedgerTest, ASuspensionStopsTheClockAndLosesWhatNoCheckpointHolds) {
  Ledger ledger = WithCheckpoint();
  ledger.Stop(36'040, true);
  EXPECT_FALSE(ledger.running());
  ledger.Ready(90'000);
  ledger.Keep(90'010);
  EXPECT_EQ(ledger.lost().work, 40);
  EXPECT_EQ(ledger.lost().failures, 0);
  EXPECT_EQ(ledger.lost().wall(), 36'050);
}

TEST(LedgerTest, AGoodEndKeepsAllTraining) {
  Ledger ledger = WithCheckpoint();
  ledger.Complete(36'500);
  EXPECT_EQ(ledger.lost().kept, 36'500);
  EXPECT_EQ(EffectivePercent(ledger.lost()), 100.0);
  EXPECT_FALSE(ledger.running());
}

TEST(LedgerTest, AClockThatIsPutBackTakesNothingBack) {
  Ledger ledger = WithCheckpoint();
  ledger.Fail(FailureAt(35'000), 35'010);
  EXPECT_EQ(ledger.lost().work, 0);
  EXPECT_EQ(ledger.recovery()->since, 36'000);
  ledger.TakenDown(35'020, true);
  ledger.Bound(35'030);
  ledger.Ready(36'010);
  EXPECT_EQ(ledger.lost().down(), 10);
  EXPECT_EQ(ledger.lost().wall(), 36'010);
}

TEST(LedgerTest, UnsavedTrainingBeginsAtTheLastCheckpoint) {
  Ledger ledger = WithCheckpoint();
  EXPECT_EQ(ledger.unsaved_since(), 36'000);
  ledger.Fail(FailureAt(36'100), 36'100);
  EXPECT_EQ(ledger.unsaved_since(), std::nullopt);
}

// What each second of a job was, told by whoever made the timeline up; the ledger hears only the
// events. Training is kept where a checkpoint of the same stretch of training follows.
class RandomTimeline {
 public:
  explicit RandomTimeline(std::uint64_t seed) : random_(seed) {}

  void Run() {
    now_ = 1'000 + Span();
    ledger_.Ready(now_);
    for (std::uint64_t i = 1 + random_.Below(6); i > 0; --i) {
      Train();
      Check();
      if (random_.Below(5) == 0) {
        Suspend();
      } else {
        Recover();
      }
      Check();
    }
    Train();
    if (random_.Below(2) == 0) {
      ledger_.Complete(now_);
      for (char& what : stretch_) what = 'k';
    } else {
      ledger_.Stop(now_, true);
    }
    Close();
    Check();
  }

 private:
  std::int64_t Span() { return static_cast<std::int64_t>(random_.Below(90)); }
  void Spend(std::int64_t seconds, char what) {
    told_.append(static_cast<std::size_t>(seconds), what);
    now_ += seconds;
  }
  void Close() {
    told_ += stretch_;
    stretch_.clear();
  }

  void Train() {
    for (std::uint64_t checkpoints = random_.Below(4);; --checkpoints) {
      const std::int64_t seconds = Span();
      stretch_.append(static_cast<std::size_t>(seconds), 'w');
      now_ += seconds;
      if (checkpoints == 0) return;
      for (char& what : stretch_) what = 'k';
      ledger_.Keep(now_);
    }
  }

  void Suspend() {
    ledger_.Stop(now_, true);
    Close();
    now_ += Span();  // nobody counts these
    ledger_.Ready(now_);
  }

  void Fail() {
    const UnixSeconds failed = now_;
    Spend(Span(), 'd');
    ledger_.Fail(FailureAt(failed), now_);
    if (random_.Below(2) == 0) Spend(Span(), 'd');  // who is to blame?
    ledger_.TakenDown(now_, true);
    ++failures_;
  }

  void Recover() {
    Close();
    Fail();
    while (true) {
      Spend(Span(), 'r');
      ledger_.Unplaced();
      Spend(Span(), 'r');
      if (random_.Below(6) == 0) {
        ledger_.TakenDown(now_, true);
        continue;
      }
      ledger_.Bound(now_);
      Spend(Span(), 's');
      if (random_.Below(4) != 0) break;
      Fail();
    }
    ledger_.Ready(now_);
    if (random_.Below(2) == 0) return;  // nothing tells of the first step
    Spend(Span(), 'l');
    ledger_.FirstStep(now_);
  }

  std::int64_t Count(char what) const { return std::count(told_.begin(), told_.end(), what); }
  void Check() {
    const api::LostTime& lost = ledger_.lost();
    // Of training that is still going on only what a checkpoint holds is counted.
    const std::int64_t kept = std::count(stretch_.begin(), stretch_.end(), 'k');
    EXPECT_EQ(lost.kept, Count('k') + kept);
    EXPECT_EQ(lost.work, Count('w'));
    EXPECT_EQ(lost.detect, Count('d'));
    EXPECT_EQ(lost.replace, Count('r'));
    EXPECT_EQ(lost.start, Count('s'));
    EXPECT_EQ(lost.load, Count('l'));
    EXPECT_EQ(lost.failures, failures_);
    EXPECT_EQ(lost.wall(), std::ssize(told_) + kept);
    EXPECT_GE(lost.work + lost.down(), lost_before_);
    lost_before_ = lost.work + lost.down();
  }

  SplitMix64 random_;
  UnixSeconds now_ = 0;
  std::string told_, stretch_;
  std::int64_t failures_ = 0, lost_before_ = 0;
  Ledger ledger_;
};

TEST(LedgerTest, EqualsACountOfSecondsOn200RandomTimelines) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    RandomTimeline(seed).Run();
  }
}

}  // namespace
}  // namespace weft::life
