#!/usr/bin/env bash
# How long jobs of 4 to 16 workers take to place, and how good their placements are: writes the
# table to build/small_jobs.md and standard output, and the slowest instances and those worse than
# the reference to build/small_jobs.log.
#
#   tests/bench/small_jobs.sh [--first SEED] [--count N] [--nodes N,...] [--effort NAME]
#                             [--reference FILE]
#
# A file given with --reference keeps the best placement of each instance that any run has found,
# so that the table shows what a change of the solver makes worse. With --effort thorough the first
# run makes a better reference, in about an hour.
set -euo pipefail
cd "$(dirname "$0")/../.."

program=build/bin/small_jobs
[ -x "$program" ] || { echo "no $program: build with ninja -C build small_jobs" >&2; exit 1; }
"$program" "$@" 2>build/small_jobs.log | tee build/small_jobs.md
