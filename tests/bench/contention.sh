#!/usr/bin/env bash
# What scrapes, calls and the page cost the placing of jobs, on a local cluster of its own with 1,000
# nodes. See contention.py.
#
#   tests/bench/contention.sh [PAIRS [--control]]     default 7; needs build/ and the control plane
set -euo pipefail
cd "$(dirname "$0")/../.."
here=$PWD/tests/e2e work=$(mktemp -d)
export WEFT_SOURCE_DIR=$PWD WEFT_OPERATOR=${WEFT_OPERATOR:-$PWD/build/bin/weft-operator}
trap 'rm -rf "$work"' EXIT
fail() { echo "$*" >&2; exit 1; }
source "$here/rpc_stubs.sh"

eval "$(deploy/local-cluster.sh up --name contention --nodes 1000)"
trap 'deploy/local-cluster.sh down --name contention; rm -rf "$work"' EXIT
kubectl create namespace weft-system >/dev/null
python3 -B tests/bench/contention.py --pairs "${1:-7}" "${@:2}"
