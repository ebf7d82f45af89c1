# A cluster of its own for each script of weft-operator's scenarios: they stop servers, lose nodes
# and fill it. Source it, then call run_scenarios. CMake knows by deploy/local-cluster.sh, named
# here and in the scripts, that they need a cluster.
# shellcheck shell=bash
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
local_cluster=${WEFT_SOURCE_DIR:-$here/../..}/deploy/local-cluster.sh
: "${WEFT_OPERATOR:?the weft-operator binary to test}"
export WEFT_OPERATOR WEFT_CLUSTER_DIR=$work/clusters WEFT_AUDIT_POLICY=$here/audit_policy.yaml
export WEFT_LOCAL_CLUSTER=$local_cluster
trap '"$local_cluster" down --name operator >/dev/null 2>&1; rm -rf "$work"' EXIT

# run_scenarios NODES FILE...: in turn, on one cluster of so many nodes, of $design, and of
# $kubernetes where it is set.
run_scenarios() {
  local nodes=$1 file
  shift
  expect_exit 0 "$local_cluster" up --name operator --nodes "$nodes" \
    --design "${design:-dgx-h100-superpod}" ${kubernetes:+--kubernetes "$kubernetes"}
  eval "$(<"$work/stdout")"
  kubectl create namespace weft-system >/dev/null
  for file in "$@"; do
    python3 "$here/$file" || fail "$file"
    checks=$((checks + 1))
  done
  expect_exit 0 "$local_cluster" down --name operator
}

# needs_release RELEASE: sets $programs, the folder of its programs; without them nothing is tested.
needs_release() {
  local build=${WEFT_SOURCE_DIR:-$here/../..}/tests/controlplane/build.sh
  programs=$("$build" --kubernetes "$1" --where)
  [ ! -x "$programs/helm" ] || return 0
  [ "${CI:-}" != true ] || fail "no programs of Kubernetes $1 in the cache"
  echo "LEFT OUT: no programs of Kubernetes $1 in the cache:" \
    "tests/controlplane/build.sh --kubernetes $1 builds them" >&2
  exit 77
}
