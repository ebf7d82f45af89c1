#include "operator/inplace/message.h"

#include <gtest/gtest.h>

#include "operator/base/random.h"

namespace weft::inplace {
namespace {

std::string WithoutNewline(std::string line) {
  EXPECT_EQ(line.back(), '\n');
  line.pop_back();
  return line;
}

TEST(Message, ReadsWhatItWrites) {
  const Message messages[] = {
      Report{2, 8, 3, 0xfedcba9876543210U, 7, Phase::kRunning, 7},
      Report{0, 1, 0, 0, 0, Phase::kDown, kNoRevision},
      Report{7, 8, 0, 1, kMaxRevision, Phase::kStopping, 5},
      Order{4, OrderKind::kStart, 0, 2},
      Order{kMaxRevision, OrderKind::kLeave, kMaxWorkers, kMaxWorkers},
      Refusal::kTaken,
  };
  for (const Message& message : messages) {
    for (const char* token : {"", "s3cret"}) {
      const std::string line = WithoutNewline(Encode(message, token));
      const auto read = Decode(line, token);
      ASSERT_TRUE(read) << line;
      EXPECT_EQ(*read, message) << line;
    }
  }
  EXPECT_EQ(Encode(Report{2, 8, 0, 0x1f3a, 4, Phase::kRunning, 4}, "t"),
            "weft-run/1 t report 2 8 0 1f3a 4 running 4\n");
}

TEST(Message, RefusesAnotherToken) {
  const std::string line = WithoutNewline(Encode(Order{1, OrderKind::kHold, 0, 0}, "secret"));
  for (const char* token : {"", "secre", "secrets", "Secret", "secretsecret"}) {
    const auto read = Decode(line, token);
    ASSERT_FALSE(read) << token;
    EXPECT_EQ(read.error().message, "wrong token");
  }
}

TEST(Message, RefusesWhatNoParentSends) {
  for (const char* line : {
           "",
           "weft-run/1",
           "weft-run/2 t order 1 hold 0 0",
           "weft-run/1 t order 1 hold 0",
           "weft-run/1 t order 1 hold 0 0 ",
           "weft-run/1 t order 1 halt 0 0",
           "weft-run/1 t order -1 hold 0 0",
           "weft-run/1 t order 1000000001 hold 0 0",
           "weft-run/1 t order 1  hold 0 0",
           "weft-run/1 t order +1 hold 0 0",
           "weft-run/1 t refused",
           "weft-run/1 t refused why",
           "weft-run/1 t report 8 8 0 1 4 running 4",    // a rank that there is not
           "weft-run/1 t report 2 8 5 1 4 running 4",    // born after what it knows
           "weft-run/1 t report 2 8 0 1 4 running 5",    // runs more than it knows
           "weft-run/1 t report 2 8 0 1 4 running 3",    // runs less than it knows
           "weft-run/1 t report 2 8 0 1 4 down 4",       // is down at what it has started
           "weft-run/1 t report 2 8 0 1 4 stopping -1",  // stops nothing
           "weft-run/1 t report 2 8 0 1 4 sleeping 4",
           "weft-run/1 t report 2 8 0 10000000000000000 4 running 4",
           "weft-run/1 t report 2 99999999 0 1 4 running 4",
       }) {
    EXPECT_FALSE(Decode(line, "t")) << line;
  }
  EXPECT_FALSE(Decode("weft-run/1 t report " + std::string(kMaxLineBytes, '1'), "t"));
}

TEST(Message, SurvivesRandomChanges) {
  SplitMix64 random(11);
  int read = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::string line =
        WithoutNewline(Encode(Report{2, 8, 3, random.Next(), 7, Phase::kRunning, 7}, "t"));
    for (std::uint64_t changes = random.Below(4); changes > 0; --changes) {
      line[random.Below(line.size())] = static_cast<char>(random.Below(256));
    }
    if (random.Below(8) == 0) line.resize(random.Below(line.size()));
    const auto message = Decode(line, "t");
    if (!message) continue;
    ++read;
    // Whatever is read can be written and read again.
    EXPECT_EQ(*Decode(WithoutNewline(Encode(*message, "t")), "t"), *message);
  }
  EXPECT_GT(read, 10'000);
}

TEST(Message, KnowsTokens) {
  EXPECT_TRUE(IsToken(""));
  EXPECT_TRUE(IsToken("abc.DEF-123_~"));
  EXPECT_FALSE(IsToken("a b"));
  EXPECT_FALSE(IsToken("a\n"));
  EXPECT_FALSE(IsToken("\xc3\xa4"));
  EXPECT_FALSE(IsToken(std::string(kMaxTokenBytes + 1, 'a')));
}

}  // namespace
}  // namespace weft::inplace
