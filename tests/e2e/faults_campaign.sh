#!/usr/bin/env bash
# weft-operator behind the fault proxy of tests/faults, on one cluster: every single fault, half an hour
# of faults by chance, what is written while jobs are refused, and every planted bug. Run by
# tests/run.sh --campaign faults.
# WEFT_SEEDED_OPERATOR: a weft-operator that was built with WEFT_SEEDED_BUGS.
source "$(dirname "$0")/operator_cluster.sh"

: "${WEFT_SEEDED_OPERATOR:?the weft-operator with planted bugs}"
export WEFT_API_SERVER_FLAGS='--storage-media-type=application/json --etcd-compaction-interval=0'
run_scenarios 32 ../faults/seeded.py ../faults/singles.py ../faults/campaign.py ../faults/refusals.py
WEFT_OPERATOR=$WEFT_SEEDED_OPERATOR run_scenarios 32 ../faults/seeded.py
passed
