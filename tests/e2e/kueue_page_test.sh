#!/usr/bin/env bash
# operator/docs/kueue.md, each command as it stands there, in one sequence: on a cluster of
# deploy/local-cluster.sh with the real Kueue, a queue that is in use, and Weft as its chart installs it.
source "$(dirname "$0")/operator_cluster.sh"
# shellcheck source=tests/e2e/kueue_lib.sh
source "$here/kueue_lib.sh"

source_dir=${WEFT_SOURCE_DIR:-$here/../..}
expect_exit 0 "$source_dir/deploy/image.sh" --rootfs "$work/rootfs" --bin "$(dirname "$WEFT_OPERATOR")"
export WEFT_ROOTFS=$work/rootfs
expect_exit 0 "$local_cluster" up --name operator --nodes 16
eval "$(<"$work/stdout")"
expect_exit 0 python3 "$here/operator_kueue_page.py"
cat "$work/stdout"
"$peers/peers.py" down --dir "$work/peers"
expect_exit 0 "$local_cluster" down --name operator
passed
