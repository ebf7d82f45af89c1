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
