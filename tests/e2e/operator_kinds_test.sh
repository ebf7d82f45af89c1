#!/usr/bin/env bash
# weft-operator on a cluster of deploy/local-cluster.sh with pods of other controllers that ask for
# a Placement by a label: one example of operator/docs/job-kinds.md for each kind.
source "$(dirname "$0")/operator_cluster.sh"

# The real managers of JobSet and Kubeflow Trainer; where they are missing, their kinds are left out.
export WEFT_PEERS=${WEFT_PEERS:-$(cd "$here/../.." && pwd)/../shared/peers}
if [ ! -x "$WEFT_PEERS/peers.py" ]; then
  [ "${CI:-}" != true ] || fail "WEFT_PEERS: no managers of JobSet and Trainer in $WEFT_PEERS"
  echo "LEFT OUT: JobSet and TrainJob, because $WEFT_PEERS has no peers.py (WEFT_PEERS)" >&2
fi
run_scenarios 64 operator_kinds.py
passed
