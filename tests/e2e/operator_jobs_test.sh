#!/usr/bin/env bash
# weft-operator on a cluster of deploy/local-cluster.sh: jobs of every shape
# from apply to their end, and every other way for them to end.
source "$(dirname "$0")/operator_cluster.sh"

run_scenarios 32 operator_shapes.py operator_ends.py
passed
