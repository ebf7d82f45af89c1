#!/usr/bin/env bash
# Real nodes: kubelets, containers and ranks on a cluster of deploy/local-cluster.sh of its own.
# Sourced by ground_test.sh, for a plain run, and run as it is for the campaign.
#
# WEFT_GROUND    the files to run, each as FILE or FILE:CLASS.TEST, of tests/ranks and tests/ground;
#                default: all
# WEFT_NODES     how many real nodes; default 4
# WEFT_JUDGE_TIMES  1: a condition that comes too long after the kubelet's word is a failure; else
#                the seconds are only printed
set -euo pipefail
# shellcheck source=tests/e2e/operator_cluster.sh
source "$(dirname "${BASH_SOURCE[0]}")/operator_cluster.sh"

needs_rights_for_real_nodes
export WEFT_REAL_NODES=${WEFT_NODES:-4} WEFT_REAL_GPUS=4
export WEFT_CHART=$here/../../charts/weft
export WEFT_PEERS=${WEFT_PEERS:-$here/../../../shared/peers} WEFT_PEERS_WORK=$work/peers
export WEFT_PEERS_PROGRAM=$WEFT_PEERS/peers.py
expect_exit 0 "$local_cluster" up --name operator --real "$WEFT_REAL_NODES" --gpus "$WEFT_REAL_GPUS"
eval "$(<"$work/stdout")"
grep -F ' is up after ' "$work/stderr"
expect_exit 0 "$here/../ground/image.sh" ranks
ranks_image=$(<"$work/stdout")
# By the name that the chart has for it.
expect_exit 0 "$here/../../deploy/image.sh" --bin "$(dirname "$WEFT")" --output "$work/weft.tar" \
  --tag "registry.example/weft/weft-operator:$("$WEFT" --version | sed 's/.* //')"
expect_exit 0 "$local_cluster" load --name operator "$ranks_image" "$work/weft.tar"
kubectl create namespace weft-system >/dev/null
default="ranks/custom_ranks.py ranks/mpi_ranks.py ranks/torch_ranks.py ground/old_torch_ranks.py
  ranks/deepspeed_ranks.py ranks/jax_ranks.py ranks/tensorflow_ranks.py ground/size_ranks.py
  ranks/traffic_ranks.py ground/start_series.py ground/deployment.py ground/program_faults.py
  ground/waiting_faults.py ground/node_faults.py ground/campaign.py"
# The managers of Kueue, JobSet and Trainer, where they are.
if [ -x "$WEFT_PEERS_PROGRAM" ]; then
  default+=' ground/kinds.py'
elif [ -z "${WEFT_GROUND:-}" ]; then
  [ "${CI:-}" != true ] || fail "there is no $WEFT_PEERS_PROGRAM: set WEFT_PEERS"
  echo "LEFT OUT: ground/kinds.py, there is no $WEFT_PEERS_PROGRAM (WEFT_PEERS)" >&2
fi
files=${WEFT_GROUND:-$default}
# The old PyTorch has an image of its own, of 1 GB.
if [[ $files == *ground/old_torch* || $files == *ground/start_series.py* ]]; then
  expect_exit 0 "$here/../ground/image.sh" torch1.13
  torch_image=$(<"$work/stdout")
  expect_exit 0 "$local_cluster" load --name operator "$torch_image"
fi
# One that fails hides none of the others: all of them take hours.
failed=''
for one in $files; do
  IFS=: read -r file test <<<"$one"
  begin=$SECONDS
  python3 "$here/../$file" ${test:+"$test"} || failed+=" $one"
  echo "$one took $((SECONDS - begin)) s"
  checks=$((checks + 1))
done
expect_exit 0 "$local_cluster" down --name operator
[ -z "$failed" ] || { echo "FAILED:$failed" >&2; exit 1; }
passed
