#!/usr/bin/env bash
# The chart's Grafana dashboards against Grafana's schema. metrics_test.sh asks their queries.
source "$(dirname "$0")/lib.sh"

here=$(cd "$(dirname "$0")" && pwd)
if ! wheel=$("$here/grafana_schema.sh"); then
  echo "NOT RUN: Grafana's schema cannot be fetched, so the dashboards are not checked" >&2
  [ "${CI:-}" != true ] || exit 1
  exit 0
fi
dashboards=("$here"/../../charts/weft/files/dashboards/*.json)
expect_exit 0 python3 "$here/dashboards_schema.py" "$wheel" "${dashboards[@]}"
expect_empty "$work/stdout"
passed
