#!/usr/bin/env bash
# One job of 16,384 workers through its life beside 100,000 pods of other jobs, on a local cluster of
# its own. See full_size.py.
#
#   tests/bench/full_size.sh [--workers N] [--known PODS] [--running PODS] [--refuse | --bound]
#
# Needs build/ and the control plane, 8 GB of memory and, on two cores, half an hour. WEFT_NODES is
# the number of nodes, of eight GPUs each; default: enough for all.
set -euo pipefail
cd "$(dirname "$0")/../.."
export WEFT_OPERATOR=${WEFT_OPERATOR:-$PWD/build/bin/weft-operator}
export PYTHONDONTWRITEBYTECODE=1
# Otherwise kube-controller-manager would delete most pods that have ended (all over 12,500) meanwhile.
export WEFT_CONTROLLER_FLAGS='--terminated-pod-gc-threshold=0'

eval "$(deploy/local-cluster.sh up --name full-size --nodes "${WEFT_NODES:-8192}")"
trap 'deploy/local-cluster.sh down --name full-size' EXIT
kubectl create namespace weft-system >/dev/null
tests/bench/full_size.py "$@"
