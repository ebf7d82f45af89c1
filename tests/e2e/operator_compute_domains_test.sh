#!/usr/bin/env bash
# weft-operator on a rack of GB200 nodes: a job's ComputeDomain for each attempt.
source "$(dirname "$0")/operator_cluster.sh"

design=gb200-nvl72 run_scenarios 18 operator_compute_domains.py
passed
