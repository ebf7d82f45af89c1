#!/usr/bin/env bash
# weft-operator on servers that emulate earlier releases of Kubernetes; then beside the operator of
# an earlier commit, which is built here: the two lead in turns. Run by
# tests/run.sh --campaign versions.
#
# WEFT_BEFORE   that commit; default the last that wrote status whole and refused unknown fields
source "$(dirname "$0")/operator_cluster.sh"

# Servers that emulate a release serve its versions of the API and have its features. Before 1.36
# the chart has no policy that adds the gate; before 1.34 there is no resource.k8s.io/v1.
for release in 1.33 1.34 1.35; do
  flag=--emulated-version=$release
  left_out=''
  [ $release != 1.33 ] || left_out=test_gpus_by_claim
  echo "Kubernetes $release, emulated"
  WEFT_RELEASE=$release WEFT_LEFT_OUT=$left_out WEFT_API_SERVER_FLAGS=$flag \
    WEFT_CONTROLLER_FLAGS=$flag WEFT_SCHEDULER_FLAGS=$flag run_scenarios 16 operator_release.py
done

sources=$work/before
git -C "$WEFT_SOURCE_DIR" worktree add --detach "$sources" "${WEFT_BEFORE:-79f2359}" >/dev/null
trap '"$local_cluster" down --name operator >/dev/null 2>&1
  git -C "$WEFT_SOURCE_DIR" worktree remove --force "$sources"; rm -rf "$work"' EXIT
cmake -S "$sources" -B "$sources/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DWEFT_TESTS=OFF >/dev/null
ninja -C "$sources/build" weft-operator
export WEFT_OPERATOR_BEFORE=$sources/build/bin/weft-operator
run_scenarios 32 operator_versions.py
passed
