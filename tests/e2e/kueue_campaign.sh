#!/usr/bin/env bash
# The long form of kueue_test.sh (tests/run.sh --campaign kueue): hundreds of jobs, and kills.
source "$(dirname "$0")/operator_cluster.sh"
# shellcheck source=tests/e2e/kueue_lib.sh
source "$here/kueue_lib.sh"

run_beside_kueue 32 operator_kueue_campaign.py
passed
