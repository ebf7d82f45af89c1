#!/usr/bin/env bash
# What weft-operator shows Prometheus, and the chart's rules and dashboards on it: a scripted day on
# a cluster of deploy/local-cluster.sh, scraped by a real Prometheus.
source "$(dirname "$0")/operator_cluster.sh"

root=$(cd "$(dirname "$0")/../.." && pwd)
for program in prometheus promtool; do
  command -v "$program" >/dev/null ||
    { echo "e2e: $program is missing: deploy/dependencies.sh test installs it" >&2; exit 1; }
done
expect_exit 0 promtool check rules "$root"/charts/weft/files/rules/*.yaml
expect_exit 0 promtool test rules "$root"/tests/rules/weft_test.yaml

# Every alert has a runbook under its name.
for alert in $(sed -n 's/.*- alert: //p' "$root"/charts/weft/files/rules/*.yaml); do
  expect_text "$root/operator/docs/runbooks.md" "## $alert"
  grep -q "runbook: operator/docs/runbooks.md#${alert,,}$" "$root"/charts/weft/files/rules/*.yaml ||
    fail "$alert names no runbook"
done

run_scenarios 64 metrics_day.py metrics_step.py
passed
