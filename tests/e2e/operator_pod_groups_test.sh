#!/usr/bin/env bash
# weft-operator where Kubernetes binds gangs as a whole: each attempt of a job has a PodGroup. Then
# the servers lose the feature gate, one after the other. Six minutes on a machine that is busy.
source "$(dirname "$0")/operator_cluster.sh"

kubernetes=1.37
needs_release $kubernetes
gate=--feature-gates=GenericWorkload=true
export WEFT_API_SERVER_FLAGS="$gate --runtime-config=scheduling.k8s.io/v1beta1=true"
export WEFT_CONTROLLER_FLAGS=$gate WEFT_SCHEDULER_FLAGS=$gate
run_scenarios 32 operator_pod_groups.py operator_gates.py
passed
