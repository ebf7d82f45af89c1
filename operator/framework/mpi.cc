#include "operator/framework/mpi.h"

#include <array>
#include <nlohmann/json.hpp>

#include "operator/framework/host_name.h"
#include "operator/framework/worker_container.h"

namespace weft::framework {
namespace {

using Json = nlohmann::json;
using api::MpiImplementation;

// horovodrun starts its ranks with MPI's launcher, or by ssh like MPI.
constexpr auto kMpiLaunchers =
    std::to_array<std::string_view>({"mpirun", "mpiexec", "mpiexec.hydra", "horovodrun"});

constexpr auto kOpenMpiVariables = std::to_array<std::string_view>(
    {"OMPI_MCA_orte_default_hostfile", "OMPI_MCA_orte_keep_fqdn_hostnames",
     "OMPI_MCA_orte_set_default_slots", "OMPI_MCA_rmaps", "OMPI_MCA_plm", "OMPI_MCA_plm_rsh_agent",
     "PRTE_MCA_prte_default_hostfile", "PRTE_MCA_prte_keep_fqdn_hostnames",
     "PRTE_MCA_rmaps_default_mapping_policy", "PRTE_MCA_plm", "PRTE_MCA_plm_ssh_agent"});
constexpr auto kIntelVariables = std::to_array<std::string_view>(
    {"I_MPI_HYDRA_HOST_FILE", "I_MPI_HYDRA_BOOTSTRAP", "I_MPI_HYDRA_BOOTSTRAP_EXEC",
     "I_MPI_PERHOST", "I_MPI_JOB_RESPECT_PROCESS_PLACEMENT"});
constexpr auto kMpichVariables = std::to_array<std::string_view>(
    {"HYDRA_HOST_FILE", "HYDRA_LAUNCHER", "HYDRA_LAUNCHER_EXEC", "HYDRA_ENV", "HYDRA_RMK"});

Names MpiVariables(const api::Framework& framework) {
  if (framework.implementation == MpiImplementation::kIntel) return kIntelVariables;
  return framework.implementation == MpiImplementation::kMPICH ? Names(kMpichVariables)
                                                               : Names(kOpenMpiVariables);
}

HostFileForm MpiHostFile(const api::TrainingJob& job) {
  const std::uint32_t each = job.accelerator.per_worker;
  if (job.framework.implementation == MpiImplementation::kOpenMPI) {
    return {.times = each, .bare_first = true};
  }
  return {.behind = ":" + std::to_string(each), .times = 1};
}

std::string File(const char* name) { return std::string(kFilesFolder) + "/" + name; }

// The script waits until sshd on the worker accepts the key: an unresolved name, a closed port and
// a Secret that is not mounted yet cannot be told apart.
constexpr const char* kRsh = R"sh(#!/bin/sh
# [ssh options] HOST COMMAND...: ssh, as soon as the host answers; on this very host no ssh.
while [ $# -gt 0 ]; do
  case $1 in
    -[bcDEeFIiJLlmOopQRSWw]) shift 2 ;;
    -*) shift ;;
    *) break ;;
  esac
done
host=$1
shift
[ "$host" != "$WEFT_HOST" ] || exec /bin/sh -c "$*"
command -v ssh >/dev/null || { echo 'weft: mpirun needs ssh in the image' >&2; exit 127; }
tries=0
until ssh -n -F /etc/weft/ssh_config "$host" true 2>/dev/null; do
  tries=$((tries + 1))
  if [ $tries -gt 1500 ]; then echo "weft: no answer from $host" >&2; break; fi
  sleep 0.2
done
exec ssh -F /etc/weft/ssh_config "$host" "$@"
)sh";

constexpr const char* kWorker = R"sh(#!/bin/sh
# Serves mpirun of worker 0. What it starts gets this container's environment.
umask 077
export -p >"${TMPDIR:-/tmp}/weft-environment" || exit 1
mkdir -p /run/sshd 2>/dev/null
sshd=$(command -v sshd || echo /usr/sbin/sshd)
exec "$sshd" -D -e -f /etc/weft/sshd_config
)sh";

constexpr const char* kSession = R"sh(#!/bin/sh
. "${TMPDIR:-/tmp}/weft-environment"
exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"
)sh";

std::string SshConfig(const api::Framework& framework) {
  std::string text =
      "Host *\n  Port " + std::to_string(framework.ssh_port) +
      "\n  IdentityFile /etc/weft/ssh/id\n  UserKnownHostsFile /etc/weft/ssh/known_hosts\n"
      "  StrictHostKeyChecking yes\n  BatchMode yes\n  ConnectTimeout 10\n  LogLevel ERROR\n";
  if (!framework.ssh_user.empty()) text += "  User " + framework.ssh_user + "\n";
  return text;
}

std::string SshdConfig(const api::Framework& framework) {
  return "Port " + std::to_string(framework.ssh_port) +
         "\nHostKey /etc/weft/ssh/id\nAuthorizedKeysFile /etc/weft/ssh/authorized_keys\n"
         "StrictModes no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n"
         "PermitRootLogin prohibit-password\nUsePAM no\nPidFile none\nMaxStartups 1000\n"
         "ForceCommand /etc/weft/session\n";
}

Environment MpiEnvironment(const Gang& gang, WorkerIndex) {
  const std::string hosts = File("hostfile"), rsh = File("rsh");
  switch (gang.job->framework.implementation) {
    case MpiImplementation::kIntel:
      return {{"I_MPI_HYDRA_HOST_FILE", hosts},
              {"I_MPI_HYDRA_BOOTSTRAP", "ssh"},
              {"I_MPI_HYDRA_BOOTSTRAP_EXEC", rsh},
              {"I_MPI_PERHOST", std::to_string(gang.job->accelerator.per_worker)},
              {"I_MPI_JOB_RESPECT_PROCESS_PLACEMENT", "0"}};
    case MpiImplementation::kMPICH:
      return {{"HYDRA_HOST_FILE", hosts},
              {"HYDRA_LAUNCHER", "ssh"},
              {"HYDRA_LAUNCHER_EXEC", rsh},
              {"HYDRA_ENV", "none"}};  // else worker 0's replaces that of the others
    case MpiImplementation::kOpenMPI:
      break;
  }
  return {{"OMPI_MCA_orte_default_hostfile", hosts},
          {"OMPI_MCA_orte_keep_fqdn_hostnames", "1"},
          // Otherwise a host with one line would count as many ranks as it has cores.
          {"OMPI_MCA_orte_set_default_slots", std::to_string(gang.job->accelerator.per_worker)},
          {"OMPI_MCA_rmaps", "seq"},
          {"OMPI_MCA_plm_rsh_agent", rsh},
          {"PRTE_MCA_prte_default_hostfile", hosts},
          {"PRTE_MCA_prte_keep_fqdn_hostnames", "1"},
          {"PRTE_MCA_rmaps_default_mapping_policy", "seq"},
          {"PRTE_MCA_plm_ssh_agent", rsh}};
}

void ServeSsh(const api::TrainingJob& job, Json& spec) {
  Json* container = WorkerContainer(job, spec);
  if (container == nullptr) return;
  (*container)["command"] = {"/bin/sh", File("worker")};
  container->erase("args");
}

}  // namespace

Environment MpiDefaults(const Gang& gang) {
  const MpiImplementation implementation = gang.job->framework.implementation;
  if (implementation != MpiImplementation::kOpenMPI) {
    if (OnHostNetwork(*gang.job)) return {};
    const bool intel = implementation == MpiImplementation::kIntel;
    return {{intel ? "I_MPI_HYDRA_IFACE" : "HYDRA_IFACE", "eth0"}};
  }
  return {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
          {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
          {"PRTE_ALLOW_RUN_AS_ROOT", "1"},
          {"PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
          // Open MPI would bind a rank with all its threads to one core or NUMA node. Horovod's
          // page on MPI and NCCL's plug-in for EFA say not to; and in Debian's mpirun 4.1.4 that
          // has died of a segmentation fault in libhwloc.
          {"OMPI_MCA_hwloc_base_binding_policy", "none"},
          {"PRTE_MCA_hwloc_default_binding_policy", "none"}};
}

std::map<std::string, std::string> MpiFiles(const Gang& gang) {
  const api::Framework& framework = gang.job->framework;
  return {{"rsh", kRsh},
          {"ssh_config", SshConfig(framework)},
          {"worker", kWorker},
          {"sshd_config", SshdConfig(framework)},
          {"session", kSession}};
}

const Traits& MPITraits() {
  static constexpr Traits kTraits = {
      .environment = MpiEnvironment,
      .defaults = MpiDefaults,
      .reserved = MpiVariables,
      .files = MpiFiles,
      .host_file = MpiHostFile,
      .expects = "mpirun or mpiexec",
      .launchers = kMpiLaunchers,
      .serve = ServeSsh,
      .serve_not_found = "the image may lack sshd, which mpirun on worker 0 needs"};
  return kTraits;
}

}  // namespace weft::framework
