#!/usr/bin/env bash
# The answer of `weft plan` as a program reads it: whole, in order, within capacity, and the same
# bytes whatever form or order the input has.
source "$(dirname "$0")/lib.sh"
examples=$WEFT_SOURCE_DIR/deploy/examples

if ! command -v python3 >/dev/null; then
  echo 'NOT TESTED: the answer of weft plan, for want of python3' >&2
  [ "${CI:-}" != true ] || exit 1
  exit 0
fi

# check_plan CLUSTER QUEUE ANSWER.json CODE: the answer is one List, a Placement for each job of the
# queue, in its order; code 0 says that all are placed; no node gives more GPUs than it has left.
cat >"$work/check_plan.py" <<'PYTHON'
import collections
import json
import re
import sys

cluster, queue, answer, code = sys.argv[1:5]


def documents(path):
    return re.split(r'^---\n', open(path).read(), flags=re.M)


def field(pattern, text):
    return re.search(pattern, text, flags=re.M).group(1)


free = {}
used = collections.Counter()
for text in documents(cluster):
    gpus = re.findall(r'^ +\w+\.com/gpu: "?(\d+)"?$', text, flags=re.M)
    if re.search('^kind: Node$', text, flags=re.M):
        free[field(r'^  name: "?([^"\n]*)"?$', text)] = int(gpus[0]) if gpus else 0
    elif re.search('^kind: Pod$', text, flags=re.M):
        used[field(r'^  nodeName: "?([^"\n]*)"?$', text)] += int(gpus[0])
jobs = [(field(r'^metadata: \{.*namespace: ([-a-z0-9]+)', text),
         field(r'^metadata: \{name: ([-a-z0-9]+)', text),
         int(field(r'^    replicas: (\d+)', text)), int(field(r'perWorker: (\d+)', text)))
        for text in documents(queue) if re.search('^kind: TrainingJob', text, flags=re.M)]
assert jobs and free

plan = json.load(open(answer))
assert sorted(plan) == ['apiVersion', 'items', 'kind'], sorted(plan)
assert (plan['apiVersion'], plan['kind']) == ('v1', 'List')
assert len(plan['items']) == len(jobs), (len(plan['items']), len(jobs))
placed = 0
for item, (namespace, job, workers, gpus) in zip(plan['items'], jobs):
    assert (item['apiVersion'], item['kind']) == ('weft.dev/v1alpha1', 'Placement')
    metadata, spec, status = item['metadata'], item['spec'], item['status']
    assert (metadata['namespace'], metadata['name']) == (namespace, job + '-1'), metadata
    assert metadata['labels'] == {'weft.dev/job-name': job}, metadata
    assert (spec['workers'], spec['accelerator']['perWorker']) == (workers, gpus), job
    nodes = status.get('nodes', [])
    [condition] = [c for c in status['conditions'] if c['type'] == 'Placed']
    assert condition['status'] == ('True' if nodes else 'False'), job
    assert condition['message'] and condition['reason'], job
    assert len(nodes) in (0, workers), (job, len(nodes))
    placed += bool(nodes)
    for node in nodes:
        used[node] += gpus
    if nodes:
        assert status['spans'][-1] == {'level': 'node', 'domains': len(set(nodes))}, job
assert (placed == len(jobs)) == (code == '0'), (placed, code)
for node, gpus in used.items():
    assert gpus <= free[node], f'{node}: {gpus} GPUs used of {free[node]}'
PYTHON

check_plan() {
  python3 "$work/check_plan.py" "$@" || fail "the plan of $(basename "$1") with $(basename "$2")"
  checks=$((checks + 1))
}

# design, exit code of each queue: 3 where a job cannot be placed, 2 where a job names a level that
# the design does not have.
cat >"$work/expected" <<'EOT'
dgx-b200-superpod 0 2
dgx-h100-superpod 0 2
dragonfly 0 2
gb200-nvl72 3 0
mi355x 3 2
mixed 3 3
pcie-only 0 2
roce-fat-tree-2to1 0 2
roce-fat-tree-7to1 3 2
tpu-v5p-cube 3 2
EOT
expect_exit 0 "$WEFT" fabric generate --list
awk 'NR > 1 {print $1}' "$work/stdout" | sort >"$work/designs"
awk '{print $1}' "$work/expected" >"$work/known"
expect_same "$work/designs" "$work/known"

plan_queue() { # DESIGN QUEUE CODE
  local cluster=$work/$1.yaml queue=$examples/$2-queue.yaml
  expect_exit "$3" "$WEFT" plan -f "$cluster" -f "$queue" -o json
  if [ "$3" = 2 ]; then
    expect_empty "$work/stdout"
    expect_text "$work/stderr" 'unknown level'
    return
  fi
  cp "$work/stdout" "$work/answer.json"
  check_plan "$cluster" "$queue" "$work/answer.json" "$3"
  expect_exit "$3" "$WEFT" plan -f "$cluster" -f "$queue" -o json
  expect_same "$work/stdout" "$work/answer.json"
}

while read -r design superpod nvl72; do
  expect_exit 0 "$WEFT" fabric generate --design "$design"
  mv "$work/stdout" "$work/$design.yaml"
  plan_queue "$design" superpod "$superpod"
  plan_queue "$design" nvl72 "$nvl72"
done <"$work/expected"

# Pods of earlier jobs are usage.
for percent in 20 45; do
  expect_exit 0 "$WEFT" fabric generate --design roce-fat-tree-2to1 --fragmented $percent --seed 7
  mv "$work/stdout" "$work/fragmented.yaml"
  code=0
  "$WEFT" plan -f "$work/fragmented.yaml" -f "$examples/superpod-queue.yaml" -o json \
    >"$work/answer.json" 2>"$work/stderr" || code=$?
  [ $code = 0 ] || [ $code = 3 ] || fail "exit code $code with $percent % in use"
  check_plan "$work/fragmented.yaml" "$examples/superpod-queue.yaml" "$work/answer.json" $code
done

# The nodes' and pods' order has no meaning, and jobs may stand among them.
python3 - "$work/fragmented.yaml" "$examples/superpod-queue.yaml" >"$work/shuffled.yaml" <<'PYTHON'
import random
import re
import sys

cluster, jobs = ([text for text in re.split(r'^---\n', open(path).read(), flags=re.M) if text]
                 for path in sys.argv[1:3])
chance = random.Random(11)
chance.shuffle(cluster)
places = sorted(chance.sample(range(len(cluster)), len(jobs)), reverse=True)
for place, job in zip(places, reversed(jobs)):
    cluster.insert(place, job)
print('---\n'.join(text if text.endswith('\n') else text + '\n' for text in cluster), end='')
PYTHON
cp "$work/answer.json" "$work/ordered.json"
expect_exit $code "$WEFT" plan -f "$work/shuffled.yaml" -o json
expect_same "$work/stdout" "$work/ordered.json"

# One cluster written as JSON, as a YAML List and as YAML documents has one answer, in each form.
python3 - "$work" <<'PYTHON'
import json
import sys


def node(i):
    name = f'n{i:02d}'
    labels = {'kubernetes.io/hostname': name, 'rack': f'r{i // 4}', 'row': f'w{i // 8}'}
    return {'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': name, 'labels': labels},
            'status': {'allocatable': {'cpu': '64', 'memory': '512Gi', 'nvidia.com/gpu': '8',
                                       'pods': '110'},
                       'conditions': [{'type': 'Ready', 'status': 'True'}]}}


def pods(labels, gpus, **more):
    limits = {'nvidia.com/gpu': gpus}
    return {'metadata': {'labels': labels},
            'spec': dict(more, containers=[{'name': 'c', 'image': 'registry.example/x:1',
                                            'resources': {'limits': limits}}])}


def job(name, replicas, spec):
    return {'apiVersion': 'weft.dev/v1alpha1', 'kind': 'TrainingJob',
            'metadata': {'name': name, 'namespace': 'team-a'},
            'spec': dict(spec, accelerator={'resourceName': 'nvidia.com/gpu', 'perWorker': 8},
                         workers={'replicas': replicas, 'template': pods({'a': 'yes'}, 8)})}


fabric = {'apiVersion': 'weft.dev/v1alpha1', 'kind': 'Fabric', 'metadata': {'name': 'default'},
          'spec': {'levels': [{'name': name, 'labelKey': key, 'link': {'type': 'InfiniBandNDR'}}
                              for name, key in (('spine', 'row'), ('leaf', 'rack'))]}}
held = dict(pods({}, 8, nodeName='n05'), apiVersion='v1', kind='Pod', status={'phase': 'Running'})
held['metadata'] = {'name': 'held', 'namespace': 'team-b'}
measured = {'type': 'Measured', 'measured': [{'axis': 'Tensor', 'bytesPerGPU': '2062G'},
                                             {'axis': 'Data', 'bytesPerGPU': '20G'}]}
objects = [fabric, held, *(node(i) for i in range(16)),
           job('one', 4, {'model': measured, 'parallelism': {'tensor': 16},
                          'topology': {'required': 'spine', 'preferred': 'leaf'}}),
           job('two', 3, {}), job('three', 64, {})]


def yaml(value, indent):
    pad = '\n' + ' ' * indent
    if isinstance(value, dict) and value:
        return ''.join(f'{pad}{k}:{yaml(v, indent + 2)}' for k, v in value.items())
    if isinstance(value, list) and value:
        return ''.join(f'{pad}-{yaml(v, indent + 2)}' for v in value)
    return ' ' + json.dumps(value)


whole = {'apiVersion': 'v1', 'kind': 'List', 'items': objects}
for name, text in (('form.json', json.dumps(whole)), ('list.yaml', yaml(whole, 0) + '\n'),
                   ('documents.yaml', ''.join('---' + yaml(o, 0) + '\n' for o in objects))):
    open(f'{sys.argv[1]}/{name}', 'w').write(text)
PYTHON
for output in json yaml table; do
  expect_exit 3 "$WEFT" plan -f "$work/form.json" -o $output
  cp "$work/stdout" "$work/form.$output.out"
  for form in list.yaml documents.yaml; do
    expect_exit 3 "$WEFT" plan -f "$work/$form" -o $output
    expect_same "$work/stdout" "$work/form.$output.out"
  done
done
expect_text "$work/form.json.out" '"reason": "InsufficientCapacity"'

# The answer is an input: what it placed has nodes, and is not placed again.
expect_exit 0 "$WEFT" plan -f "$work/dgx-h100-superpod.yaml" -f "$examples/superpod-queue.yaml" -o yaml
cp "$work/stdout" "$work/placed.yaml"
expect_exit 0 "$WEFT" plan -f "$work/dgx-h100-superpod.yaml" -f "$work/placed.yaml" -o json
expect_text "$work/stdout" '"items": []'

# --timings: one object a job on standard error, and standard output as without.
expect_exit 0 "$WEFT" plan --timings -o yaml -f "$work/dgx-h100-superpod.yaml" -f "$examples/superpod-queue.yaml"
expect_same "$work/stdout" "$work/placed.yaml"
python3 - "$work/stderr" <<'PYTHON' || fail 'the timings'
import json
import sys

lines = [json.loads(line) for line in open(sys.argv[1]) if line.startswith('{')]
keys = ['job', 'nodes', 'placed', 'solveMicroseconds', 'workers']
assert all(sorted(line) == keys and line['placed'] is True for line in lines), lines
assert [(line['job'], line['nodes'], line['workers']) for line in lines] == [
    ('team-b/mixtral-8x22b', 127, 16), ('team-a/llama3-405b', 127, 32),
    ('team-a/llama3-70b', 127, 8), ('team-b/llama3-8b-sft', 127, 4),
    ('team-c/vision-encoder', 127, 4), ('team-c/ablation-17', 127, 4)], lines
PYTHON
checks=$((checks + 1))

# weft queue: the order, when each starts and after which, and why one waits.
"$WEFT" fabric generate --racks 1 --nodes-per-rack 4 --accelerator H100 >"$work/rack.yaml"
job() { # NAME WORKERS SECONDS
  cat <<EOT
---
apiVersion: weft.dev/v1alpha1
kind: TrainingJob
metadata: {name: $1, namespace: team}
spec:
  accelerator: {resourceName: nvidia.com/gpu, perWorker: 8}
  expectedDurationSeconds: $3
  workers:
    replicas: $2
    template: {spec: {containers: [{name: main, image: i, resources: {limits: {nvidia.com/gpu: 8}}}]}}
EOT
}
{ job a 4 3600; job b 4 60; job c 1 60; job d 5 60; } >"$work/queue.yaml"
expect_exit 0 "$WEFT" queue -f "$work/rack.yaml" -f "$work/queue.yaml"
tr -s ' ' <"$work/stdout" >"$work/table"
for line in '1 team/a 0 4 32 - now -' '3 team/c 0 1 8 - within 1 h 1 min, when team/b ends' \
  '2 team/b 0 4 32 - within 1 h, when team/a ends InsufficientCapacity' '4 team/d 0 5 40 - never'; do
  expect_text "$work/table" "$line"
done
expect_text "$work/stdout" 'team/b: Fabric "default" has room for 0 of 4 workers'
# With Workloads of Kueue: one that has quota is tried among the jobs, one without comes last.
{
  cat <<'EOT'
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: {name: placement}
spec: {controllerName: weft.dev/placement}
EOT
  for reserved in True False; do
    cat <<EOT
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: quota-${reserved,,}, namespace: team}
spec:
  queueName: main
  priority: 9
  podSets:
  - {name: main, count: 2, template: {spec: {containers: [{name: main, resources: {requests: {nvidia.com/gpu: 8}}}]}}}
status:
  admissionChecks: [{name: placement, state: Pending, message: ""}]
  conditions: [{type: QuotaReserved, status: "$reserved", message: 16 more needed}]
EOT
  done
} >"$work/kueue.yaml"
job a 4 60 >"$work/one.yaml"
expect_exit 0 "$WEFT" queue -f "$work/rack.yaml" -f "$work/one.yaml" -f "$work/kueue.yaml"
tr -s ' ' <"$work/stdout" >"$work/table"
for line in '1 team/quota-true (Workload) 9 2 16 - now -' \
  '2 team/a 0 4 32 - unknown InsufficientCapacity' \
  '- team/quota-false (Workload) 9 2 16 - unknown QuotaPending'; do
  expect_text "$work/table" "$line"
done
expect_text "$work/stdout" 'team/quota-false (Workload): queue main: 16 more needed'
expect_exit 0 "$WEFT" top -f "$work/rack.yaml" -f "$work/one.yaml" -f "$work/kueue.yaml"
expect_text "$work/stdout" 'team/quota-false (Workload)'
expect_exit 0 "$WEFT" queue -o json -n nobody -f "$work/rack.yaml" -f "$work/queue.yaml"
expect_text "$work/stdout" '"queue": []'
expect_exit 2 "$WEFT" queue --reserve-after -1 -f "$work/rack.yaml"

passed
