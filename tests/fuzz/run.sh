#!/usr/bin/env bash
# Runs libFuzzer targets on copies of their seeds. Ends with 1 where one of them crashes, hangs or
# grows past its memory; the input is left in findings/ of the build. tests/run.sh builds them.
#
#   tests/fuzz/run.sh BUILD TARGET [SECONDS]   one (30 s)
#   tests/fuzz/run.sh BUILD all [SECONDS]      each, one after the other
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$1

# libFuzzer cuts seeds that are longer. The longest are what kubectl prints for three nodes (26 kB)
# and ibnetdiscover for two leaves (19 kB): cut in the middle, none of their ends would be reached.
longest=32768

run_target() {
  local target=$1 seconds=$2 seeds
  seeds=$(mktemp -d)
  mkdir -p "$build/findings"
  cp -r "$root/tests/fuzz/corpus/$target/." "$seeds/"
  local result=0
  # libFuzzer's own leak check can hang at exit; the outer timeout ends whatever else does.
  timeout -k 10 $((seconds + 60)) "$build/tests/fuzz/$target" -detect_leaks=0 -timeout=40 \
    -rss_limit_mb=2048 -max_total_time="$seconds" -max_len="$longest" -print_final_stats=1 \
    -artifact_prefix="$build/findings/$target-" "$seeds" >"$build/$target.log" 2>&1 || result=1
  rm -rf "$seeds"
  if [ $result = 0 ]; then
    echo "$target: no finding in $(sed -n 's/.*number_of_executed_units: //p' \
      "$build/$target.log") inputs"
  else
    echo "$target: FINDING, see $build/$target.log and $build/findings"
    tail -n 25 "$build/$target.log"
  fi
  return $result
}

if [ "$2" != all ]; then
  run_target "$2" "${3:-30}"
  exit
fi
failed=0
for source in "$root"/tests/fuzz/*_fuzz.cc; do
  run_target "$(basename "$source" .cc)" "${3:-30}" || failed=1
done
exit $failed
