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
expect_text "$work/stdout" 'It fits in'
expect_exit 3 "$WEFT" lint -f "$work/cluster.yaml" -f "$work/job.yaml"
expect_text "$work/stdout" 'DoesNotFit'

# An accelerator that nobody knows, and a precision that the accelerator lacks: the input is wrong.
sed 's/NVIDIA-H100-80GB-HBM3/NVIDIA-Z1/' "$work/cluster.yaml" >"$work/unknown.yaml"
job ''
expect_exit 2 "$WEFT" outlook -f "$work/unknown.yaml" -f "$work/job.yaml"
expect_text "$work/stderr" 'label nvidia.com/gpu.product: unknown accelerator "NVIDIA-Z1"; known are GB300'
expect_empty "$work/stdout"
expect_exit 2 "$WEFT" advise -f "$work/unknown.yaml" -f "$work/job.yaml"
expect_text "$work/stderr" 'unknown accelerator "NVIDIA-Z1"; known are GB300'
expect_exit 0 "$WEFT" lint -f "$work/unknown.yaml" -f "$work/job.yaml"
expect_text "$work/stdout" 'UnknownAccelerator'

# A name that stands in the Fabric is named there.
expect_exit 0 "$WEFT" fabric generate --racks 4 --accelerator H100
sed 's/acceleratorModel: H100/acceleratorModel: H900/' "$work/stdout" >"$work/h900.yaml"
expect_exit 2 "$WEFT" outlook -f "$work/h900.yaml" -f "$examples/questions/llama-70b.yaml"
expect_text "$work/stderr" 'h900.yaml: line '
expect_text "$work/stderr" 'spec.acceleratorModel: unknown accelerator "H900"; the nearest known are H200 and H100'

# Settings that training software refuses are said, and do not stop the prediction.
sed 's/keyValueHeads: 8/keyValueHeads: 7/; s/parameters: 68977000000/parameters: 7/' \
  "$examples/questions/llama-70b.yaml" >"$work/job.yaml"
refused='spec.parallelism.tensor: 8 does not divide keyValueHeads 7; Megatron-LM refuses'
expect_exit 0 "$WEFT" outlook -f "$work/cluster.yaml" -f "$work/job.yaml"
expect_text "$work/stdout" "$refused"
expect_exit 0 "$WEFT" outlook -o json -f "$work/cluster.yaml" -f "$work/job.yaml"
expect_text "$work/stdout" "$refused"
expect_exit 0 "$WEFT" lint -f "$work/cluster.yaml" -f "$work/job.yaml"
expect_text "$work/stdout" "$refused"
expect_text "$work/stdout" 'UnlikelyParameters'
sed 's/NVIDIA-H100-80GB-HBM3/NVIDIA-A100-SXM4-80GB/' "$work/cluster.yaml" >"$work/a100.yaml"
job 's/microBatchSize: 1/&\n      precision: FP8/'
expect_exit 2 "$WEFT" outlook -f "$work/a100.yaml" -f "$work/job.yaml"
expect_text "$work/stderr" 'spec.model.transformer.precision: A100-80GB has no unit for FP8, only for FP32, TF32,'
expect_exit 0 "$WEFT" lint -f "$work/a100.yaml" -f "$work/job.yaml"
expect_text "$work/stdout" 'UnsupportedPrecision'

# The user's own accelerator: by a file, or in the Fabric that `fabric generate` writes with it.
accelerators=$examples/accelerators.yaml
sed 's/NVIDIA-H100-80GB-HBM3/NVIDIA-H20/' "$work/cluster.yaml" >"$work/h20.yaml"
job ''
expect_exit 2 "$WEFT" outlook -f "$work/h20.yaml" -f "$work/job.yaml"
expect_text "$work/stderr" 'unknown accelerator "NVIDIA-H20"'
expect_exit 0 "$WEFT" outlook -f "$work/h20.yaml" -f "$work/job.yaml" --accelerators "$accelerators"
expect_text "$work/stdout" '256 x H20'
expect_text "$work/stdout" 'calibrated as H100'
expect_text "$work/stdout" '+-25 %'
expect_exit 0 "$WEFT" lint -f "$work/h20.yaml" -f "$work/job.yaml" --accelerators "$accelerators"
expect_exit 0 "$WEFT" fabric generate --racks 4 --accelerator H20 --accelerators "$accelerators"
mv "$work/stdout" "$work/with.yaml"
expect_text "$work/with.yaml" 'calibratedAs: H100'
job 's/required: spine/required: leaf/; s/replicas: 32/replicas: 16/; s/preferred: leaf/preferred: node/'
expect_exit 0 "$WEFT" advise -f "$work/with.yaml" -f "$work/job.yaml" --gpus 256
expect_text "$work/stdout" '256 x H20'
sed 's/accelerator: B200/accelerator: H20/' "$examples/prices.yaml" >"$work/prices.yaml"
expect_exit 0 "$WEFT" outlook -f "$work/with.yaml" -f "$work/job.yaml" --prices "$work/prices.yaml" -o json
expect_text "$work/stdout" '"costPerHour": 962.5'
expect_exit 2 "$WEFT" fabric generate --racks 4 --accelerator H20
expect_text "$work/stderr" '--accelerator: unknown accelerator "H20"; the nearest known is H200'

# What is wrong with such a file is named by its place.
bad() {  # TEXT SED...
  local text=$1
  shift
  sed "$@" "$accelerators" >"$work/bad.yaml"
  expect_exit 2 "$WEFT" outlook -f "$work/h20.yaml" -f "$work/job.yaml" --accelerators "$work/bad.yaml"
  expect_text "$work/stderr" "bad.yaml: line "
  expect_text "$work/stderr" ": $text"
  expect_empty "$work/stdout"
}
bad 'accelerators[0].memory: is required' '/^  memory:/d'
bad 'accelerators[0].peakFLOPS.bf16: "148X"' 's/148T/148X/'
bad 'accelerators[0].calibratedAs: "H1000" must be one of GB300' 's/calibratedAs: H100$/calibratedAs: H1000/'
bad 'accelerators[0].colour: unknown field' 's/^  powerWatts.*/&\n  colour: green/'
expect_exit 2 "$WEFT" outlook -f "$work/h20.yaml" -f "$work/job.yaml" --accelerators "$work/none.yaml"

# What measured steps have taught is read from the ConfigMap, and said.
job ''
learned() {  # TEXT
  printf 'apiVersion: v1\ndata:\n  no-release_H100_BF16: |\n    %s\n' "$1"
  printf 'kind: ConfigMap\nmetadata: {name: weft-learned-steps, namespace: weft-system}\n'
} >"$work/learned.yaml"
learned 'percent: 150'
step() { sed -n 's/.*"stepSeconds": \([0-9.]*\).*/\1/p' "$work/stdout"; }
expect_exit 0 "$WEFT" outlook -o json -f "$work/cluster.yaml" -f "$work/job.yaml"
plain=$(step)
expect_exit 0 "$WEFT" outlook -o json -f "$work/cluster.yaml" -f "$work/job.yaml" -f "$work/learned.yaml"
expect_text "$work/stdout" '"name": "no-release_H100_BF16"'
awk "BEGIN { exit !($(step) / $plain > 1.499 && $(step) / $plain < 1.501) }" ||
  fail "the step is $(step), and $plain without the scalar"
expect_exit 0 "$WEFT" outlook -f "$work/cluster.yaml" -f "$work/job.yaml" -f "$work/learned.yaml"
expect_text "$work/stdout" 'by the learned scalar'
learned 'percent: fast'
expect_exit 0 "$WEFT" outlook -f "$work/cluster.yaml" -f "$work/job.yaml" -f "$work/learned.yaml"
expect_text "$work/stdout" 'percent: "fast" must be a number'
expect_exit 0 "$WEFT" lint -f "$work/cluster.yaml" -f "$work/job.yaml" -f "$work/learned.yaml"
expect_text "$work/stdout" 'LearnedStepInvalid'

# A measured step needs a job to belong to.
expect_exit 2 "$WEFT" verify --step 12.4 --kubeconfig "$work/none.yaml"

# A rack of 30 kW takes three DGX H100 and not four.
expect_exit 0 "$WEFT" fabric generate --racks 1 --nodes-per-rack 4 --accelerator H100 --rack-watts 30000
mv "$work/stdout" "$work/rack.yaml"
ranks() {  # NODES
  sed "s/replicas: 8/replicas: $1/; s/globalBatchSize: 512/globalBatchSize: 768/" \
    "$examples/questions/llama-70b.yaml" >"$work/job.yaml"
}
ranks 3
expect_exit 0 "$WEFT" explain -f "$work/rack.yaml" -f "$work/job.yaml"
expect_text "$work/stdout" 'draws most: 23.52kW at full power'
ranks 4
expect_exit 3 "$WEFT" explain -f "$work/rack.yaml" -f "$work/job.yaml"
expect_text "$work/stdout" 'lacks power (leaf rack-01 may draw'

passed
