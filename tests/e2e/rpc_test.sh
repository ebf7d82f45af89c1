#!/usr/bin/env bash
# The gRPC service of a weft-operator that works on a cluster of deploy/local-cluster.sh: its
# clients, its examples, certificates and tokens; and what it must not tell, there or elsewhere.
source "$(dirname "$0")/operator_cluster.sh"

source "$here/rpc_stubs.sh"
: "${WEFT_PLAN_CLIENT:?the plan_client binary of deploy/examples/grpc}"

run_scenarios 32 rpc.py operator_canary.py
passed
