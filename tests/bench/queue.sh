#!/usr/bin/env bash
# How long one plan of many jobs takes on large reference designs.
#
#   tests/bench/queue.sh [--jobs NUMBER] [--seed NUMBER] [NODES...]
#
# For each number of nodes (10000 and 125000 if none is given) and two designs, with and without
# rails: the processor's seconds of `weft plan` with the jobs and without (reading alone). Jobs have
# 1 to 128 workers of 8 GPUs; most have a model, and a third prefers a leaf. The same seed gives the
# same jobs everywhere. WEFT names the program, build/bin/weft if it is not set.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
weft=${WEFT:-$root/build/bin/weft}
jobs=1000
seed=1
nodes=()
while [ $# -gt 0 ]; do
  case $1 in
    --jobs) jobs=$2; shift 2 ;;
    --seed) seed=$2; shift 2 ;;
    -h|--help) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | head -n -1; exit 0 ;;
    -*) echo "queue.sh: unknown option $1" >&2; exit 2 ;;
    *) nodes+=("$1"); shift ;;
  esac
done
[ ${#nodes[@]} -gt 0 ] || nodes=(10000 125000)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

awk -v jobs="$jobs" -v seed="$seed" '
  function draw(most) { state = (state * 1103515245 + 12345) % 2147483648
                        return int(state / 2147483648 * most) }
  BEGIN {
    state = seed
    for (i = 0; i < 16; ++i) draw(2)
    split("1 1 2 4 4 8 8 16 16 32 64 128", sizes, " ")
    print "apiVersion: v1\nkind: List\nitems:"
    for (i = 0; i < jobs; ++i) {
      workers = sizes[1 + draw(12)]
      kind = draw(4)
      print "- apiVersion: weft.dev/v1alpha1\n  kind: TrainingJob"
      print "  metadata: {name: job-" i ", namespace: bench}\n  spec:"
      print "    workers:\n      replicas: " workers "\n      template: {spec: {containers: ["
      print "        {name: trainer, image: registry.example/trainer:1,"
      print "         resources: {limits: {nvidia.com/gpu: 8}}}]}}"
      if (kind > 0) {
        print "    model: {type: Transformer, transformer: {parameters: 8030000000, layers: 32,"
        print "      hiddenSize: 4096, attentionHeads: 32, keyValueHeads: 8, feedForwardSize: 14336,"
        print "      vocabularySize: 128256, sequenceLength: 8192, microBatchSize: 1,"
        print "      globalBatchSize: 4096}}"
      }
      if (kind == 1) print "    parallelism: {sharding: Full}"
      if (kind == 2) print "    parallelism: {tensor: 8}"
      if (kind == 3) print "    parallelism: {tensor: 4, pipeline: " (workers > 1 ? 2 : 1) "}"
      if (draw(3) == 0) print "    topology: {preferred: leaf}"
    }
  }' > "$work/jobs.yaml"

# seconds FILE...: of the processor for one plan.
seconds() {
  local TIMEFORMAT=%U
  { time plan "$@" 2> "$work/errors"; } 2>&1
}
# Exit code 3 says that some jobs have no room.
plan() {
  local code=0
  "$weft" plan "${@/#/-f}" -o json > "$work/plan.json" || code=$?
  [ "$code" = 0 ] || [ "$code" = 3 ] || { cat "$work/errors" >&2; exit "$code"; }
}

echo "| design | nodes | reading, s | with $jobs jobs, s | placed |"
echo "| --- | --- | --- | --- | --- |"
for count in "${nodes[@]}"; do
  for design in roce-fat-tree-2to1 dgx-b200-superpod; do
    "$weft" fabric generate --design "$design" --nodes "$count" > "$work/fabric.yaml"
    reading=$(seconds "$work/fabric.yaml")
    all=$(seconds "$work/fabric.yaml" "$work/jobs.yaml")
    placed=$(grep -c '"reason": *"Placed"' "$work/plan.json" || true)
    echo "| $design | $count | $reading | $all | $placed |"
  done
done
