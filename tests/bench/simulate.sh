#!/usr/bin/env bash
# How fast `weft simulate` is, and what it says about the policies.
#
#   WEFT=build/bin/weft tests/bench/simulate.sh [speed|month|compare]...   (default: all)
#
# speed    one policy over a trace of 82,000 jobs on 320 nodes, at three loads: seconds and events a
#          minute, on one core
# month    a month of 10,000 nodes with jobs of up to 16,384 GPUs
# compare  all policies at the loads 0.7, 0.9 and 1.1 and the tapers 1:1, 4:1 and 16:1
#
# $WEFT_TRACES: a folder with the public traces philly_sia_full.csv and helios_venus_mystous_full.csv.
# Without it the traces are generated, with the shares of job sizes of Philly.
set -euo pipefail
: "${WEFT:?the weft binary to measure}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

generated() {  # JOBS SECONDS SIZES...: a trace of our own, on standard output
  python3 - "$@" <<'PYTHON'
import random
import sys
jobs, seconds, *sizes = sys.argv[1:]
sizes = [size.split(":") for size in sizes]
random.seed(1)
print("job,arrivalSeconds,runSeconds,gpus")
now = 0.0
for job in range(int(jobs)):
    now += random.expovariate(int(jobs) / float(seconds))
    gpus = int(random.choices([s for s, _ in sizes], [float(w) for _, w in sizes])[0])
    run = min(random.lognormvariate(7.2, 1.8), 20 * 86400)
    print(f"j{job},{now:.0f},{run:.0f},{gpus}")
PYTHON
}

# The trace, its format: real ones where they are at hand.
if [[ -n ${WEFT_TRACES:-} ]]; then
  philly=("$WEFT_TRACES/philly_sia_full.csv" philly)
  venus=("$WEFT_TRACES/helios_venus_mystous_full.csv" helios)
else
  generated 82000 5000000 1:93 2:2.2 4:2.3 8:2 16:0.25 32:0.1 64:0.05 128:0.02 >"$work/philly.csv"
  generated 40000 5000000 1:52 2:6 4:8 8:25 16:4 32:3 64:0.6 128:1 160:0.2 >"$work/venus.csv"
  philly=("$work/philly.csv" weft)
  venus=("$work/venus.csv" weft)
fi

run() {  # NAME ARGUMENTS...: one run on one core, its time and its events
  local name=$1 begin end
  shift
  begin=$(date +%s.%N)
  taskset -c 0 "$WEFT" simulate "$@" -o json >"$work/out.json" || [[ $? == 3 ]]
  end=$(date +%s.%N)
  python3 - "$name" "$begin" "$end" "$work/out.json" <<'PYTHON'
import json
import sys
name, begin, end, path = sys.argv[1:]
seconds = float(end) - float(begin)
for one in json.load(open(path, encoding="utf-8"))["policies"]:
    print(f"{name}: {one['policy']}, {one['jobs']} jobs, {one['events']} events, {seconds:.1f} s, "
          f"{one['events'] / seconds * 60:,.0f} events a minute")
PYTHON
}

speed() {
  "$WEFT" fabric generate --racks 20 --nodes-per-rack 16 --taper 400 --accelerator H100 >"$work/fabric.yaml"
  for load in 0.7 0.9 1.1; do
    run "load $load" -f "$work/fabric.yaml" --trace "${philly[0]}" --format "${philly[1]}" --load "$load"
  done
}

month() {
  "$WEFT" fabric generate --racks 625 --nodes-per-rack 16 --racks-per-pod 25 --taper 200,400 \
    --accelerator H100 >"$work/large.yaml"
  generated 60000 2592000 1:30 8:40 16:8 64:8 256:6 1024:5 4096:2 8192:0.7 16384:0.3 >"$work/month.csv"
  run "10,000 nodes" -f "$work/large.yaml" --trace "$work/month.csv" --format weft --load 0.9
}

compare() {
  local trace
  "$WEFT" fabric generate --racks 8 --nodes-per-rack 9 --taper 400 --accelerator H100 >"$work/small.yaml"
  for trace in "${philly[*]}" "${venus[*]}"; do
    # shellcheck disable=SC2086
    set -- $trace
    echo "== $(basename "$1")"
    COLUMNS=250 "$WEFT" simulate -f "$work/small.yaml" --trace "$1" --format "$2" --policy all \
      --sweep load=0.7,0.9,1.1 --sweep taper=100,400,1600 || [[ $? == 3 ]]
  done
}

[[ $# -gt 0 ]] || set -- speed month compare
for part in "$@"; do "$part"; done
