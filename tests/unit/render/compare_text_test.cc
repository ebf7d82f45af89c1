#include "operator/render/compare_text.h"

#include <gtest/gtest.h>

#include "tests/unit/render/planned.h"

namespace weft::render {
namespace {

using testing::FourNodes;
using testing::Scene;

std::string Text(const Scene& scene, int columns = 100) {
  const Planned planned(scene);
  return CompareText(planned.cluster, report::Compare(planned.cluster, planned.report),
                     Plain(columns));
}

TEST(CompareTextTest, ShowsAllJobsThenEachWithWhatLeavesEveryLevel) {
  Scene scene(FourNodes());
  scene.Pod("p", "n0");
  scene.Job("pair", 2).model = testing::MeasuredData(1'000'000'000);
  scene.Job("one", 1).model = testing::MeasuredData(1'000'000'000);
  EXPECT_EQ(
      Text(scene),
      R"(The first column that differs is LEAVE LEAF: weft 0 B, first fit 2 GB, fewest domains 0 B, random
  2 GB.

All 2 jobs that every scheduler placed, one step each
  PLACED BY        LEAVE LEAF            COMM   COST
  weft             0 B         21.1 ms         1.00x
  first fit       2 GB      -  41.1 ms  1.95x  2.00x
  fewest domains   0 B  1.00x  21.1 ms  1.00x  1.00x
  random          2 GB      -  41.1 ms  1.95x  2.00x
  The same for all: CROSS NODES 2 GB.

ns/pair
  PLACED BY        LEAVE LEAF          COMM   COST
  weft             0 B         20 ms         1.00x
  first fit       2 GB      -  40 ms  2.00x  2.00x
  fewest domains   0 B  1.00x  20 ms  1.00x  1.00x
  random          2 GB      -  40 ms  2.00x  2.00x
  The same for all: CROSS NODES 2 GB.

ns/one
  The same for all: CROSS NODES 0 B, COMM 1.11 ms, COST 1.00x.

Computed, not assumed: each scheduler places the whole queue on the same free nodes under the same
node rules. first fit takes nodes by name; fewest domains takes the narrowest level that holds the
job, else the fewest domains, workers in order; random is the median of five seeds. LEAVE X: bytes
of one optimizer step that leave a domain of level X; COMM: communication of one step without
overlap, added up over jobs; COST: the objective, relative to Weft's. A figure that is the same for
all has no column.
)");
}

TEST(CompareTextTest, AJobThatNobodyPlacedHasOneLine) {
  Scene scene(FourNodes());
  scene.Job("huge", 5);
  scene.Job("ring", 2);
  EXPECT_EQ(Text(scene, 80), R"(ns/huge
  placed by none

ns/ring
  PLACED BY        COST
  weft            1.00x
  first fit       1.00x
  fewest domains  1.00x
  random          2.00x

Computed, not assumed: each scheduler places the whole queue on the same free
nodes under the same node rules. first fit takes nodes by name; fewest domains
takes the narrowest level that holds the job, else the fewest domains, workers
in order; random is the median of five seeds. LEAVE X: bytes of one optimizer
step that leave a domain of level X; COMM: communication of one step without
overlap, added up over jobs; COST: the objective, relative to Weft's. A figure
that is the same for all has no column.
)");
}

TEST(CompareTextTest, WithoutJobsThereIsNothing) { EXPECT_EQ(Text(Scene(FourNodes())), ""); }

}  // namespace
}  // namespace weft::render
