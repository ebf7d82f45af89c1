#!/usr/bin/env bash
# Whether the cost that placements are chosen by ranks them as the predicted step does: writes the table
# to build/objective.md and standard output (objective.cc says what its columns are).
#
#   tests/bench/objective.sh [--placements N] [--seed N]
set -euo pipefail
cd "$(dirname "$0")/../.."

program=build/bin/objective
[ -x "$program" ] || { echo "no $program: build with ninja -C build objective" >&2; exit 1; }
"$program" "$@" | tee build/objective.md
