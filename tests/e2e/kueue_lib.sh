# For scripts that need the real Kueue and JobSet. Source it after operator_cluster.sh. Their managers
# are in the folder WEFT_PEERS, by default ../shared/peers beside the source tree. Where it is
# missing the script is left out, and says so; with CI=true it fails.
# shellcheck shell=bash

peers=${WEFT_PEERS:-${WEFT_SOURCE_DIR:-$here/../..}/../shared/peers}
if [ ! -x "$peers/peers.py" ]; then
  [ "${CI:-}" != true ] || fail "there is no $peers/peers.py: set WEFT_PEERS"
  echo "LEFT OUT: no managers of Kueue in $peers (WEFT_PEERS); nothing of this script has run" >&2
  exit 77
fi
export WEFT_PEERS_PROGRAM=$peers/peers.py WEFT_PEERS_WORK=$work/peers
trap '"$peers/peers.py" down --dir "$work/peers" >/dev/null 2>&1
      "$local_cluster" down --name operator >/dev/null 2>&1; rm -rf "$work"' EXIT

# run_beside_kueue NODES FILE...: like run_scenarios, with the policies and the rights of the chart.
# The scenarios start the managers.
run_beside_kueue() {
  local nodes=$1 file
  shift
  expect_exit 0 "$local_cluster" up --name operator --nodes "$nodes"
  eval "$(<"$work/stdout")"
  kubectl create namespace weft-system >/dev/null
  helm template weft "${WEFT_SOURCE_DIR:-$here/../..}/charts/weft" --kube-version 1.36.0 \
    --namespace weft-system --set kueue.enabled=true --show-only templates/gate-policy.yaml \
    --show-only templates/operator-policies.yaml --show-only templates/rbac-operator.yaml \
    --show-only templates/serviceaccount.yaml >"$work/chart.yaml"
  kubectl apply -f "$work/chart.yaml" >/dev/null
  for file in "$@"; do
    python3 "$here/$file" || fail "$file"
    checks=$((checks + 1))
  done
  "$peers/peers.py" down --dir "$work/peers"
  expect_exit 0 "$local_cluster" down --name operator
}
