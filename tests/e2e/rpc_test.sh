#!/usr/bin/env bash
# The gRPC service of a weft-operator that works on a cluster of deploy/local-cluster.sh: its
# clients, its examples, certificates and tokens.
source "$(dirname "$0")/operator_cluster.sh"

root=${WEFT_SOURCE_DIR:-$here/../..}
packages=$("$root/tests/support/python_packages.sh" "$here/rpc_packages.txt") ||
  fail 'the Python packages of tests/e2e/rpc_packages.txt cannot be had'
export PATH=$packages/bin:$PATH PYTHONPATH=$work/stubs
mkdir "$work/stubs"
python3 -m grpc_tools.protoc -I "$root/proto" --python_out="$work/stubs" \
  --grpc_python_out="$work/stubs" weft/v1/placement_service.proto
export WEFT_EXAMPLES=$root/deploy/examples/grpc
: "${WEFT_PLAN_CLIENT:?the plan_client binary of deploy/examples/grpc}"

run_scenarios 32 rpc.py
passed
