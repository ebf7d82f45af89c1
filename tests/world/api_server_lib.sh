# A real API server alone: kube-apiserver on etcd, without controllers, scheduler and kubelets, so that
# nothing happens except for requests. For faithful_test.sh.
#
#   source tests/world/api_server_lib.sh
#   api_server_up FOLDER      sets KUBECONFIG and puts kubectl in PATH; Weft's kinds are installed
#   api_server_down FOLDER
# shellcheck shell=bash
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
parts=$root/deploy/local-cluster
# shellcheck source=deploy/local-cluster/processes.sh
source "$parts/processes.sh"
# shellcheck source=deploy/local-cluster/certificates.sh
source "$parts/certificates.sh"
# shellcheck source=deploy/local-cluster/servers.sh
source "$parts/servers.sh"

say() { echo "api server: $*" >&2; }
die() { say "$*"; exit 1; }



# As start_missing in servers.sh, with two of its servers.
start_missing() {
  bring_up etcd etcd_answers || return 1
  bring_up kube-apiserver apiserver_answers
}

api_server_up() {
  dir=$1 name=alone fresh=yes nodes=0
  bin=$("$root/tests/controlplane/build.sh" | tail -n 1)
  PATH=$bin:$PATH
  mkdir -p "$dir/logs" "$dir/pids"
  make_certificates
  export KUBECONFIG=$dir/kubeconfig
  start_servers
  kubectl apply --server-side -f "$root/crds" >>"$dir/logs/kubectl.log"
  wait_for 'established definitions' "$dir/logs/kubectl.log" \
    kubectl wait --for=condition=Established --timeout=30s -f "$root/crds"
}

api_server_down() {
  dir=$1
  stop kube-apiserver
  stop etcd
}
