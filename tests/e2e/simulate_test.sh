#!/usr/bin/env bash
# `weft simulate` as a person and a program read it: manifests and traces, bad lines, exit codes.
source "$(dirname "$0")/lib.sh"

expect_exit 0 "$WEFT" fabric generate --racks 4 --nodes-per-rack 4 --taper 400 --accelerator H100
mv "$work/stdout" "$work/cluster.yaml"

# A trace of our own: 200 jobs of mixed size.
python3 - >"$work/trace.csv" <<'PYTHON'
import random
random.seed(5)
print("job,arrivalSeconds,runSeconds,gpus")
now = 0
for job in range(200):
    now += random.expovariate(1 / 60)
    print(f"j{job},{now:.1f},{random.expovariate(1 / 1800):.1f},{random.choice([1, 2, 8, 8, 16, 32, 64])}")
PYTHON
expect_exit 0 "$WEFT" simulate -f "$work/cluster.yaml" --trace "$work/trace.csv" --format weft \
  --load 0.9 --policy all --backfill reserve,any
expect_text "$work/stdout" '200 jobs on 16 nodes with 128 GPUs; offered load 0.90.'
for policy in weft first-fit random pack fewest-domains tightest-domain slurm-block; do
  expect_text "$work/stdout" "$policy "
done
expect_exit 0 "$WEFT" simulate -f "$work/cluster.yaml" --trace - --format weft -o json <"$work/trace.csv"
mv "$work/stdout" "$work/once.json"
expect_exit 0 "$WEFT" simulate -f "$work/cluster.yaml" --trace "$work/trace.csv" --format weft -o json
cmp "$work/stdout" "$work/once.json" || fail "the same input gives two answers"
python3 - "$work/once.json" <<'PYTHON' || fail "the JSON does not add up"
import json
import sys
[one] = json.load(open(sys.argv[1], encoding="utf-8"))["policies"]
assert one["policy"] == "weft" and one["jobs"] == one["finished"] == 200
assert one["events"] == 400
assert one["contentionFreeCompletionSeconds"]["mean"] <= one["completionSeconds"]["mean"]
assert 0 < one["utilisation"] <= 1
assert one["levelBytes"]["leaf"] > 0
PYTHON

# The changes that help most, each with its gain; the same as JSON.
expect_exit 0 "$WEFT" simulate -f "$work/cluster.yaml" --trace "$work/trace.csv" --format weft \
  --load 0.9 --advise
expect_text "$work/stdout" 'CHANGE'
expect_text "$work/stdout" 'as it is'
expect_text "$work/stdout" 'each change was simulated alone'

# The report is one page that loads nothing from elsewhere and names every policy.
expect_exit 0 "$WEFT" simulate -f "$work/cluster.yaml" --trace "$work/trace.csv" --format weft \
  --load 0.9 --policy weft,first-fit --report "$work/report.html"
expect_text "$work/report.html" '200 jobs on 16 nodes with 128 GPUs, offered load 0.90.'
expect_text "$work/report.html" '<h2>Waiting</h2>'
expect_text "$work/report.html" 'Free blocks: first-fit'
expect_text "$work/report.html" '<h2>Map: first-fit</h2>'
! grep -E '(src|href)="?(https?:)?//' "$work/report.html" || fail "the report loads from elsewhere"
expect_exit 2 "$WEFT" simulate -f "$work/cluster.yaml" --trace "$work/trace.csv" --format weft \
  --report "$work/no/such/folder/report.html"

# Every event, for a program: each job arrives, starts on whole nodes or a part of one, and ends.
expect_exit 0 "$WEFT" simulate -f "$work/cluster.yaml" --trace "$work/trace.csv" --format weft \
  --policy weft,random --events "$work/events.csv" --prices "$WEFT_SOURCE_DIR/deploy/examples/prices.yaml"
expect_text "$work/stdout" 'COST USD'
python3 - "$work/events.csv" <<'PYTHON' || fail "the events do not add up"
import collections
import csv
import sys
with open(sys.argv[1], encoding="utf-8", newline="") as file:
    lines = list(csv.DictReader(file))
for run in ("weft", "random"):
    mine = [line for line in lines if line["run"] == run]
    assert [float(line["seconds"]) for line in mine] == sorted(float(l["seconds"]) for l in mine)
    of_job = collections.defaultdict(list)
    used = collections.Counter()
    nodes = {}
    for line in mine:
        of_job[line["job"]].append(line["event"])
        if line["event"] == "start":
            nodes[line["job"]] = line["nodes"].split()
        for node in nodes.get(line["job"], []):
            each = int(line["gpus"]) / len(nodes[line["job"]])
            used[node] += {"start": each, "end": -each}[line["event"]]
            assert 0 <= used[node] <= 8, (line, used[node])
    assert len(of_job) == 200
    assert all(events == ["arrive", "start", "end"] for events in of_job.values())
PYTHON
expect_exit 0 "$WEFT" simulate -f "$work/cluster.yaml" --trace "$work/trace.csv" --format weft \
  --prices "$WEFT_SOURCE_DIR/deploy/examples/prices.yaml" -o json
python3 - "$work/stdout" <<'PYTHON' || fail "energy and cost do not add up"
import json
import sys
[one] = json.load(open(sys.argv[1], encoding="utf-8"))["policies"]
hours = one["utilisation"] * one["makespanSeconds"] * 128 / 3600
energy, cost = one["energyKilowattHours"], one["cost"]
assert abs(energy["jobs"] / hours - 0.9198) < 1e-3, energy
assert abs(energy["facility"] - 1.2 * (energy["jobs"] + energy["idle"])) < 1e-3, energy
assert abs(cost["jobs"] / hours - 2.95) < 1e-3 and cost["currency"] == "USD", cost
assert abs(cost["fleet"] - 2.95 * 128 * one["makespanSeconds"] / 3600) < 1, cost
PYTHON

# Manifests say when a job arrives and how long it runs; one never fits, and the rest runs.
manifest() {  # NAME WORKERS ANNOTATIONS
  cat <<YAML
apiVersion: weft.dev/v1alpha1
kind: TrainingJob
metadata: {name: $1, namespace: a, annotations: {$3}}
spec:
  framework: {type: Torch}
  accelerator: {resourceName: nvidia.com/gpu, perWorker: 8}
  workers:
    replicas: $2
    template: {spec: {containers: [{name: m, image: i, resources: {limits: {nvidia.com/gpu: 8}}}]}}
---
YAML
}
{
  manifest first 16 'weft.dev/arrival-seconds: "0", weft.dev/run-seconds: "100"'
  manifest second 16 'weft.dev/arrival-seconds: "40", weft.dev/run-seconds: "10"'
} >"$work/jobs.yaml"
expect_exit 0 "$WEFT" simulate -f "$work/cluster.yaml" -f "$work/jobs.yaml" -o json
grep -A1 '"waitSeconds"' "$work/stdout" | grep -q '"mean": 30.0' || fail "the second job waits 60 s"
manifest huge 17 'weft.dev/run-seconds: "100"' >>"$work/jobs.yaml"
expect_exit 3 "$WEFT" simulate -f "$work/cluster.yaml" -f "$work/jobs.yaml"
expect_text "$work/stdout" '1 job can never fit: a/huge.'
manifest idle 1 '' >>"$work/jobs.yaml"
expect_exit 2 "$WEFT" simulate -f "$work/cluster.yaml" -f "$work/jobs.yaml"
expect_text "$work/stderr" 'TrainingJob a/idle: needs the annotation weft.dev/run-seconds'
expect_empty "$work/stdout"

# Bad traces and usage: the line or the flag is named.
sed '7s/,[0-9.]*,/,soon,/' "$work/trace.csv" >"$work/bad.csv"
expect_exit 2 "$WEFT" simulate -f "$work/cluster.yaml" --trace "$work/bad.csv" --format weft
expect_text "$work/stderr" 'bad.csv: line 7: column arrivalSeconds: "soon" is neither a time'
expect_empty "$work/stdout"
expect_exit 2 "$WEFT" simulate -f "$work/cluster.yaml" --trace "$work/trace.csv"
expect_text "$work/stderr" '--trace: needs --format'
expect_exit 2 "$WEFT" simulate -f "$work/cluster.yaml" --trace "$work/trace.csv" --format weft --policy best
expect_text "$work/stderr" '"best" is not one of weft, first-fit'

# Real traces, where they are at hand.
traces=${WEFT_TRACES:-}
if [[ -n $traces ]]; then
  expect_exit 0 "$WEFT" simulate -f "$work/cluster.yaml" --trace "$traces/philly_sia_full.csv" \
    --format philly --only 2869ce --load 0.7
  expect_text "$work/stdout" '422 jobs on 16 nodes'
  expect_exit 3 "$WEFT" simulate -f "$work/cluster.yaml" --trace "$traces/acme_gpunum_cdf.csv" \
    --format acme --only Kalos --jobs 500 --load 0.7 --policy fewest-domains
  expect_text "$work/stdout" "can never fit"
fi
# Wrong numbers are quoted with what would be right.
while IFS='|' read -r wrong message; do
  # shellcheck disable=SC2086
  expect_exit 2 "$WEFT" simulate -f "$work/cluster.yaml" $wrong
  expect_text "$work/stderr" "$message"
done <<'EOT'
--load 0|--load: "0" is not a number above 0
--failures -1|--failures: "-1" is not a number of at least 0
--repair-seconds x|--repair-seconds: "x" is not a number from 1 to 36,000,000
--map-at 5|--map-at requires --report
--report r.html --map-at nan|--map-at: "nan" is not a number of at least 0
EOT

passed
