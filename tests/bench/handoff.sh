#!/usr/bin/env bash
# The hand-off of placements to kube-scheduler, measured on a local cluster of its own: one job of
# 1,024 workers on 5,000 nodes, then 50 jobs at once. See handoff.py.
#
#   tests/bench/handoff.sh [ROUNDS]    default 5; needs build/ and the control plane
set -euo pipefail
cd "$(dirname "$0")/../.."
export WEFT_OPERATOR=${WEFT_OPERATOR:-$PWD/build/bin/weft-operator}

eval "$(deploy/local-cluster.sh up --name handoff --nodes 5000)"
trap 'deploy/local-cluster.sh down --name handoff' EXIT
kubectl create namespace weft-system >/dev/null
tests/bench/handoff.py --pairs "${1:-5}"
kubectl delete namespace handoff --wait >/dev/null
tests/bench/handoff.py --pairs "${1:-5}" --jobs 50 --workers 20
