#!/usr/bin/env bash
# The predictions of `weft outlook` as a person and a program read them, and what `lint` makes of them.
source "$(dirname "$0")/lib.sh"
examples=$WEFT_SOURCE_DIR/deploy/examples

expect_exit 0 "$WEFT" fabric generate --design dgx-h100-superpod --nodes 128
mv "$work/stdout" "$work/cluster.yaml"

# A table for people: one line a job, and what the numbers rest on.
expect_exit 0 "$WEFT" outlook -f "$work/cluster.yaml" -f "$examples/superpod-queue.yaml"
expect_text "$work/stdout" 'BOUND BY'
expect_text "$work/stdout" 'team-a/llama3-405b'
expect_text "$work/stdout" '256 x H100'
expect_text "$work/stdout" 'Predicted with these calibrations'

# JSON for programs.
expect_exit 0 "$WEFT" outlook -o json -f "$work/cluster.yaml" -f "$examples/superpod-queue.yaml"
expect_text "$work/stdout" '"job": "team-a/llama3-405b"'
expect_text "$work/stdout" '"memoryBytesPerGPU"'
expect_text "$work/stdout" '"costPerHour": null'

# A job as it is written in the examples, by its name, with something changed.
job() {  # SED...
  sed -n '/^metadata: {name: llama3-405b/,/^---/p' "$examples/superpod-queue.yaml" | sed '/^---/d' |
    sed "$@" >"$work/body.yaml"
  { printf 'apiVersion: weft.dev/v1alpha1\nkind: TrainingJob\n'; cat "$work/body.yaml"; } >"$work/job.yaml"
}

# Without sharding it does not fit: outlook says so and what would, lint ends with 3.
job 's/sharding: [A-Za-z]*/sharding: None/'
expect_exit 0 "$WEFT" outlook -f "$work/cluster.yaml" -f "$work/job.yaml"
expect_text "$work/stdout" 'does not fit: a GPU would hold'
expect_text "$work/stdout" 'It would fit with'
expect_exit 3 "$WEFT" lint -f "$work/cluster.yaml" -f "$work/job.yaml"
expect_text "$work/stdout" 'DoesNotFit'

# An accelerator that nobody knows, and a precision that the accelerator lacks: the input is wrong.
sed 's/NVIDIA-H100-80GB-HBM3/NVIDIA-Z1/' "$work/cluster.yaml" >"$work/unknown.yaml"
job ''
expect_exit 2 "$WEFT" outlook -f "$work/unknown.yaml" -f "$work/job.yaml"
expect_text "$work/stderr" 'unknown accelerator "NVIDIA-Z1"; known are GB300'
expect_empty "$work/stdout"
sed 's/NVIDIA-H100-80GB-HBM3/NVIDIA-A100-SXM4-80GB/' "$work/cluster.yaml" >"$work/a100.yaml"
job 's/microBatchSize: 1/&\n      precision: FP8/'
expect_exit 2 "$WEFT" outlook -f "$work/a100.yaml" -f "$work/job.yaml"
expect_text "$work/stderr" 'spec.model.transformer.precision: A100-80GB has no unit for it'

passed
