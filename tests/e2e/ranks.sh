#!/usr/bin/env bash
# The frameworks start in the placed order: real processes on a real control plane. The nodes of
# deploy/local-cluster.sh have none: tests/ranks/kubelet.py plays the kubelets.
set -euo pipefail
# shellcheck source=tests/e2e/operator_cluster.sh
source "$(dirname "$0")/operator_cluster.sh"

# Namespaces of the kernel are for root, or for whoever is root in a namespace of users.
python=(python3)
[ "$(id -u)" = 0 ] || python=(unshare --user --map-root-user python3)

expect_exit 0 "$local_cluster" up --name operator --nodes 0
eval "$(<"$work/stdout")"
kubectl create namespace weft-system >/dev/null
files=${WEFT_RANKS:-verify_ranks.py mpi_ranks.py torch_ranks.py deepspeed_ranks.py jax_ranks.py tensorflow_ranks.py traffic_ranks.py start_ranks.py}
for file in $files; do
  "${python[@]}" "$here/../ranks/$file" || fail "$file"
  checks=$((checks + 1))
done
expect_exit 0 "$local_cluster" down --name operator
