#!/usr/bin/env bash
# weft-operator on a cluster of deploy/local-cluster.sh whose API server dies, whose namespaces go
# and whose definitions change.
source "$(dirname "$0")/operator_cluster.sh"

run_scenarios 32 operator_upheavals.py operator_versions.py
passed
