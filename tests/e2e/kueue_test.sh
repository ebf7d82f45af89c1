#!/usr/bin/env bash
# weft-operator as the controller of an AdmissionCheck, on a cluster of deploy/local-cluster.sh with
# the real managers of Kueue and JobSet: queued jobs from reserved quota to their end, without room,
# preempted, and with Kueue installed only after Weft; and TrainingJobs in queues.
source "$(dirname "$0")/operator_cluster.sh"
# shellcheck source=tests/e2e/kueue_lib.sh
source "$here/kueue_lib.sh"

run_beside_kueue 32 operator_kueue.py operator_kueue_jobs.py
passed
