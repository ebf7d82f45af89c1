#!/usr/bin/env bash
# weft-operator on a cluster of deploy/local-cluster.sh whose Kubernetes is newer than the default:
# jobs are placed, bound, run to their end, suspended, deleted; pods of others get their gate and
# their nodes. Less than three minutes.
source "$(dirname "$0")/operator_cluster.sh"

kubernetes=1.37
root=${WEFT_SOURCE_DIR:-$here/../..}
needs_release $kubernetes
export WEFT_RELEASE=$kubernetes WEFT_GATE_POLICY=$work/gate_policy.yaml
"$programs/helm" template weft "$root/charts/weft" --kube-version $kubernetes.0 \
  --namespace weft-system --show-only templates/gate-policy.yaml >"$WEFT_GATE_POLICY"
run_scenarios 16 operator_release.py
passed
