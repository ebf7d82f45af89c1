#!/usr/bin/env bash
# weft-operator on a cluster of deploy/local-cluster.sh: what the cluster refuses, and nodes that
# are lost, cordoned, drained or relabelled under a running gang.
source "$(dirname "$0")/operator_cluster.sh"

run_scenarios 32 operator_refusals.py operator_foreign.py operator_nodes.py operator_namespace.py
passed
