#!/usr/bin/env bash
# Two weft-operators on a cluster of deploy/local-cluster.sh, of which one leads.
source "$(dirname "$0")/operator_cluster.sh"

run_scenarios 32 operator_leaders.py
passed
