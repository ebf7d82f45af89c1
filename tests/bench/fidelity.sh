#!/usr/bin/env bash
# How well outlook predicts published steps and memory: writes the table to build/fidelity.md and
# standard output, predicted against measured to build/fidelity.svg, and each row to build/fidelity.log.
#
#   tests/bench/fidelity.sh [--fit] [FOLDER]
#
# Constants are fitted on every other row of each table; the table tells these from the rows that were
# held back. --fit fits them again and prints them beside the error of those in the code. FOLDER holds
# the published tables (default ../shared/data/published).
set -euo pipefail
cd "$(dirname "$0")/../.."

fit=()
if [ "${1:-}" = --fit ]; then
  fit=(--fit)
  shift
fi
folder=${1:-../shared/data/published}
program=build/bin/fidelity
[ -x "$program" ] || { echo "no $program: build with ninja -C build fidelity" >&2; exit 1; }
if [ ! -d "$folder" ]; then
  echo "NOT MEASURED: there is no folder $folder with the published tables" >&2
  exit 1
fi
"$program" "$folder" --plot build/fidelity.svg --rows "${fit[@]}" 2>build/fidelity.log |
  tee build/fidelity.md
