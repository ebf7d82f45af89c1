# For end-to-end scripts that need a cluster. Source it instead of lib.sh:
#
#   source "$(dirname "$0")/cluster_lib.sh"
#   enter_cluster
#   own_namespace
#   kubectl apply -f job.yaml
#   kubectl wait --for=condition=Complete --timeout=60s trainingjob/a
#
# ctest brings one cluster up for all of them and takes it down after the last (the fixture
# `cluster`, given to every script that sources this file). After enter_cluster KUBECONFIG names its
# administrator, and after own_namespace a namespace of the script's own, gone when it ends. The
# cluster begins with Weft's definitions and no nodes: they, and all else that has no namespace,
# are shared by scripts that may run at once, so names and labels carry the script's name.
# shellcheck shell=bash
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

: "${WEFT_CLUSTER_DIR:?where the fixture has its cluster: see tests/e2e/CMakeLists.txt}"

# enter_cluster [NAME]: KUBECONFIG and PATH of a cluster that is up; default: the shared one.
enter_cluster() {
  local cluster=${1:-shared}
  export KUBECONFIG=$WEFT_CLUSTER_DIR/$cluster/kubeconfig
  [ -r "$KUBECONFIG" ] ||
    { echo "e2e: the cluster '$cluster' is not up in $WEFT_CLUSTER_DIR" >&2; exit 1; }
  PATH=$(cat "$WEFT_CLUSTER_DIR/$cluster/bin"):$PATH
}

# own_namespace: named after the script; pods can be made in it.
own_namespace() {
  local made_by
  made_by=$(basename "$0" .sh)
  namespace=${made_by//_/-}
  kubectl create namespace "$namespace" >/dev/null
  trap 'kubectl delete namespace "$namespace" --wait=false >/dev/null; rm -rf "$work"' EXIT
  kubectl wait --for=create --timeout=60s -n "$namespace" serviceaccount/default >/dev/null
  sed "s/^  context: {/&namespace: $namespace, /" "$KUBECONFIG" >"$work/kubeconfig"
  export KUBECONFIG=$work/kubeconfig
}
