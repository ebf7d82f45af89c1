#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "operator/inplace/message.h"

namespace weft::inplace {

// Where the trainers of a revision meet: this port of worker 0, base + revision mod 16. A process
// of an earlier revision that is still alive somewhere, on a node that is cut off, then finds
// nobody who listens.
inline constexpr int kPorts = 16;
constexpr int PortOf(int base, Revision revision) { return base + revision % kPorts; }

// The variables that differ between revisions: torchrun reads the PET_ ones, a script that torchrun
// does not start MASTER_ADDR and MASTER_PORT, JAX its own. All others stay as they are.
//   Source  torch.distributed.run, "--master-port" and the prefix PET_;
//           jax.distributed.initialize, JAX_COORDINATOR_ADDRESS.
using Variables = std::vector<std::pair<std::string, std::string>>;
Variables VariablesOf(std::string_view leader_host, int base_port, Revision revision);

// A process's environment ("NAME=VALUE" each) with these variables set, and without
// WEFT_RUN_TOKEN, which is no affair of the trainer.
std::vector<std::string> WithVariables(const std::vector<std::string>& environment,
                                       const Variables& variables);

}  // namespace weft::inplace
