#include "operator/objective/seating.h"

#include <gtest/gtest.h>

#include "tests/support/fabric_builder.h"
#include "tests/support/nodes_of.h"
#include "tests/support/raw_of.h"

namespace weft::objective {
namespace {

using Numbers = std::vector<std::uint32_t>;

Numbers Domains(const Seating& seating, fabric::Tier tier) {
  return testing::RawOf(seating.domains(tier));
}

Numbers Seats(const Seating& seating, fabric::Tier tier) {
  Numbers seats;
  for (const WorkerIndex w : Range<WorkerIndex>(seating.workers()))
    seats.push_back(seating.seat(w, tier));
  return seats;
}

// Two leaves of two nodes in one spine.
TEST(Seating, NumbersTheDomainsInUseByTheirFirstWorkers) {
  const testing::Cluster cluster = testing::MakeCluster(testing::Leaves({{8, 8}, {8, 8}}));
  const auto nodes = testing::WorkersOn({2, 0, 2, 3});
  const Seating seating(*cluster.fabric, nodes);
  EXPECT_EQ(seating.node_tier(), fabric::Tier{3});
  EXPECT_EQ(seating.workers(), 4U);
  EXPECT_EQ(Domains(seating, fabric::Tier{3}), (Numbers{2, 0, 3}));
  EXPECT_EQ(Seats(seating, fabric::Tier{3}), (Numbers{0, 1, 0, 2}));
  EXPECT_EQ(Domains(seating, fabric::Tier{2}), (Numbers{1, 0}));
  EXPECT_EQ(Seats(seating, fabric::Tier{2}), (Numbers{0, 1, 0, 0}));
  for (const fabric::Tier one : {fabric::Tier{0}, fabric::Tier{1}}) {
    EXPECT_EQ(Domains(seating, one), (Numbers{0}));
    EXPECT_EQ(Seats(seating, one), (Numbers{0, 0, 0, 0}));
  }
}

TEST(Seating, CountsDifferentValues) {
  EXPECT_EQ(CountDistinct({fabric::DomainIndex{3}, fabric::DomainIndex{1}, fabric::DomainIndex{3}}),
            2U);
  EXPECT_EQ(CountDistinct({}), 0U);
}

}  // namespace
}  // namespace weft::objective
