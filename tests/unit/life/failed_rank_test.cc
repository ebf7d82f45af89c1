#include "operator/life/failed_rank.h"

#include <gtest/gtest.h>

#include <string>

namespace weft::life {
namespace {

struct Case {
  std::string name, words;  // the name reads as a sentence
  std::optional<std::int64_t> want;
};

TEST(FailedRankTest, IsTheOneThatTheLauncherNames) {
  const Case cases[] = {
      {"Open MPI after MPI_Abort",
       "--- MPI_ABORT was invoked on rank 7 in communicator MPI_COMM_WORLD with errorcode 1. NOTE: "
       "invoking MPI_ABORT causes Open MPI to kill all MPI processes.",
       7},
      {"Open MPI after a signal",
       "mpirun noticed that process rank 12 with PID 0 on node j-1 exited on signal 9 (Killed).",
       12},
      {"Open MPI after an exit code",
       "The first process to do so was: Process name: [[43212,1],5] Exit code: 3", 5},
      {"Open MPI 5 names processes otherwise",
       "The first process to do so was: Process name: [prterun-j-0-17@1,3] Exit code: 3", 3},
      {"MPICH after MPI_Abort",
       "Abort(1) on node 9: application called MPI_Abort(MPI_COMM_WORLD, 1) - process 9", 9},
      {"the same rank twice",
       "MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD with mpirun noticed that "
       "process rank 0 with",
       0},
      {"two ranks",
       "mpirun noticed that process rank 1 with mpirun noticed that process rank 2 with",
       {}},
      {"a rank of another communicator",
       "MPI_ABORT was invoked on rank 0 in communicator MPI COMMUNICATOR 4 SPLIT FROM 0 with",
       {}},
      {"of which Open MPI 5 names the process",
       "MPI_ABORT was invoked on rank 0 in communicator MPI COMMUNICATOR 4 SPLIT FROM 0 Proc: "
       "[[43212,1],7] Errorcode: 1",
       7},
      {"no number", "MPI_ABORT was invoked on rank x", {}},
      {"a negative one", "MPI_ABORT was invoked on rank -1 in", {}},
      {"the end is missing", "Process name: [[4321", {}},
      {"a number that is none", "MPI_ABORT was invoked on rank 99999999999999999999 in", {}},
      {"others speak of ranks too", "RuntimeError: rank 3 is late", {}},
      {"nothing is said", "", {}},
  };
  for (const Case& c : cases) EXPECT_EQ(FailedRank(c.words), c.want) << c.name;
}

}  // namespace
}  // namespace weft::life
