#!/usr/bin/env bash
# The layouts of `weft advise` as a person and a program read them, and the job that it writes.
source "$(dirname "$0")/lib.sh"
examples=$WEFT_SOURCE_DIR/deploy/examples

expect_exit 0 "$WEFT" fabric generate --design dgx-h100-superpod --nodes 128
mv "$work/stdout" "$work/cluster.yaml"
advise() {  # ARGUMENT...
  "$WEFT" advise -f "$work/cluster.yaml" -f "$examples/superpod-queue.yaml" "$@"
}

# A table for people, the best layout first, and what would lift it.
expect_exit 0 advise team-a/llama3-405b
expect_text "$work/stdout" 'RECOMPUTE'
expect_text "$work/stdout" '256 x H100'
expect_text "$work/stdout" 'The first is bound by'
expect_text "$work/stdout" "The layout in the job's spec takes"

# Every number of GPUs from 64 on, with what the training takes and costs.
expect_exit 0 advise llama3-405b --gpus 64..1024 --tokens 15T --prices "$examples/prices.yaml" -o json
for gpus in 256 512 1024; do expect_text "$work/stdout" "\"gpus\": $gpus"; done
expect_text "$work/stdout" '"days":'
expect_text "$work/stdout" '"currency": "USD"'

# The job that it writes is one that the plan takes.
expect_exit 0 advise llama3-405b --gpus 512 -o yaml
mv "$work/stdout" "$work/job.yaml"
expect_text "$work/job.yaml" 'replicas: 64'
expect_exit 0 "$WEFT" plan -f "$work/cluster.yaml" -f "$work/job.yaml"
expect_exit 0 "$WEFT" outlook -f "$work/cluster.yaml" -f "$work/job.yaml" --prices "$examples/prices.yaml"
expect_text "$work/stdout" 'USD/H'

# A model without a job: advise takes it with --gpus, and the job that it writes is complete.
cat >"$work/model.yaml" <<'END'
apiVersion: weft.dev/v1alpha1
kind: TrainingJob
metadata: {name: llama3-70b}
spec:
  model:
    type: Transformer
    transformer: {parameters: 70600000000, layers: 80, hiddenSize: 8192, attentionHeads: 64,
      keyValueHeads: 8, feedForwardSize: 28672, vocabularySize: 128256, sequenceLength: 8192,
      globalBatchSize: 1024}
END
model() {  # ARGUMENT...
  "$WEFT" advise -f "$work/cluster.yaml" -f "$work/model.yaml" "$@"
}
expect_exit 0 model --gpus 1..1024
expect_text "$work/stdout" '1,024 x H100'
expect_text "$work/stdout" '16 x H100'
expect_exit 0 model --gpus 256 -o yaml
expect_text "$work/stderr" 'NoTemplate: the input has no spec.workers.template'
mv "$work/stdout" "$work/job.yaml"
expect_text "$work/job.yaml" 'replicas: 32'
expect_exit 0 "$WEFT" lint -f "$work/cluster.yaml" -f "$work/job.yaml"
expect_exit 0 "$WEFT" plan -f "$work/cluster.yaml" -f "$work/job.yaml"
expect_exit 2 model
expect_text "$work/stderr" 'model.yaml: line 4: document 1: TrainingJob llama3-70b: spec.workers: is required without --gpus'
for command in plan outlook lint; do
  expect_exit 2 "$WEFT" $command -f "$work/cluster.yaml" -f "$work/model.yaml"
  expect_text "$work/stderr" 'TrainingJob llama3-70b: spec.workers: is required'
done

# Of several Fabrics, each has its best layout, or a reason why it has none.
for name in small large; do
  racks=$([ $name = small ] && echo 2 || echo 8)
  expect_exit 0 "$WEFT" fabric generate --racks "$racks" --accelerator H100 --fabric-name $name
  mv "$work/stdout" "$work/$name.yaml"
done
fabrics() {  # ARGUMENT...
  "$WEFT" advise -f "$work/small.yaml" -f "$work/large.yaml" -f "$work/model.yaml" "$@"
}
expect_exit 0 fabrics --gpus 64
expect_text "$work/stdout" '64 x H100     small'
expect_text "$work/stdout" '64 x H100     large'
expect_exit 0 fabrics --gpus 512
expect_text "$work/stdout" 'Fabric small, H100: The nodes that the job may use have 256 accelerators'

# What is wrong is named.
expect_exit 2 advise
expect_text "$work/stderr" 'several TrainingJobs could be meant; name one of'
expect_exit 2 advise nobody
expect_text "$work/stderr" 'no TrainingJob is called nobody'
expect_exit 2 advise llama3-405b --gpus 8..x
expect_text "$work/stderr" '--gpus: "8..x" must be a number'
expect_exit 2 advise llama3-405b --deadline 30
expect_text "$work/stderr" '--deadline and --budget need --tokens'
sed 's/accelerator: H100/accelerator: Z1/' "$examples/prices.yaml" >"$work/prices.yaml"
expect_exit 2 advise llama3-405b --prices "$work/prices.yaml"
expect_text "$work/stderr" 'prices.yaml: line 16: prices[1].accelerator: "Z1" is an unknown accelerator; known are'
expect_empty "$work/stdout"
for tokens in 1B 250m 0.5 0; do
  expect_exit 2 advise llama3-405b --tokens $tokens
  expect_text "$work/stderr" 'write 1G for a billion, 15T for 15 trillion'
done

# Nothing fits: the exit code says so, and the text says why.
expect_exit 3 advise llama3-405b --gpus 8
expect_text "$work/stdout" '0 fit in memory'
expect_exit 3 advise llama3-405b --gpus 7
expect_text "$work/stdout" 'must be a multiple of 8'
expect_exit 3 advise llama3-405b --gpus 100000
expect_text "$work/stdout" 'have 1024 accelerators'
expect_exit 3 advise llama3-405b --gpus 256..512 --tokens 15T --deadline 1
expect_text "$work/stdout" 'the fastest takes'
expect_exit 3 advise llama3-405b --gpus 256..512 --tokens 15T --prices "$examples/prices.yaml" --budget 1 -o json
expect_text "$work/stdout" 'and the cheapest costs'

# On spot nodes interruptions take time, and the table says how often they come.
sed 's|^  labels:|&\n    karpenter.sh/capacity-type: spot|' "$work/cluster.yaml" >"$work/spot.yaml"
expect_exit 0 "$WEFT" advise -f "$work/spot.yaml" -f "$examples/superpod-queue.yaml" llama3-405b \
  --tokens 15T --prices "$examples/prices.yaml"
grep -q 'for spot nodes 100 interruptions' <(tr '\n' ' ' <"$work/stdout" | tr -s ' ') ||
  fail 'the interruptions of spot nodes are not named'

passed
