#!/usr/bin/env bash
# Gangs that another scheduler put over the leaves by turns cost more than they need; `weft audit`
# says how much, and writes nothing.
source "$(dirname "$0")/lib.sh"

expect_exit 0 "$WEFT" fabric generate --design roce-fat-tree-2to1
mv "$work/stdout" "$work/cluster.yaml"

# The design hangs 16 nodes on a leaf, in the order of their names.
leaf_nodes=16
# gang LABELS OWNER FIRST-LEAF LEAVES: eight pods of a Job, one after the other on the next of the
# leaves; INDEX in the labels is the pod's number.
gang() {
  local i
  for i in 0 1 2 3 4 5 6 7; do
    cat <<POD
---
apiVersion: v1
kind: Pod
metadata:
  name: $2-$i
  namespace: team-b
  labels: {${1//INDEX/$i}}
  ownerReferences: [{apiVersion: batch/v1, kind: Job, name: $2, uid: $2-uid, controller: true}]
spec:
  nodeName: $(printf 'h100-roce-%03d' "$((($3 + i % $4) * leaf_nodes + i + 1))")
  containers:
  - {name: c, image: i, resources: {requests: {nvidia.com/gpu: 8}, limits: {nvidia.com/gpu: 8}}}
status: {phase: Running}
POD
  done
}
# expect_total FILE NAME NUMBER: the last number of that name in the JSON, which is the total's.
expect_total() {
  local found
  found=$(awk -F'[:,]' -v name="\"$2\"" '$1 ~ name {gsub(/[ "]/, "", $2); last = $2} END {print last}' "$1")
  [ "$found" = "$3" ] || fail "$2 is $found, not $3"
  checks=$((checks + 1))
}

index=batch.kubernetes.io/job-completion-index
gang "$index: \"INDEX\"" scattered 0 2 >"$work/job.yaml"
gang "jobset.sigs.k8s.io/jobset-name: fleet, jobset.sigs.k8s.io/job-global-index: \"INDEX\", $index: \"0\"" \
  fleet-w 4 4 >"$work/jobset.yaml"
gang "$index: \"INDEX\"" together 10 1 >"$work/together.yaml"
sha256sum "$work"/*.yaml >"$work/before"

# A Job: every step of its ring leaves a leaf, 2:1 oversubscribed, and none would have to.
expect_exit 0 "$WEFT" audit -f "$work/cluster.yaml" -f "$work/job.yaml"
expect_text "$work/stdout" 'team-b/scattered  Job'
expect_text "$work/stdout" 'team-b/scattered: 1 spine, 2 leaf, 8 node now; 1 spine, 1 leaf, 8 node at best'
expect_text "$work/stdout" '+100 %'
expect_exit 0 "$WEFT" audit -o json -f "$work/cluster.yaml" -f "$work/job.yaml"
cp "$work/stdout" "$work/job.out"
for key in '"gangs": [' '"total": {' '"name": "scattered"' '"namespace": "team-b"' \
  '"kind": "Job"' '"workers": 8' '"spans": [' '"traffic": {' '"best": {'; do
  expect_text "$work/job.out" "$key"
done
expect_total "$work/job.out" costOverBestPercent 200

# The order of the input has no meaning, and two runs print the same.
expect_exit 0 "$WEFT" audit -o json -f "$work/job.yaml" -f "$work/cluster.yaml"
expect_same "$work/stdout" "$work/job.out"

# A JobSet is one gang, whatever Jobs its pods belong to.
expect_exit 0 "$WEFT" audit -o json -f "$work/cluster.yaml" -f "$work/jobset.yaml"
expect_text "$work/stdout" '"name": "fleet"'
expect_text "$work/stdout" '"kind": "JobSet"'
expect_total "$work/stdout" costOverBestPercent 200

# A gang on one leaf could not be better.
expect_exit 0 "$WEFT" audit -o json -f "$work/cluster.yaml" -f "$work/together.yaml"
expect_total "$work/stdout" costOverBestPercent 100

# All at once: the fleet's total has an excess.
expect_exit 0 "$WEFT" audit -f "$work"
expect_text "$work/stdout" 'Fleet: 3 gangs, 24 workers'
expect_no_text "$work/stdout" '(+0 %)'

# Nothing was written to what was read.
sha256sum "$work"/*.yaml >"$work/after"
expect_same "$work/after" "$work/before"

passed
