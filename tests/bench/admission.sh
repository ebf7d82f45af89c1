#!/usr/bin/env bash
# How fast Weft answers Kueue on a large cluster: from quota reserved to the check Ready, and from the
# end of an evicted job's last pod until its nodes are free. See admission.py.
#
#   tests/bench/admission.sh [NODES [JOBS [WORKERS]]]    default 10,000 nodes, of which 30 % are in
#                                                        use, and 100 jobs of 64 workers
#
# Needs build/, the control plane, and the managers in $WEFT_PEERS (default ../shared/peers).
set -euo pipefail
cd "$(dirname "$0")/../.."
export WEFT_OPERATOR=${WEFT_OPERATOR:-$PWD/build/bin/weft-operator}
export WEFT_PEERS_PROGRAM=${WEFT_PEERS:-$PWD/../shared/peers}/peers.py
[ -x "$WEFT_PEERS_PROGRAM" ] || { echo "no $WEFT_PEERS_PROGRAM: set WEFT_PEERS" >&2; exit 1; }
work=$(mktemp -d)
export WEFT_PEERS_WORK=$work/peers
end() {
  "$WEFT_PEERS_PROGRAM" down --dir "$WEFT_PEERS_WORK" >/dev/null 2>&1 || true
  deploy/local-cluster.sh down --name admission >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap end EXIT

eval "$(deploy/local-cluster.sh up --name admission --nodes "${1:-10000}" --fragmented 30)"
kubectl create namespace weft-system >/dev/null
tests/bench/admission.py "${2:-100}" "${3:-64}" "$work"
