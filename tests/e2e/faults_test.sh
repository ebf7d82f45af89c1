#!/usr/bin/env bash
# weft-operator behind the fault proxy of tests/faults, on a cluster of deploy/local-cluster.sh: the
# bounded form of the campaign, which tests/run.sh --campaign faults runs in full.
source "$(dirname "$0")/operator_cluster.sh"

# The record of all changes is read from etcd, so the API server must store JSON and compact nothing.
export WEFT_API_SERVER_FLAGS='--storage-media-type=application/json --etcd-compaction-interval=0'
run_scenarios 32 ../faults/bounded.py
passed
