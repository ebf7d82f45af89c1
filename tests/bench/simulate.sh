#!/usr/bin/env bash
# How fast `weft simulate` is, and what it says about the policies.
#
#   WEFT=build/bin/weft tests/bench/simulate.sh [speed|month|grid [TRACE...]]   (default: all)
#
# speed    one policy over a trace of 82,000 jobs on 320 nodes, at three loads: seconds and events a
#          minute, on one core
# month    a month of 10,000 nodes with jobs of up to 16,384 GPUs
# grid     weft, first-fit and fewest-domains at the loads 0.7, 0.9 and 1.1 and the tapers 1:1, 4:1 and
#          16:1 on parts of the traces philly, venus and acme, or of those named: a table in Markdown.
#          About a minute on one core
#
# $WEFT_TRACES: a folder with the public traces philly_sia_full.csv, helios_venus_mystous_full.csv and
# acme_gpunum_cdf.csv. Without it the traces are generated, with similar shares of job sizes.
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
  acme=("$WEFT_TRACES/acme_gpunum_cdf.csv" acme --only Seren --jobs 20000)
else
  generated 82000 5000000 1:93 2:2.2 4:2.3 8:2 16:0.25 32:0.1 64:0.05 128:0.02 >"$work/philly.csv"
  generated 40000 5000000 1:52 2:6 4:8 8:25 16:4 32:3 64:0.6 128:1 160:0.2 >"$work/venus.csv"
  generated 20000 1200000 1:54 2:11 4:3 8:29 16:1 32:1 64:0.6 128:0.3 256:0.1 512:0.05 1024:0.05 >"$work/acme.csv"
  philly=("$work/philly.csv" weft)
  venus=("$work/venus.csv" weft)
  acme=("$work/acme.csv" weft)
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

# The table's rows of one trace: NAME, then the JSON of a sweep on standard input. A cell has a
# number for each policy, in the order of the sweep.
rows() {
  python3 -c '
import json
import sys
cells = {}
for one in json.load(sys.stdin)["policies"]:
    variation = one["variation"]
    cells.setdefault((variation["load"], variation["taperPercent"] // 100), []).append(one)
def over_ideal(one):
    return one["completionSeconds"]["p99"] / one["contentionFreeCompletionSeconds"]["p99"] - 1
columns = [
    lambda one: format(one["levelBytes"]["leaf"] / 1e15, ",.1f"),
    lambda one: format(one["waitSeconds"]["mean"] / 3600, ".2f"),
    lambda one: format(one["placementSlowdown"], ".3f"),
    lambda one: format(one["contentionSlowdown"], ".3f"),
    lambda one: format(100 * over_ideal(one), ".2f"),
]
for (load, taper), policies in sorted(cells.items()):
    means = [one["completionSeconds"]["mean"] for one in policies]
    cell = [sys.argv[1], str(load), f"{taper}:1"]
    cell += [" / ".join(column(one) for one in policies) for column in columns]
    print("| " + " | ".join(cell) + f" | {100 * (max(means) / min(means) - 1):.1f} |")
' "$1"
}

# The first JOBS jobs of a Helios trace, by arrival, on standard output.
first_jobs() {  # FILE JOBS
  head -n 1 "$1"
  tail -n +2 "$1" | sort -s -t, -k2,2g | head -n "$2" || true
}

grid() {
  local name
  [[ $# -gt 0 ]] || set -- philly venus acme
  "$WEFT" fabric generate --racks 8 --nodes-per-rack 9 --taper 400 --accelerator H100 >"$work/small.yaml"
  "$WEFT" fabric generate --racks 16 --nodes-per-rack 16 --taper 400 --accelerator H100 >"$work/wide.yaml"
  # Parts that take a few seconds for each policy, load and taper.
  if [[ -n ${WEFT_TRACES:-} ]]; then
    philly+=(--only b436b2)
    first_jobs "${venus[0]}" 10000 >"$work/venus.csv"
    venus[0]=$work/venus.csv
    acme=("${acme[@]:0:2}" --only Seren --jobs 5000)
  fi
  echo '| trace | load | taper | PB that leave leaves | wait, mean, h | PLACED | SHARED | p99 over ideal, % | completion differs by, % |'
  echo '| --- | --- | --- | --- | --- | --- | --- | --- | --- |'
  for name in "$@"; do
    case $name in
      philly) set -- "$work/small.yaml" --trace "${philly[0]}" --format "${philly[@]:1}" ;;
      venus) set -- "$work/small.yaml" --trace "${venus[0]}" --format "${venus[@]:1}" ;;
      acme) set -- "$work/wide.yaml" --trace "${acme[0]}" --format "${acme[@]:1}" ;;
    esac
    taskset -c 0 "$WEFT" simulate -f "$@" --policy weft,first-fit,fewest-domains \
      --sweep load=0.7,0.9,1.1 --sweep taper=100,400,1600 -o json >"$work/grid.json" || [[ $? == 3 ]]
    rows "$name" <"$work/grid.json"
  done
}

[[ $# -gt 0 ]] || set -- speed month grid
while [[ $# -gt 0 ]]; do
  part=$1
  shift
  if [[ $part == grid ]]; then
    grid "$@"
    break
  fi
  "$part"
done
