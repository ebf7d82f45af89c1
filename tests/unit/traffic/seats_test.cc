#include "operator/traffic/seats.h"

#include <limits>
#include <string>

#include "gtest/gtest.h"
#include "operator/base/random.h"

namespace weft::traffic {
namespace {

using Numbers = std::vector<std::uint32_t>;

Ranks RanksOf(const Numbers& numbers) { return {numbers.begin(), numbers.end()}; }

// Each batch as "2x[0:1 3:2]": two groups, one rank in worker 0, then two in worker 3.
std::string Show(const SeatedGroups& seated) {
  std::string text;
  for (std::size_t b = 0; b < seated.batches(); ++b) {
    text += (b == 0 ? "" : " ") + std::to_string(seated.groups(b)) + "x[";
    for (const Seat& seat : seated.seats(b)) {
      if (text.back() != '[') text += ' ';
      text += std::to_string(seat.worker.Raw()) + ":" + std::to_string(seat.ranks);
    }
    text += "]";
  }
  return text;
}

TEST(SeatedGroups, AlikeNeighboursAreOneBatch) {
  struct Case {
    const char* name;
    Numbers members;
    std::uint32_t group_size, per_worker;
    const char* want;
  };
  const Case cases[] = {
      {"no groups", {}, 2, 2, ""},
      {"one rank a worker: none alike", {0, 2, 1, 3}, 2, 1, "1x[0:1 2:1] 1x[1:1 3:1]"},
      {"one for each rank of a worker", {0, 2, 1, 3}, 2, 2, "2x[0:1 1:1]"},
      {"a group inside a worker", {0, 1, 2, 3}, 4, 4, "1x[0:4]"},
      {"runs of ranks", {0, 1, 2, 3, 4, 5}, 6, 2, "1x[0:2 1:2 2:2]"},
      {"a worker that comes back", {0, 2, 1, 3}, 4, 2, "1x[0:1 1:1 0:1 1:1]"},
      {"alike, but not neighbours",
       {0, 2, 4, 6, 1, 3},
       2,
       2,
       "1x[0:1 1:1] 1x[2:1 3:1] 1x[0:1 1:1]"},
      {"the same workers in another order", {0, 2, 3, 1}, 2, 2, "1x[0:1 1:1] 1x[1:1 0:1]"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Show(SeatedGroups(RanksOf(c.members), c.group_size, c.per_worker)), c.want) << c.name;
  }
}

TEST(SeatedGroups, SaysOfEveryMemberWhichWorkerHoldsIt) {
  SplitMix64 random(3);
  for (int i = 0; i < 500; ++i) {
    const auto per_worker = static_cast<std::uint32_t>(1 + random.Below(9));
    const auto size = static_cast<std::uint32_t>(1 + random.Below(7));
    Numbers members(size * random.Below(12));
    for (std::uint32_t& rank : members) rank = static_cast<std::uint32_t>(random.Below(40));
    Numbers workers, want;
    for (const std::uint32_t rank : members) want.push_back(rank / per_worker);
    const SeatedGroups seated(RanksOf(members), size, per_worker);
    std::size_t seats = 0;
    for (std::size_t b = 0; b < seated.batches(); ++b) {
      seats += seated.seats(b).size();
      for (std::uint32_t g = 0; g < seated.groups(b); ++g) {
        for (const Seat& seat : seated.seats(b)) {
          workers.insert(workers.end(), seat.ranks, seat.worker.Raw());
        }
      }
    }
    ASSERT_EQ(workers, want) << i;
    ASSERT_EQ(seats, seated.seats_in_all()) << i;
  }
}

TEST(SeatedGroups, DividesExactlyUpToTheLastRank) {
  constexpr std::uint32_t kLast = std::numeric_limits<std::uint32_t>::max();
  for (std::uint32_t per_worker : {1U, 2U, 3U, 7U, 8U, 641U, 65535U, 65537U, kLast - 1, kLast}) {
    const std::uint32_t edge = kLast / per_worker * per_worker;  // first rank of the last worker
    const Numbers ranks = {edge - 1, edge, kLast};
    Numbers want, got;
    for (const std::uint32_t rank : ranks) want.push_back(rank / per_worker);
    const SeatedGroups seated(RanksOf(ranks), 1, per_worker);
    for (std::size_t b = 0; b < seated.batches(); ++b) {
      got.insert(got.end(), seated.groups(b), seated.seats(b)[0].worker.Raw());
    }
    EXPECT_EQ(got, want) << per_worker;
  }
}

}  // namespace
}  // namespace weft::traffic
