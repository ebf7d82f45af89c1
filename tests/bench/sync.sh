#!/usr/bin/env bash
# The first copy of a cluster from a real API server: seconds of processor and peak memory for 10,000
# Nodes and 50,000 Pods. Goals: 8 s and 150 MB.
#
#   tests/bench/sync.sh     needs build/ and the control plane; filling the cluster takes minutes
set -euo pipefail
cd "$(dirname "$0")/../.."
export WEFT_SOURCE_DIR=$PWD

eval "$(deploy/local-cluster.sh up --name sync --nodes 0)"
trap 'deploy/local-cluster.sh down --name sync' EXIT
python3 -B tests/bench/sync.py
WEFT_BENCH_KUBECONFIG=$KUBECONFIG build/bin/sync_bench
