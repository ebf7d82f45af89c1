#include "operator/kube/lease.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>

#include "operator/base/random.h"

namespace weft::kube {
namespace {

using Kind = Election::Action::Kind;
using std::chrono::seconds;

constexpr Instant kStart{seconds(1'000)};
const std::string kNow = FormatMicroTime(5'000'000);

LeaseRecord HeldBy(const std::string& holder, std::int64_t duration = 15) {
  return {holder, duration, "acquired", "renewed", 4};
}

struct NextCase {
  const char* name;
  std::optional<LeaseRecord> seen;
  int seconds_later;
  Kind kind;
  LeaseRecord record;
};

TEST(Election, TakesTheLeaseWhenNobodyElseMayHoldIt) {
  const NextCase cases[] = {
      {"there is no lease", std::nullopt, 0, Kind::kCreate, {"me", 15, kNow, kNow, 0}},
      {"it was given back", HeldBy(""), 0, Kind::kReplace, {"me", 15, kNow, kNow, 5}},
      {"it is ours already (a write that was said to have failed)",
       HeldBy("me"),
       0,
       Kind::kReplace,
       {"me", 15, "acquired", kNow, 4}},
      {"another holds it, seen just now", HeldBy("other"), 0, Kind::kNothing, {}},
      {"another holds it, not yet over", HeldBy("other"), 14, Kind::kNothing, {}},
      {"another held it until now", HeldBy("other"), 15, Kind::kReplace, {"me", 15, kNow, kNow, 5}},
      {"another asked for longer", HeldBy("other", 60), 59, Kind::kNothing, {}},
      {"another asked for longer, over",
       HeldBy("other", 60),
       60,
       Kind::kReplace,
       {"me", 15, kNow, kNow, 5}},
      {"no duration stands for ours", HeldBy("other", 0), 14, Kind::kNothing, {}},
      {"an absurd duration is a day",
       HeldBy("other", std::int64_t{1} << 62),
       86'400,
       Kind::kReplace,
       {"me", 15, kNow, kNow, 5}},
  };
  for (const NextCase& c : cases) {
    Election election("me", {});
    election.Observe(c.seen, kStart);
    const Election::Action action =
        election.Next(kStart + seconds(c.seconds_later), WallMicros{5'000'000});
    EXPECT_EQ(action.kind, c.kind) << c.name;
    EXPECT_EQ(action.record, c.record) << c.name;
  }
}

TEST(Election, ReadsBeforeItsFirstWriteAndAfterAFailedOne) {
  Election election("me", {});
  EXPECT_EQ(election.Next(kStart, 0).kind, Kind::kRead);
  election.Observe(std::nullopt, kStart);
  EXPECT_EQ(election.Next(kStart, 0).kind, Kind::kCreate);
  election.Failed();
  EXPECT_EQ(election.Next(kStart, 0).kind, Kind::kRead);
}

TEST(Election, ReadsAgainWhereItWaitsAndRenewsWithoutReading) {
  Election waiting("me", {});
  waiting.Observe(HeldBy("other"), kStart);
  EXPECT_EQ(waiting.Next(kStart, 0).kind, Kind::kNothing);
  EXPECT_EQ(waiting.Next(kStart, 0).kind, Kind::kRead);

  Election leading("me", {});
  leading.Observe(std::nullopt, kStart);
  leading.Wrote(leading.Next(kStart, 0).record, kStart, kStart);
  EXPECT_EQ(leading.Next(kStart, 0).kind, Kind::kReplace);
  EXPECT_EQ(leading.Next(kStart, 0).kind, Kind::kReplace);
}

TEST(Election, CountsTheHoldersTimeFromTheLastChangeThatItSaw) {
  Election election("me", {});
  LeaseRecord record = HeldBy("other");
  election.Observe(record, kStart);
  record.renew_time = "renewed again";
  election.Observe(record, kStart + seconds(10));
  election.Observe(record, kStart + seconds(20));
  EXPECT_EQ(election.Next(kStart + seconds(24), 0).kind, Kind::kNothing);
  election.Observe(record, kStart + seconds(25));
  EXPECT_EQ(election.Next(kStart + seconds(25), 0).kind, Kind::kReplace);
}

TEST(Election, LeadsForTheRenewTimeFromTheSendingOfItsLastWrite) {
  Election election("me", {});
  EXPECT_FALSE(election.IsLeader(kStart));
  election.Observe(std::nullopt, kStart);
  EXPECT_FALSE(election.IsLeader(kStart));
  election.Wrote(HeldBy("me"), kStart, kStart + seconds(3));
  EXPECT_TRUE(election.IsLeader(kStart + seconds(9)));
  EXPECT_FALSE(election.IsLeader(kStart + seconds(10)));
  election.Failed();
  EXPECT_TRUE(election.IsLeader(kStart + seconds(9)));
  election.Wrote(HeldBy("me"), kStart + seconds(8), kStart + seconds(8));
  EXPECT_TRUE(election.IsLeader(kStart + seconds(17)));
}

TEST(Election, LeadsNoMoreWhereAnotherHoldsIt) {
  Election election("me", {});
  election.Wrote(HeldBy("me"), kStart, kStart);
  election.Observe(HeldBy("other"), kStart + seconds(1));
  EXPECT_FALSE(election.IsLeader(kStart + seconds(1)));
  EXPECT_EQ(election.holder(), "other");
}

TEST(Election, GivesBackOnlyWhatItHolds) {
  Election election("me", {});
  EXPECT_EQ(election.Release(0).kind, Kind::kNothing);
  election.Observe(HeldBy("other"), kStart);
  EXPECT_EQ(election.Release(0).kind, Kind::kNothing);
  election.Observe(HeldBy("me"), kStart);
  const Election::Action action = election.Release(5'000'000);
  EXPECT_EQ(action.kind, Kind::kReplace);
  EXPECT_EQ(action.record, (LeaseRecord{"", 1, "acquired", kNow, 4}));
  election.Wrote(action.record, kStart, kStart);
  EXPECT_FALSE(election.IsLeader(kStart));
}

TEST(LeaseBody, KeepsWhatOthersWroteIntoTheLease) {
  const Result<SeenLease> seen = ParseLease(
      R"({"metadata":{"name":"l","labels":{"a":"b"},"resourceVersion":"7"},)"
      R"("spec":{"holderIdentity":"x","leaseDurationSeconds":15,"strategy":"OldestEmulation"}})");
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->record, (LeaseRecord{"x", 15, "", "", 0}));
  EXPECT_EQ(LeaseBody(seen->object, {"me", 15, "t1", "t2", 1}),
            R"({"metadata":{"labels":{"a":"b"},"name":"l","resourceVersion":"7"},"spec":{)"
            R"("acquireTime":"t1","holderIdentity":"me","leaseDurationSeconds":15,)"
            R"("leaseTransitions":1,"renewTime":"t2","strategy":"OldestEmulation"}})");
}

TEST(ParseLease, RefusesWhatIsNoLease) {
  for (const char* body : {"", "[]", "{}", R"({"metadata":{"name":"l"}})", "<html>"}) {
    EXPECT_FALSE(ParseLease(body)) << body;
  }
}

// Three candidates, one server, one true clock in steps of 100 ms. Clocks start anywhere and run up
// to 15 % fast or slow; requests and answers are late by up to 20 s, or lost; a late write still
// arrives.
class Race {
 public:
  explicit Race(std::uint64_t seed) : random_(seed) {
    for (Candidate& c : candidates_) {
      c.permille = 850 + static_cast<std::int64_t>(random_.Below(301));
      c.offset = Millis(static_cast<std::int64_t>(random_.Below(1'000'000)));
    }
  }

  void Run(Millis time, int trouble_percent) {
    for (const Millis end = now_ + time; now_ < end; now_ += Millis(100)) {
      for (Candidate& c : candidates_) Advance(c, trouble_percent);
      for (auto& write : late_) {
        if (!write || now_ < write->arrives) continue;
        Arrive(*write);
        write.reset();
      }
    }
  }
  int Leaders() const {
    int leaders = 0;
    for (const Candidate& c : candidates_) leaders += c.election.IsLeader(Clock(c)) ? 1 : 0;
    return leaders;
  }
  int most_leaders() const { return most_leaders_; }
  int terms() const { return terms_; }

 private:
  struct Call {
    Election::Action action;
    int version = 0;  // that a write replaces
    int version_after = 0;
    Instant sent;  // by the sender's clock
    Millis arrives{}, ends{};
    bool arrived = false, answered = false;
    std::optional<LeaseRecord> read;
    bool written = false;
  };
  struct Candidate {
    std::string name;
    Election election{name, {}};
    std::int64_t permille = 1'000;
    Millis offset{};
    Millis wakes{};
    int version = 0;
    std::optional<Call> call{};
  };

  Instant Clock(const Candidate& c) const {
    return Instant(c.offset + Millis(now_.count() * c.permille / 1'000));
  }
  Millis Some(std::int64_t most) {
    return Millis(static_cast<std::int64_t>(random_.Below(static_cast<std::uint64_t>(most))));
  }

  void Advance(Candidate& c, int trouble_percent) {
    if (c.call) {
      if (!c.call->arrived && now_ >= c.call->arrives) {
        c.call->arrived = true;
        Arrive(*c.call);
      }
      if (now_ >= c.call->ends) End(c);
    } else if (now_ >= c.wakes) {
      Begin(c, trouble_percent);
    }
    const int leaders = Leaders();
    most_leaders_ = std::max(most_leaders_, leaders);
  }

  void Begin(Candidate& c, int trouble_percent) {
    const Election::Action action = c.election.Next(Clock(c), now_.count() * 1'000);
    c.wakes = now_ + Millis(1'500) + Some(1'000);
    if (action.kind == Kind::kNothing) return;
    const bool trouble = random_.Below(100) < static_cast<std::uint64_t>(trouble_percent);
    Call call{.action = action, .version = c.version, .sent = Clock(c), .read = {}};
    call.arrives = now_ + Some(trouble ? 20'000 : 200);
    const Millis back = call.arrives + Some(trouble ? 20'000 : 200);
    call.ends = std::min(back, now_ + Millis(5'000));  // the candidate gives up then
    call.answered = back == call.ends;
    c.call = call;
  }

  // The server's part.
  void Arrive(Call& call) {
    call.read = lease_;
    const bool writes =
        call.action.kind == Kind::kCreate ? !lease_ : call.action.kind == Kind::kReplace;
    if (writes && (call.version == version_)) {
      if (!lease_ || lease_->holder != call.action.record.holder) ++terms_;
      lease_ = call.action.record;
      ++version_;
      call.written = true;
    }
    call.version_after = version_;
  }

  void End(Candidate& c) {
    Call call = *std::exchange(c.call, std::nullopt);
    if (call.answered) c.version = call.version_after;
    if (!call.answered) {
      c.election.Failed();
      if (!call.arrived) late_[random_.Below(late_.size())] = call;
    } else if (call.action.kind == Kind::kRead) {
      c.election.Observe(call.read, Clock(c));
      c.wakes = now_;
    } else if (call.written) {
      c.election.Wrote(call.action.record, call.sent, Clock(c));
    } else {
      c.election.Failed();
    }
  }

  SplitMix64 random_;
  std::array<Candidate, 3> candidates_{Candidate{.name = "a"}, Candidate{.name = "b"},
                                       Candidate{.name = "c"}};
  std::array<std::optional<Call>, 4> late_;
  Millis now_{};
  std::optional<LeaseRecord> lease_;
  int version_ = 0;
  int most_leaders_ = 0;
  int terms_ = 0;
};

TEST(Election, HasNeverTwoLeadersWhateverIsLateOrLost) {
  int terms = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Race race(seed);
    race.Run(seconds(600), 60);
    EXPECT_LE(race.most_leaders(), 1) << seed;
    race.Run(seconds(60), 0);
    EXPECT_EQ(race.Leaders(), 1) << "one minute without trouble, " << seed;
    terms += race.terms();
  }
  EXPECT_GT(terms, 400);  // the lead did change hands
}

}  // namespace
}  // namespace weft::kube
