#!/usr/bin/env bash
# The long form of weft-operator's scenarios, each on a cluster of its own: many kills, many jobs in
# and out, and what it costs to do nothing on 10,000 nodes. Run by tests/run.sh --campaign operator.
source "$(dirname "$0")/operator_cluster.sh"

WEFT_KILLS=20 WEFT_JOBS=200 run_scenarios 32 operator_kills.py
WEFT_JOBS=1000 run_scenarios 32 operator_soak.py
run_scenarios 10000 operator_idle.py
passed
