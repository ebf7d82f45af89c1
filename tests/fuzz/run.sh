#!/usr/bin/env bash
# Runs every libFuzzer target on a copy of its seeds, SECONDS each (default 30). Ends with 1 where
# one of them crashes, hangs or grows past its memory; the input is left in build-fuzz/findings.
#
#   tests/fuzz/run.sh [SECONDS]
set -euo pipefail

seconds=${1:-30}
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${WEFT_FUZZ_BUILD:-$root/build-fuzz}
clang=${WEFT_CLANG:-clang-14}

cmake -S "$root" -B "$build" -G Ninja -DWEFT_FUZZ=ON -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_C_COMPILER="$clang" -DCMAKE_CXX_COMPILER="${clang/clang/clang++}" >/dev/null
ninja -C "$build" fuzzers

seeds=$(mktemp -d)
trap 'rm -rf "$seeds"' EXIT
mkdir -p "$build/findings"
failed=0
for source in "$root"/tests/fuzz/*_fuzz.cc; do
  target=$(basename "$source" .cc)
  mkdir -p "$seeds/$target"
  cp -r "$root/tests/fuzz/corpus/$target/." "$seeds/$target/"
  # libFuzzer's own leak check can hang at exit; the outer timeout ends whatever else does.
  if timeout -k 10 $((seconds + 60)) "$build/tests/fuzz/$target" -detect_leaks=0 -timeout=5 \
    -rss_limit_mb=2048 -max_total_time="$seconds" -max_len=8192 -print_final_stats=1 \
    -artifact_prefix="$build/findings/$target-" "$seeds/$target" >"$build/$target.log" 2>&1; then
    echo "$target: no finding in $(grep -o 'number_of_executed_units: .*' "$build/$target.log" |
      grep -o '[0-9]*$') inputs"
  else
    failed=1
    echo "$target: FINDING, see $build/$target.log and $build/findings"
    tail -n 25 "$build/$target.log"
  fi
done
exit $failed
