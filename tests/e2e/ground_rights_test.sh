#!/usr/bin/env bash
# Where the kernel does not let real nodes be made, their tests say so and fail with CI=true.
source "$(dirname "$0")/lib.sh"

for file in ground.sh ground_leftovers_test.sh; do
  expect_text "$(dirname "$0")/$file" needs_rights_for_real_nodes
done
# Who is not root lacks them anyway.
without=()
[ "$(id -u)" != 0 ] || without=(setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin)
script="source $(dirname "$0")/lib.sh; needs_rights_for_real_nodes; echo they can be made"
for case in 'true 1' 'false 77'; do
  read -r ci code <<<"$case"
  expect_exit "$code" env CI="$ci" "${without[@]}" bash -c "$script"
  expect_text "$work/stderr" 'NOT RUN: real kubelets and containers: '
  expect_text "$work/stderr" '--real needs root, with the capabilities SYS_ADMIN and NET_ADMIN'
  expect_no_text "$work/stdout" 'they can be made'
done
passed
