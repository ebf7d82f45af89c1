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

// The key pair of one attempt. Every worker uses it as host key and as user key. The public key has
// the format of authorized_keys.
struct SshKey {
  std::string private_pem, public_line;
};
// "<job>-<attempt>-weft-<8 digits of the Placement's uid>". The operator may not read Secrets, so
// the uid in the name tells the Secret apart from that of an earlier job with the same name.
std::string SecretName(const Gang& gang);
// The Secret with the key pair; it is mounted at /etc/weft/ssh.
nlohmann::json MakeSshSecret(const Gang& gang, const SshKey& key);
// The Secret's part of the volume with the gang's files.
nlohmann::json SshVolumeSource(const Gang& gang);

// The first container that has accelerators, else the first container; null if there is none.
nlohmann::json* WorkerContainer(const api::TrainingJob& job, nlohmann::json& spec);

// For workers other than worker 0: WorkerContainer runs sshd instead of its command.
void ServeSsh(const api::TrainingJob& job, nlohmann::json& spec);

}  // namespace weft::launch
