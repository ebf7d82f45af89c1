#!/usr/bin/env bash
# How good placements of large jobs are, by family of jobs: writes the table to build/quality.md and
# standard output, and each instance with its seed to build/quality.log.
#
#   tests/bench/quality.sh [--first SEED] [--count N] [--family N] [--starts N] [--times N]
#
# The solver was built with seeds below 1,000; judge it with others.
set -euo pipefail
cd "$(dirname "$0")/../.."

program=build/bin/quality
[ -x "$program" ] || { echo "no $program: build with ninja -C build quality" >&2; exit 1; }
"$program" "$@" 2>build/quality.log | tee build/quality.md
