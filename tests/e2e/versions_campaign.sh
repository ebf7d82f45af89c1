#!/usr/bin/env bash
# weft-operator beside the one of an earlier commit, which is built here: the two lead in turns. Run
# by tests/run.sh --campaign versions.
#
# WEFT_BEFORE   that commit; default the last that wrote status whole and refused unknown fields
source "$(dirname "$0")/operator_cluster.sh"

sources=$work/before
git -C "$WEFT_SOURCE_DIR" worktree add --detach "$sources" "${WEFT_BEFORE:-79f2359}" >/dev/null
trap '"$local_cluster" down --name operator >/dev/null 2>&1
  git -C "$WEFT_SOURCE_DIR" worktree remove --force "$sources"; rm -rf "$work"' EXIT
cmake -S "$sources" -B "$sources/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DWEFT_TESTS=OFF >/dev/null
ninja -C "$sources/build" weft-operator
export WEFT_OPERATOR_BEFORE=$sources/build/bin/weft-operator
run_scenarios 32 operator_versions.py
passed
