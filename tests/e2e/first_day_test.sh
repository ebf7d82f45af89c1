#!/usr/bin/env bash
# The first day of a platform engineer: generated clusters planned, audited, replayed and drawn; bad
# input refused with its place.
source "$(dirname "$0")/lib.sh"
queue=$WEFT_SOURCE_DIR/deploy/examples/superpod-queue.yaml

# A job of four 4-GPU workers that any design with NVIDIA GPUs can hold.
job() { # NAME RESOURCE
  cat <<EOF
apiVersion: weft.dev/v1alpha1
kind: TrainingJob
metadata: {name: $1, namespace: team-a}
spec:
  framework: {type: Torch}
  accelerator: {resourceName: $2, perWorker: 4}
  workers:
    replicas: 4
    template:
      spec:
        containers:
        - {name: trainer, image: registry.example/train:1, env: [{name: TOKEN, value: s3cret}],
           resources: {limits: {$2: 4}}}
  parallelism: {tensor: 4}
EOF
}

# Every design is generated, shown, planned and drawn.
expect_exit 0 "$WEFT" fabric generate --list
for design in $(awk 'NR > 1 {print $1}' "$work/stdout"); do
  expect_exit 0 "$WEFT" fabric generate --design "$design" --fragmented 20 --seed 3
  mv "$work/stdout" "$work/$design.yaml"
  resource=nvidia.com/gpu
  case $design in
    mi355x) resource=amd.com/gpu ;;
    tpu-*) resource=google.com/tpu ;;
  esac
  job small $resource >"$work/small.yaml"
  [ "$design" != mixed ] || sed -i 's/^spec:/spec:\n  fabricName: '"$(
    awk '/^kind: Fabric/ {f = 1} f && /name:/ {gsub(/[{}",]/, ""); print $NF; exit}' "$work/$design.yaml")"'/' "$work/small.yaml"
  expect_exit 0 "$WEFT" fabric show -f "$work/$design.yaml"
  expect_text "$work/stdout" ' GPUs, '
  expect_exit 0 "$WEFT" plan -f "$work/$design.yaml" -f "$work/small.yaml"
  expect_text "$work/stdout" 'team-a/small'
  expect_exit 0 "$WEFT" map -o svg -f "$work/$design.yaml" -f "$work/small.yaml"
  expect_text "$work/stdout" '</svg>'
done

# One answer, byte for byte: twice, from a folder, from standard input, from a snapshot.
cluster=$work/dgx-h100-superpod.yaml
expect_exit 0 "$WEFT" plan -f "$cluster" -f "$queue" -o json
cp "$work/stdout" "$work/first.json"
expect_text "$work/first.json" '"kind": "List"'
expect_text "$work/first.json" '"name": "llama3-70b-1"'
expect_exit 0 "$WEFT" plan -f "$queue" -f "$cluster" -o json
cmp "$work/stdout" "$work/first.json" || fail 'the order of files changed the answer'
mkdir "$work/folder"
cp "$cluster" "$work/folder/a.yaml"
cp "$queue" "$work/folder/b.yml"
expect_exit 0 "$WEFT" plan -f "$work/folder" -o json
cmp "$work/stdout" "$work/first.json" || fail 'a folder changed the answer'
expect_exit 0 "$WEFT" snapshot -f "$cluster" -f "$queue"
cp "$work/stdout" "$work/snapshot.yaml"
expect_exit 0 "$WEFT" plan -o json -f - <"$work/snapshot.yaml"
cmp "$work/stdout" "$work/first.json" || fail 'the snapshot does not replay'
job secret nvidia.com/gpu >"$work/secret.yaml"
expect_exit 0 "$WEFT" snapshot -f "$cluster" -f "$work/secret.yaml"
expect_no_text "$work/stdout" s3cret

# Explanations, comparison, lint.
expect_exit 0 "$WEFT" explain -f "$cluster" -f "$queue" llama3-405b
expect_text "$work/stdout" 'of the least possible on the free capacity'
expect_exit 0 "$WEFT" plan --compare --timings -f "$cluster" -f "$queue"
expect_text "$work/stdout" 'fewest domains'
expect_text "$work/stderr" '"solveMicroseconds"'
expect_exit 0 "$WEFT" lint -f "$cluster" -f "$queue"

# The quickstart's day: every job runs, jobs wait least where Weft places them, and the report is
# drawn.
expect_exit 0 "$WEFT" fabric generate --design gb200-nvl72 --nodes 288 --fragmented 30 --seed 1
mv "$work/stdout" "$work/nvl72.yaml"
examples=$WEFT_SOURCE_DIR/deploy/examples
expect_exit 0 "$WEFT" simulate -f "$work/nvl72.yaml" --trace "$examples/nvl72-day.csv" \
  --format weft --policy weft,first-fit,fewest-domains --prices "$examples/prices.yaml" \
  --report "$work/day.html" -o json
expect_text "$work/day.html" '<h2>Map: weft</h2>'
python3 - "$work/stdout" <<'PYTHON' || fail 'the simulated day went wrong'
import json
import sys
runs = json.load(open(sys.argv[1], encoding="utf-8"))["policies"]
assert [run["finished"] for run in runs] == [400] * 3
assert runs[0]["waitSeconds"]["mean"] == min(run["waitSeconds"]["mean"] for run in runs)
assert runs[0]["cost"]["jobs"] == min(run["cost"]["jobs"] for run in runs)
PYTHON

# A refusal says what is short, and exits 3.
sed 's/replicas: 4/replicas: 4000/; s/tensor: 4/tensor: 4/' "$work/secret.yaml" >"$work/huge.yaml"
expect_exit 3 "$WEFT" plan -f "$cluster" -f "$work/huge.yaml"
expect_text "$work/stdout" 'InsufficientCapacity'
expect_exit 3 "$WEFT" explain -f "$cluster" -f "$work/huge.yaml"

# A gang that went first-fit over two leaves by turns is worse than it need be.
expect_exit 0 "$WEFT" fabric generate --design roce-fat-tree-7to1 --nodes 512
mv "$work/stdout" "$work/empty.yaml"
nodes=($(awk '/^kind: Node/ {n = 1} n && /name:/ {gsub(/[{}",]/, ""); sub(/.*name: */, ""); print $1; n = 0}' "$work/empty.yaml"))
[ "${#nodes[@]}" -ge 512 ] || fail "only ${#nodes[@]} nodes in the generated cluster"
for i in 0 1 2 3 4 5 6 7; do
  cat <<EOF
---
apiVersion: v1
kind: Pod
metadata:
  name: gang-$i
  namespace: team-b
  labels: {batch.kubernetes.io/job-completion-index: "$i", batch.kubernetes.io/job-name: gang}
  ownerReferences: [{apiVersion: batch/v1, kind: Job, name: gang, uid: u1, controller: true}]
spec:
  nodeName: ${nodes[$((i % 2 * 400 + i))]}
  containers: [{name: c, image: registry.example/x:1, resources: {limits: {nvidia.com/gpu: 8}}}]
status: {phase: Running}
EOF
done >"$work/gang.yaml"
expect_exit 0 "$WEFT" audit -f "$work/empty.yaml" -f "$work/gang.yaml"
expect_text "$work/stdout" 'team-b/gang'
expect_exit 0 "$WEFT" audit -o json -f "$work/empty.yaml" -f "$work/gang.yaml"
expect_text "$work/stdout" '"gangs"'
expect_text "$work/stdout" '"total"'

passed
