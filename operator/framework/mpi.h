#pragma once

#include <map>
#include <string>

#include "operator/framework/traits.h"

namespace weft::framework {

// mpirun runs on worker 0; in the other workers the container with accelerators runs sshd instead
// of its command, until the job is complete. Every implementation starts the ranks in the order of
// the workers, perWorker ranks on each:
//   Open MPI 4 and 5  by the sequential mapper: rank r runs on the host in line r of the
//                     hostfile. Other mappers do not guarantee this order: version 4 puts the
//                     launch node first. Version 5 reads PRTE_MCA_* instead of OMPI_MCA_*, so
//                     both are set.
//   Intel MPI, MPICH  in the order of the hostfile, which also says how many ranks run on each
//                     host.
// Source  open-mpi/ompi issues 13199, 4327; PRRTE 3 rmaps; hydra's and Intel's environment.
const Traits& MPITraits();

// Defaults that a template may override: permission to run as root, and the interface for control
// connections of Intel MPI and MPICH (a pod's bare host name resolves only in that pod).
Environment MpiDefaults(const Gang& gang);

// Files in /etc/weft in addition to placement.json and hostfile (launch/host_file.h): rsh, which
// waits for a worker and then runs ssh; ssh_config; and, for the workers, worker (their command),
// sshd_config, and session, which gives programs that ssh starts the container's environment.
std::map<std::string, std::string> MpiFiles(const Gang& gang);

}  // namespace weft::framework
