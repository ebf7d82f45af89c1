#!/usr/bin/env bash
# A snapshot holds all inputs of a decision, so that planning it gives the same answer, and nothing
# of a template that a decision does not need.
source "$(dirname "$0")/lib.sh"
examples=$WEFT_SOURCE_DIR/deploy/examples

# replays CODE CLUSTER JOBS: through a pipe, with the same exit code and bytes.
replays() {
  expect_exit "$1" "$WEFT" plan -o json -f "$2" -f "$3"
  cp "$work/stdout" "$work/direct.json"
  expect_text "$work/direct.json" '"status": {'
  expect_exit 0 "$WEFT" snapshot -f "$2" -f "$3"
  cp "$work/stdout" "$work/snapshot.out"
  expect_exit "$1" "$WEFT" plan -o json -f - <"$work/snapshot.out"
  expect_same "$work/stdout" "$work/direct.json"
  # A snapshot of a snapshot is the snapshot.
  expect_exit 0 "$WEFT" snapshot -f - <"$work/snapshot.out"
  expect_same "$work/stdout" "$work/snapshot.out"
}

for design in dgx-h100-superpod gb200-nvl72 roce-fat-tree-2to1; do
  queue=superpod
  [ $design != gb200-nvl72 ] || queue=nvl72
  expect_exit 0 "$WEFT" fabric generate --design $design
  mv "$work/stdout" "$work/$design.yaml"
  replays 0 "$work/$design.yaml" "$examples/$queue-queue.yaml"
done

# With pods of earlier jobs, and a job that fits nowhere among those that do.
expect_exit 0 "$WEFT" fabric generate --design dgx-h100-superpod --fragmented 50 --seed 2
mv "$work/stdout" "$work/busy.yaml"
cat "$examples/superpod-queue.yaml" - >"$work/queue.yaml" <<'JOB'
---
apiVersion: weft.dev/v1alpha1
kind: TrainingJob
metadata: {name: too-large, namespace: team-a}
spec:
  accelerator: {resourceName: nvidia.com/gpu, perWorker: 8}
  workers:
    replicas: 4000
    template: {spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 8}}}]}}
JOB
replays 3 "$work/busy.yaml" "$work/queue.yaml"

# Values that a person would not send to a stranger stay behind.
cat >"$work/private.yaml" <<'JOB'
apiVersion: weft.dev/v1alpha1
kind: TrainingJob
metadata:
  name: private
  namespace: team-a
  annotations: {example.com/note: hidden-annotation}
spec:
  accelerator: {resourceName: nvidia.com/gpu, perWorker: 8}
  workers:
    replicas: 2
    template:
      spec:
        initContainers:
        - {name: init, image: i, env: [{name: INIT_TOKEN, value: hidden-init}]}
        containers:
        - name: c
          image: i
          command: [train, --token, hidden-command]
          args: [--key=hidden-argument]
          env:
          - {name: TOKEN, value: hidden-environment}
          - {name: KEY, valueFrom: {secretKeyRef: {name: hidden-reference, key: k}}}
          envFrom: [{secretRef: {name: hidden-from}}]
          resources: {limits: {nvidia.com/gpu: 8}}
        volumes: [{name: v, secret: {secretName: hidden-volume}}]
        imagePullSecrets: [{name: hidden-pull}]
---
apiVersion: v1
kind: Secret
metadata: {name: s, namespace: team-a}
stringData: {password: hidden-secret}
---
apiVersion: v1
kind: Pod
metadata: {name: other, namespace: team-b}
spec:
  nodeName: dgx-h100-002
  containers:
  - name: c
    image: i
    env: [{name: TOKEN, value: hidden-pod}]
    resources: {limits: {nvidia.com/gpu: 8}}
status: {phase: Running}
JOB
replays 0 "$work/dgx-h100-superpod.yaml" "$work/private.yaml"
expect_text "$work/snapshot.out" 'private'
expect_text "$work/snapshot.out" 'dgx-h100-002'
expect_no_text "$work/snapshot.out" 'hidden-'
expect_no_text "$work/snapshot.out" 'TOKEN'

passed
