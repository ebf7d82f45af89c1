#!/usr/bin/env bash
# Makes chart_rights.json again from the chart: tests/world/chart_rights.sh
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
# shellcheck source=tests/world/chart_lib.sh
source "$here/chart_lib.sh"
PATH=$("$root/tests/controlplane/build.sh" helm | tail -n 1):$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rendered_chart "$root" >"$work/chart.yaml"
"$here/chart_rights.py" "$work/chart.yaml" >"$work/rights.json"
mv "$work/rights.json" "$here/chart_rights.json"
