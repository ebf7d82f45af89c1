#!/usr/bin/env bash
# `weft simulate` and weft-operator on a cluster of deploy/local-cluster.sh: the same jobs start in
# the same order on the same nodes.
source "$(dirname "$0")/operator_cluster.sh"

design=roce-fat-tree-2to1 run_scenarios 32 operator_simulated.py
passed
