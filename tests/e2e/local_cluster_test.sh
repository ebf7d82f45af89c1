#!/usr/bin/env bash
# deploy/local-cluster.sh: a cluster comes up with a fabric's nodes, runs what is put on it, says
# what has died, and goes without a trace.
source "$(dirname "$0")/lib.sh"

local_cluster=${WEFT_SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}/deploy/local-cluster.sh
export WEFT_CLUSTER_DIR=$work/clusters
trap '"$local_cluster" down --name test >/dev/null 2>&1; rm -rf "$work"' EXIT

# Every process of a cluster names its folder in its arguments.
expect_nothing_left() {
  [ ! -e "$WEFT_CLUSTER_DIR" ] || fail "left behind: $(find "$WEFT_CLUSTER_DIR" | head)"
  local left
  left=$(grep -lzF "$WEFT_CLUSTER_DIR" /proc/[0-9]*/cmdline 2>/dev/null) || true
  [ -z "$left" ] || fail "still running: $(tr '\0' ' ' <"${left%%$'\n'*}")"
  checks=$((checks + 1))
}

# Usage.
expect_exit 0 "$local_cluster" --help
expect_text "$work/stdout" '--design D'
expect_exit 2 "$local_cluster"
expect_exit 2 "$local_cluster" sideways
expect_exit 2 "$local_cluster" up --nodes many
expect_exit 2 "$local_cluster" up --name ../x
expect_exit 2 "$local_cluster" up --real 201
expect_text "$work/stderr" 'at most 200'
expect_exit 2 "$local_cluster" up --gpus some
expect_exit 2 "$local_cluster" up more
expect_text "$work/stderr" "what is 'more'?"
expect_exit 2 "$local_cluster" load --name test
expect_exit 2 "$local_cluster" exec --name test real-1
expect_exit 1 "$local_cluster" load --name test image.tar
expect_text "$work/stderr" 'test has no real nodes'
expect_exit 1 "$local_cluster" status --name test
expect_exit 0 "$local_cluster" down --name test
expect_exit 2 "$local_cluster" up --name test --design no-such-design
expect_text "$work/stderr" 'no-such-design'
expect_nothing_left
expect_exit 1 "$local_cluster" up --name test --kubernetes 1.2 --nodes 0
expect_text "$work/stderr" "no Kubernetes '1.2'"
expect_nothing_left

# Real nodes have the labels of the design's last nodes, with a number of GPUs of their own.
expect_exit 0 "$WEFT" fabric generate --design dgx-h100-superpod --nodes 33
cp "$work/stdout" "$work/nodes.yaml"
real_labels=$(dirname "$local_cluster")/local-cluster/real_labels.py
shape=fabric.topograph.run/tier-0=su-02,fabric.topograph.run/tier-1=pod-01
gpus=nvidia.com/gpu.count=2,nvidia.com/gpu.family=hopper
gpus+=,nvidia.com/gpu.product=NVIDIA-H100-80GB-HBM3
for labels in "2 $shape,$gpus" "0 $shape"; do
  cp "$work/nodes.yaml" "$work/left.yaml"
  expect_exit 0 python3 -B "$real_labels" --nodes "$work/left.yaml" --real 1 \
    --gpus "${labels%% *}" --output "$work/labels"
  echo "${labels#* },weft.test/kubelet=real" >"$work/expected"
  expect_same "$work/labels" "$work/expected"
  expect_no_text "$work/left.yaml" dgx-h100-033
done

# Interrupted before, while and after servers start.
for reached in 'certificates made' 'etcd ready' 'kube-apiserver ready' 'objects created'; do
  coproc interrupted { exec "$local_cluster" up --name test --nodes 5 2>&1; }
  up_process=$!
  while read -r line <&"${interrupted[0]}" && [[ $line != *"$reached"* ]]; do :; done
  kill -TERM $up_process
  expect_exit 143 wait $up_process
  expect_nothing_left
done

# Nodes of a fabric.
expect_exit 0 "$local_cluster" up --name test --nodes 20 --design dgx-h100-superpod --fragmented 10
eval "$(<"$work/stdout")"
[ "$KUBECONFIG" = "$WEFT_CLUSTER_DIR/test/kubeconfig" ] || fail "KUBECONFIG is $KUBECONFIG"
expect_exit 0 "$local_cluster" status --name test
expect_text "$work/stdout" '20 ready of 20'
expect_text "$work/stdout" "Kubernetes  $(kube-apiserver --version | cut -d ' ' -f 2)"
expect_exit 0 kubectl get node dgx-h100-020 -L fabric.topograph.run/tier-0 --no-headers
expect_text "$work/stdout" 'su-01'
expect_exit 0 kubectl get node dgx-h100-020 -o 'jsonpath={.status.allocatable.nvidia\.com/gpu}'
expect_text "$work/stdout" '8'
expect_exit 0 kubectl get fabrics,trainingjobs,placements -A
expect_text "$work/stdout" 'fabric.weft.dev/default'
expect_exit 0 kubectl wait --for=condition=Ready pod -l '!x' --all --timeout=600s
expect_text "$work/stdout" 'earlier-'

# Certificates decide who may do what.
expect_exit 1 kubectl auth can-i create pods --as system:anonymous
kwok=$WEFT_CLUSTER_DIR/test/certificates/kwok.kubeconfig
expect_exit 1 kubectl auth can-i create pods --kubeconfig "$kwok"
expect_exit 0 kubectl auth can-i update nodes --subresource status --kubeconfig "$kwok"
expect_exit 0 kubectl auth can-i delete nodes

# Pods are bound by the scheduler, run, end and fail as they are told.
expect_exit 0 kubectl apply -f - <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: plain}
spec:
  containers: [{name: main, image: none, resources: {limits: {nvidia.com/gpu: 8}}}]
---
apiVersion: v1
kind: Pod
metadata: {name: fails, annotations: {weft.test/run-seconds: "1", weft.test/exit-code: "137"}}
spec:
  restartPolicy: Never
  containers: [{name: main, image: none}]
---
apiVersion: v1
kind: Pod
metadata: {name: too-large}
spec:
  containers: [{name: main, image: none, resources: {limits: {nvidia.com/gpu: 9}}}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: job}
spec:
  completions: 4
  parallelism: 4
  completionMode: Indexed
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: none, resources: {limits: {nvidia.com/gpu: 8}}}]
YAML
expect_exit 0 kubectl wait --for=condition=Ready --timeout=600s pod/plain
expect_exit 0 kubectl wait --for=condition=Complete --timeout=600s job/job
expect_exit 0 kubectl wait --for=condition=PodScheduled=False --timeout=600s pod/too-large
expect_exit 0 kubectl wait --for='jsonpath={.status.phase}=Failed' --timeout=600s pod/fails
expect_exit 0 kubectl get pod fails -o 'jsonpath={..exitCode}'
expect_text "$work/stdout" '137'
expect_exit 0 kubectl annotate pod plain weft.test/exit-code=1
expect_exit 0 kubectl wait --for='jsonpath={.status.phase}=Failed' --timeout=600s pod/plain

# A node that reports NotReady, and is well again.
expect_exit 0 kubectl annotate node dgx-h100-003 weft.test/ready=false
expect_exit 0 kubectl wait --for=condition=Ready=False --timeout=600s node/dgx-h100-003
expect_exit 0 kubectl annotate node dgx-h100-003 weft.test/ready-
expect_exit 0 kubectl wait --for=condition=Ready --timeout=600s node/dgx-h100-003

# What has died is named; up starts it again and changes nothing else.
kill -KILL "$(cut -d ' ' -f 1 "$WEFT_CLUSTER_DIR/test/pids/kube-scheduler")"
expect_exit 1 "$local_cluster" status --name test
expect_text "$work/stdout" 'DEAD'
expect_exit 1 "$local_cluster" up --name test --kubernetes 1.35
expect_text "$work/stderr" 'take it down first'
expect_exit 0 "$local_cluster" up --name test
expect_exit 0 "$local_cluster" status --name test
expect_text "$work/stdout" '20 ready of 20'

expect_exit 0 "$local_cluster" down --name test
expect_nothing_left
passed
