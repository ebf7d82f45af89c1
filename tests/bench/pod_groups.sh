#!/usr/bin/env bash
# What a PodGroup for each gang costs, measured on a local cluster of its own that has Kubernetes
# 1.37 with the feature gate GenericWorkload: jobs of 64 and of 256 workers (larger gangs have no
# PodGroup), with PodGroups and without, then a gang of 512 pods that preempts among 5,000. See
# pod_groups.py and preemption.py.
#
#   tests/bench/pod_groups.sh [ROUNDS]    default 3; needs build/ and the control plane
set -euo pipefail
cd "$(dirname "$0")/../.."
export WEFT_OPERATOR=${WEFT_OPERATOR:-$PWD/build/bin/weft-operator}
export PYTHONDONTWRITEBYTECODE=1
gate=--feature-gates=GenericWorkload=true
export WEFT_API_SERVER_FLAGS="$gate --runtime-config=scheduling.k8s.io/v1beta1=true"
export WEFT_CONTROLLER_FLAGS=$gate WEFT_SCHEDULER_FLAGS=$gate

eval "$(deploy/local-cluster.sh up --name pod-groups --kubernetes 1.37 --nodes 1100)"
trap 'deploy/local-cluster.sh down --name pod-groups' EXIT
kubectl create namespace weft-system >/dev/null
tests/bench/pod_groups.py --rounds "${1:-3}"
tests/bench/preemption.py
