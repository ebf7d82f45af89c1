#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "operator/launch/gang.h"

namespace weft::launch {

// mpirun runs on worker 0; the other workers run sshd until the job is complete. Every
// implementation starts the ranks in the order of the workers, perWorker ranks on each:
//   Open MPI 4 and 5  by the sequential mapper: rank r runs on the host in line r of the
//                     hostfile. Other mappers do not guarantee this order: version 4 puts the
//                     launch node first. Version 5 reads PRTE_MCA_* instead of OMPI_MCA_*, so
//                     both are set.
//   Intel MPI, MPICH  in the order of the hostfile, which also says how many ranks run on each
//                     host.
// Source  open-mpi/ompi issues 13199, 4327; PRRTE 3 rmaps; hydra's and Intel's environment.
Environment MpiEnvironment(const Gang& gang);
// Defaults that a template may override: permission to run as root, and the interface for control
// connections of Intel MPI and MPICH (a pod's bare host name resolves only in that pod).
Environment MpiDefaults(const Gang& gang);

// Files in /etc/weft in addition to placement.json and hostfile (host_file.h): rsh, which waits for
// a worker and then runs ssh; ssh_config; and, for the workers, worker (their command),
// sshd_config, and session, which gives programs that ssh starts the container's environment.
std::map<std::string, std::string> MpiFiles(const Gang& gang);

// The first container that has accelerators, else the first container; null if there is none.
nlohmann::json* WorkerContainer(const api::TrainingJob& job, nlohmann::json& spec);

// For workers other than worker 0: WorkerContainer runs sshd instead of its command.
void ServeSsh(const api::TrainingJob& job, nlohmann::json& spec);

}  // namespace weft::launch
