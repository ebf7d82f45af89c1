#!/usr/bin/env bash
# weft-operator on a cluster of deploy/local-cluster.sh, killed at any moment and started again.
source "$(dirname "$0")/operator_cluster.sh"

run_scenarios 32 operator_kills.py
passed
