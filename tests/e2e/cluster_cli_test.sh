#!/usr/bin/env bash
# weft reads a live cluster: the same answers as from what kubectl prints of it, what-ifs against
# it, decisions that were made in it, and plain words where it cannot be read. In a cluster of its
# own, since it reads all of one.
source "$(dirname "$0")/lib.sh"

local_cluster=${WEFT_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}/deploy/local-cluster.sh
export WEFT_CLUSTER_DIR=$work/clusters
trap '"$local_cluster" down --name cli >/dev/null 2>&1; rm -rf "$work"' EXIT

expect_exit 0 "$local_cluster" up --name cli --nodes 60 --fragmented 30
eval "$(<"$work/stdout")"
config=$KUBECONFIG

# job NAME REPLICAS [TOPOLOGY [PRIORITY-CLASS]]: a manifest.
job() {
  cat <<YAML
---
apiVersion: weft.dev/v1alpha1
kind: TrainingJob
metadata: {name: $1, namespace: default}
spec:
  framework: {type: Torch}
  accelerator: {resourceName: nvidia.com/gpu, perWorker: 8}
  topology: ${3:-{\}}
  workers:
    replicas: $2
    template:
      spec:
        ${4:+priorityClassName: $4}
        containers: [{name: main, image: none, resources: {limits: {nvidia.com/gpu: 8}}}]
YAML
}

# Everything that weft reads, as kubectl prints it.
dump() {
  local kinds=nodes,pods,priorityclasses,namespaces,fabrics,trainingjobs,placements
  kinds+=,resourceslices,resourceclaims,resourceclaimtemplates,deviceclasses
  kinds+=,persistentvolumes,persistentvolumeclaims,storageclasses,csinodes
  kubectl get "$kinds" -A -o json >"$work/all.json"
}

# same_as_files COMMAND...: equal answer and exit code. The differences are the order, which a file
# is asked for, and how long a job has waited, which no file knows.
same_as_files() {
  local want=0 got=0
  "$WEFT" "$@" -f "$work/all.json" >"$work/from-files" 2>"$work/stderr" || want=$?
  [ -s "$work/from-files" ] || fail "no answer from files: $*"
  "$WEFT" "$@" --kubeconfig "$config" >"$work/live" 2>"$work/stderr" || got=$?
  sed '/^  annotations:$/{N; /weft.dev\/waited-seconds/d}' "$work/live" >"$work/stdout"
  [ "$want" = "$got" ] || fail "exit code $got, and $want from files: $*"
  expect_same "$work/stdout" "$work/from-files"
}

# No cluster that nobody named.
expect_exit 2 "$WEFT" plan
expect_text "$work/stderr" '-f FILE'
expect_text "$work/stderr" '--kubeconfig FILE'
expect_empty "$work/stdout"

# What cannot be used, by file and field; what cannot be reached.
expect_exit 2 "$WEFT" plan --kubeconfig "$work/nowhere"
expect_text "$work/stderr" "$work/nowhere"
expect_exit 2 "$WEFT" plan --context nobodys
expect_text "$work/stderr" "$config: there is no context \"nobodys\""
sed 's/server: .*/server: 7/' "$config" >"$work/bad"
expect_exit 2 "$WEFT" plan --kubeconfig "$work/bad"
expect_text "$work/stderr" "$work/bad"
sed 's#https://127.0.0.1:[0-9]*#https://127.0.0.1:1#' "$config" >"$work/dead"
expect_exit 1 "$WEFT" plan --kubeconfig "$work/dead"
expect_text "$work/stderr" 'the cluster cannot be reached: https://127.0.0.1:1'
expect_empty "$work/stdout"
sed '/client-.*-data:/d; s/^  user:$/  user: {}/' "$config" >"$work/anonymous"
expect_exit 1 "$WEFT" plan --kubeconfig "$work/anonymous"
expect_text "$work/stderr" 'forbidden'

# A cluster without jobs.
expect_exit 0 "$WEFT" plan --cluster -o json
expect_text "$work/stdout" '"items": []'

# What waits in queues of Kueue is left out without Kueue, and without the right to list it, which
# is said.
expect_exit 0 "$WEFT" queue --cluster
expect_text "$work/stdout" 'No job waits for nodes.'
expect_empty "$work/stderr"
kubectl create -f - >/dev/null <<'EOF'
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: all-but-kueue}
rules:
- apiGroups: ["", scheduling.k8s.io, storage.k8s.io, resource.k8s.io, weft.dev]
  resources: ['*']
  verbs: [get, list, watch]
EOF
kubectl create clusterrolebinding bo --clusterrole=all-but-kueue --user=bo >/dev/null
sed 's/^  user:$/&\n    as: bo/' "$config" >"$work/bo"
for command in queue top; do
  expect_exit 0 "$WEFT" $command --kubeconfig "$work/bo"
  expect_text "$work/stderr" \
    'skipped: cluster: list admissionchecks: forbidden; jobs that wait in queues of Kueue may be missing'
done
expect_exit 0 "$WEFT" plan --kubeconfig "$work/bo"
expect_empty "$work/stderr"
expect_exit 124 timeout 5 "$WEFT" queue --kubeconfig "$work/bo" -w
expect_text "$work/stdout" 'No job waits for nodes.'

# Jobs of two priorities for nodes that suffice for one of them: the operator's order, not that of
# names.
kubectl create priorityclass urgent --value=1000 >/dev/null
{ job a-later 30; job b-sooner 30 '{preferred: leaf}' urgent; job c-never 100; } >"$work/jobs.yaml"
kubectl create -f "$work/jobs.yaml" >/dev/null
dump
expect_exit 3 "$WEFT" plan --cluster
expect_text "$work/stdout" 'default/b-sooner: '
expect_no_text "$work/stdout" 'default/a-later: '
expect_exit 3 "$WEFT" plan -f "$work/all.json"
expect_text "$work/stdout" 'default/a-later: '
same_as_files plan --order operator
same_as_files plan --order operator -o json
same_as_files plan --order operator -o yaml --compare
same_as_files plan --order file -o json
same_as_files snapshot --order operator
same_as_files fabric show --nodes
same_as_files audit
same_as_files audit -o json
expect_exit 3 "$WEFT" plan --context cli -o json
cp "$work/stdout" "$work/by-context"
"$WEFT" snapshot --cluster >"$work/snapshot.yaml"
[ "$(grep -c 'weft.dev/waited-seconds: "[0-9]' "$work/snapshot.yaml")" = 3 ] ||
  fail 'the snapshot does not say how long its three jobs have waited'
expect_exit 3 "$WEFT" plan -f "$work/snapshot.yaml" -o json
python3 - "$work/stdout" "$work/by-context" <<'PYTHON' || fail 'the snapshot is planned otherwise'
import json, sys
by_name = [{item["metadata"]["name"]: item["status"] for item in json.load(open(path))["items"]}
           for path in sys.argv[1:]]
sys.exit(by_name[0] != by_name[1])
PYTHON

# What-ifs: one more job, and another spec for one that waits. Nothing is written.
job d-small 2 '{required: leaf}' >"$work/more.yaml"
expect_exit 3 "$WEFT" plan --cluster -f "$work/more.yaml"
expect_text "$work/stdout" 'default/d-small: dgx-h100-'
job b-sooner 2 '{}' urgent >"$work/changed.yaml"
expect_exit 3 "$WEFT" plan --cluster -f "$work/changed.yaml"
expect_text "$work/stdout" 'default/a-later: '
expect_exit 1 kubectl get trainingjob d-small
expect_exit 0 kubectl get trainingjob b-sooner -o 'jsonpath={.spec.workers.replicas}'
expect_text "$work/stdout" '30'

# What is wrong in the cluster stops nobody; in a file it is an error.
job e-wrong 1 '{required: rack}' >"$work/wrong.yaml"
kubectl create -f "$work/wrong.yaml" >/dev/null
expect_exit 3 "$WEFT" plan --cluster
expect_text "$work/stdout" 'default/b-sooner: '
expect_text "$work/stdout" 'cluster: TrainingJob default/e-wrong: spec.topology.required'
expect_exit 3 "$WEFT" explain --cluster e-wrong
expect_text "$work/stdout" 'spec.topology.required'
expect_exit 2 "$WEFT" plan --cluster -f "$work/wrong.yaml"
expect_text "$work/stderr" "$work/wrong.yaml: line "
expect_text "$work/stderr" "document 1: TrainingJob default/e-wrong: spec.topol"
expect_empty "$work/stdout"
kubectl delete trainingjob e-wrong >/dev/null

# A decision that was made: committed as the operator does it.
"$WEFT" plan --cluster -o json >"$work/plan.json" || [ $? = 3 ]
python3 - "$work/plan.json" "$work" "$(kubectl get tj b-sooner -o 'jsonpath={.metadata.uid}')" <<'PYTHON'
import json, sys
items = json.load(open(sys.argv[1]))["items"]
placement = next(item for item in items if item["metadata"]["name"] == "b-sooner-1")
status = placement.pop("status")
for condition in status["conditions"]:
    condition["lastTransitionTime"] = "2026-01-01T00:00:00Z"
placement["metadata"]["ownerReferences"] = [
    {"apiVersion": "weft.dev/v1alpha1", "kind": "TrainingJob", "name": "b-sooner",
     "uid": sys.argv[3], "controller": True}]
json.dump(placement, open(sys.argv[2] + "/placement.json", "w"))
json.dump({"status": status}, open(sys.argv[2] + "/status.json", "w"))
PYTHON
kubectl create -f "$work/placement.json" >/dev/null
kubectl patch placement b-sooner-1 --subresource=status --type=merge \
  --patch-file "$work/status.json" >/dev/null
dump
expect_exit 0 "$WEFT" explain --cluster default/b-sooner
expect_text "$work/stdout" 'Placement default/b-sooner-1 gives it these nodes.'
expect_text "$work/stdout" 'topology.preferred'
expect_text "$work/stdout" 'If it were placed again now, on free nodes and its own'
same_as_files explain default/b-sooner
same_as_files explain b-sooner-1
same_as_files plan --order operator -o json
same_as_files fabric show
same_as_files map -o svg --fabric default
expect_exit 2 "$WEFT" explain --cluster nobody
expect_text "$work/stderr" 'waits for nodes or holds nodes'

# GPUs that ResourceClaims hold are used, and those that only ResourceSlices tell of count: of the
# node `claimed` a device plug-in tells too, of `sliced` it does not. kube-scheduler allocates.
# slice NODE: the eight GPUs of a node, as a DRA driver lists them.
slice() {
  local gpu
  cat <<YAML
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: $1-gpu}
spec:
  driver: gpu.nvidia.com
  nodeName: $1
  pool: {name: $1, generation: 1, resourceSliceCount: 1}
  devices:
YAML
  for gpu in 0 1 2 3 4 5 6 7; do
    echo "  - {name: gpu-$gpu, attributes: {type: {string: gpu}, uuid: {string: $1-GPU-$gpu}}}"
  done
}
# on NODE NAME REQUESTS: a pod that tolerates everything, on that node only.
on() {
  cat <<YAML
---
apiVersion: v1
kind: Pod
metadata: {name: $2, namespace: default}
spec:
  nodeSelector: {kubernetes.io/hostname: $1}
  tolerations: [{operator: Exists}]
  containers: [{name: main, image: none$3
YAML
}
free_gpus() { # NODE [FILE]: in an answer of `weft fabric show --nodes`
  sed -n "s/^ *$1: .* GPUs, \([0-9]*\) free.*/\1/p" "${2:-$work/stdout}"
}
"$WEFT" plan --cluster -f "$work/more.yaml" -o json >"$work/plan.json" || [ $? = 3 ]
read -r claimed sliced < <(python3 - "$work/plan.json" <<'PYTHON'
import json, sys
items = json.load(open(sys.argv[1]))["items"]
print(*next(item for item in items if item["metadata"]["name"] == "d-small-1")["status"]["nodes"])
PYTHON
)
kubectl patch node "$sliced" --subresource=status --type=json --patch \
  '[{"op": "remove", "path": "/status/allocatable/nvidia.com~1gpu"},
    {"op": "remove", "path": "/status/capacity/nvidia.com~1gpu"}]' >/dev/null
{ cat <<YAML
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.nvidia.com}
spec:
  extendedResourceName: nvidia.com/gpu
  selectors:
  - cel: {expression: "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'gpu'"}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: five-gpus, namespace: default}
spec: {spec: {devices: {requests: [{name: gpus, exactly: {deviceClassName: gpu.nvidia.com, count: 5}}]}}}
YAML
slice "$claimed"; slice "$sliced"; } | kubectl create -f - >/dev/null
dump
same_as_files fabric show --nodes
[ "$(free_gpus "$claimed") $(free_gpus "$sliced")" = "8 8" ] || fail "$sliced has no GPUs by slices"
{ on "$claimed" by-claim ', resources: {claims: [{name: gpus}]}}]'
  echo '  resourceClaims: [{name: gpus, resourceClaimTemplateName: five-gpus}]'
  on "$sliced" by-request ', resources: {limits: {nvidia.com/gpu: 3}}}]'
} | kubectl create -f - >/dev/null
kubectl wait --for=condition=PodScheduled --timeout=600s pod/by-claim pod/by-request >/dev/null
dump
[ "$(grep -c '"resource.kubernetes.io/extended-resource-claim": "true"' "$work/all.json")" = 1 ] ||
  fail 'kube-scheduler made no claim for the extended resource'
same_as_files fabric show --nodes
[ "$(free_gpus "$claimed") $(free_gpus "$sliced")" = "3 5" ] || fail 'claims do not count'
same_as_files plan --order operator -o json
same_as_files snapshot --order operator
"$WEFT" snapshot --cluster >"$work/snapshot.yaml"
"$WEFT" fabric show --nodes -f "$work/snapshot.yaml" >"$work/of-snapshot" 2>/dev/null
[ "$(free_gpus "$claimed" "$work/of-snapshot") $(free_gpus "$sliced" "$work/of-snapshot")" = "3 5" ] ||
  fail 'claims do not count in a snapshot'

# A cluster without Weft's definitions.
kubectl delete -f "${local_cluster%/deploy/*}/crds" >/dev/null
expect_exit 0 "$WEFT" fabric show --cluster
expect_text "$work/stderr" 'FabricRecognised'
expect_exit 0 "$WEFT" plan --cluster -f "$work/more.yaml"
expect_text "$work/stdout" 'default/d-small: dgx-h100-'

passed
