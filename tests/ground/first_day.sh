#!/usr/bin/env bash
# operator/docs/first-day.md, command by command as it is printed there. What the first section
# builds takes seconds if it is built already.
# shellcheck source=tests/e2e/operator_cluster.sh
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/operator_cluster.sh"

root=${WEFT_SOURCE_DIR:-$here/../..}
trap '"$local_cluster" down >/dev/null 2>&1; rm -rf "$work"' EXIT
needs_rights_for_real_nodes
commands_of '^## Build' '^Next:' "$root/operator/docs/first-day.md" >"$work/commands"
for word in dependencies.sh nodes/build.sh 'up --real 4' 'helm install' prometheus.sh pkill \
  promtool 'pids/real-2' ' down'; do
  expect_text "$work/commands" "$word"
done
{
  echo 'set -euo pipefail; trap '\''kill $(jobs -p) 2>/dev/null || true; wait'\'' EXIT'
  cat "$work/commands"
} >"$work/script"
begin=$SECONDS
expect_exit 0 env --chdir "$root" timeout 3600 bash "$work/script"
echo "from the packages to a job that has run, broken twice and healed: $((SECONDS - begin)) s"
expect_text "$work/stdout" 'condition met'
expect_text "$work/stdout" 'trainingjob="sine"'
expect_text "$work/stdout" '"exitCode":137'
expect_text "$work/stdout" 'NodeLost'
expect_text "$work/stdout" 'all 6 ranks run where they were placed'
passed
