#!/usr/bin/env bash
# The rules between pods that a plan keeps, against the real kube-scheduler (scheduler_rules.py), on a
# cluster of deploy/local-cluster.sh. ROUNDS, SEED, NODES: for more than the usual. VOLUMES, CLAIMS:
# in which share of the rounds the gang has claims of volumes, and of devices. WEFT_KUBERNETES=1.37 ROUNDS=200 NODES=21 counts
# about 5,000 pods.
source "$(dirname "$0")/lib.sh"

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
local_cluster=${WEFT_SOURCE_DIR:-$here/../..}/deploy/local-cluster.sh
export WEFT_CLUSTER_DIR=$work/clusters
trap '"$local_cluster" down --name rules >/dev/null 2>&1; rm -rf "$work"' EXIT

expect_exit 0 "$local_cluster" up --name rules --nodes 0
eval "$(<"$work/stdout")"
python3 "$here/scheduler_rules.py" --rounds "${ROUNDS:-40}" --seed "${SEED:-1}" \
  --volumes "${VOLUMES:-0.3}" --claims "${CLAIMS:-0.3}" --nodes "${NODES:-6}" || fail scheduler_rules.py
checks=$((checks + 1))
expect_exit 0 "$local_cluster" down --name rules
passed
