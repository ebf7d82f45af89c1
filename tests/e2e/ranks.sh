#!/usr/bin/env bash
# The frameworks start in the placed order: real processes on a real control plane. The nodes of
# deploy/local-cluster.sh have none: tests/ranks/kubelet.py plays the kubelets.
#
# WEFT_RANKS   the files of tests/ranks to run, each as FILE or FILE:CLASS.TEST; default: all
set -euo pipefail
# shellcheck source=tests/e2e/operator_cluster.sh
source "$(dirname "${BASH_SOURCE[0]}")/operator_cluster.sh"

# Namespaces of the kernel are for root, or for whoever is root in a namespace of users.
python=(python3)
[ "$(id -u)" = 0 ] || python=(unshare --user --map-root-user python3)
if ! "${python[@]/python3/unshare}" --net --uts --ipc --mount --pid --fork true 2>"$work/stderr"; then
  echo "NOT RUN: ranks as real processes: $(<"$work/stderr")" >&2
  [ "${CI:-}" != true ] || exit 1
  exit 77
fi

expect_exit 0 "$local_cluster" up --name operator --nodes 0
eval "$(<"$work/stdout")"
kubectl create namespace weft-system >/dev/null
default="verify_ranks.py mpi_ranks.py torch_ranks.py deepspeed_ranks.py jax_ranks.py
  tensorflow_ranks.py traffic_ranks.py start_ranks.py"
for one in ${WEFT_RANKS:-$default}; do
  IFS=: read -r file test <<<"$one"
  "${python[@]}" "$here/../ranks/$file" ${test:+"$test"} || fail "$one"
  checks=$((checks + 1))
done
expect_exit 0 "$local_cluster" down --name operator
passed
