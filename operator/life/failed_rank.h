#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace weft::life {

// The rank that failed first, where the last words of an MPI launcher name it; nothing if they do
// not, or name several. Ranks are those of MPI_COMM_WORLD.
//   Open MPI  "MPI_ABORT was invoked on rank 7 in communicator MPI_COMM_WORLD"
//             "mpirun noticed that process rank 7 with PID 0 on node x exited on signal 9"
//             "The first process to do so was: Process name: [[43212,1],7]"; PRRTE:
//             "[prterun-x@1,7]"
//   MPICH     "application called MPI_Abort(MPI_COMM_WORLD, 1) - process 7"
std::optional<std::int64_t> FailedRank(std::string_view words);

}  // namespace weft::life
