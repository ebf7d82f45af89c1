#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "operator/launch/gang.h"

namespace weft::launch {

// mpirun runs on worker 0; the other workers run sshd, until the job is complete. Every
// implementation starts its ranks in the order of the workers, perWorker on each:
//   Open MPI 4 and 5  by the sequential mapper: line r of the hostfile is where rank r runs.
//                     Without it the hostfile's order is no promise, and version 4 puts the
//                     launch node first. Version 5 reads PRTE_MCA_* and not OMPI_MCA_*, so both
//                     are set.
//   Intel MPI, MPICH  in the order of the hostfile, which says how many.
// Source  open-mpi/ompi issues 13199, 4327; PRRTE 3 rmaps; hydra's and Intel's environment.
Environment MpiEnvironment(const Gang& gang);
// Defaults that a template may override: permission to run as root, and the interface of Intel
// MPI's and MPICH's control connections (a pod's bare host name resolves nowhere else).
Environment MpiDefaults(const Gang& gang);

// In /etc/weft, beside placement.json and hostfile (host_file.h): rsh, which waits for a worker and
// then is ssh; ssh_config; and for the workers worker (their command), sshd_config and session,
// which gives what ssh starts the container's environment.
std::map<std::string, std::string> MpiFiles(const Gang& gang);

// The key pair of one attempt: every worker's own as host and as user. The public one as in
// authorized_keys.
struct SshKey {
  std::string private_pem, public_line;
};
// "<job>-<attempt>-weft-<8 digits of the Placement's uid>". The operator may not read Secrets: by
// the name alone the Secret of an earlier job of that name is another one.
std::string SecretName(const Gang& gang);
// The Secret with it; mounted below /etc/weft/ssh.
nlohmann::json MakeSshSecret(const Gang& gang, const SshKey& key);
// The Secret's part of the volume with the gang's files.
nlohmann::json SshVolumeSource(const Gang& gang);

// The first container that has accelerators, else the first; null where there is none.
nlohmann::json* WorkerContainer(const api::TrainingJob& job, nlohmann::json& spec);

// Workers other than the first: WorkerContainer runs sshd in place of its command.
void ServeSsh(const api::TrainingJob& job, nlohmann::json& spec);

}  // namespace weft::launch
