#include "operator/cluster/job_owner.h"

#include <gtest/gtest.h>

namespace weft::cluster {
namespace {

TEST(JobOwner, IsTheJobOfItsUidOrOfItsNameWhereAUidIsMissing) {
  const JobOwner known{"a", "1"}, named{"a", ""};
  EXPECT_TRUE(known.Is("1"));
  EXPECT_FALSE(known.Is("2"));
  EXPECT_TRUE(known.Is(""));
  EXPECT_TRUE(named.Is("2"));
  EXPECT_TRUE(named.Is(""));
}

}  // namespace
}  // namespace weft::cluster
