#!/usr/bin/env bash
# The spare nodes of `weft advise --spares` as a person and a program read them, where the rates come
# from, and what is refused.
source "$(dirname "$0")/lib.sh"
examples=$WEFT_SOURCE_DIR/deploy/examples

expect_exit 0 "$WEFT" fabric generate --design dgx-h100-superpod --nodes 128
mv "$work/stdout" "$work/cluster.yaml"
spares() {  # ARGUMENT...
  "$WEFT" advise --spares -f "$work/cluster.yaml" "$@"
}
# one LEVEL FIELD: of the JSON in $work/stdout.
one() {
  python3 -c 'import json, sys
levels = json.load(open(sys.argv[1]))["levels"]
print(next(one[sys.argv[3]] for one in levels if one["level"] == sys.argv[2]))' "$work/stdout" "$@"
}
expect_one() {  # LEVEL FIELD VALUE
  local got
  got=$(one "$1" "$2")
  [ "$got" = "$3" ] || fail "$2 of $1 is $got, not $3"
  checks=$((checks + 1))
}

# What is assumed is said; what is given is used.
expect_exit 0 spares
expect_text "$work/stdout" 'WAITS WITHOUT'
expect_text "$work/stdout" 'assumed: Llama 3 405B, 2024'
expect_exit 0 spares --failures 3.79 --repair-seconds 86400
expect_text "$work/stdout" 'Keep 3 spare nodes anywhere in the fabric'
expect_text "$work/stdout" '(--failures; time of repair:'
expect_exit 0 spares --failures 3.79 --repair-seconds 86400 -o json
for field in nodes:128 p99:3 best:3; do
  expect_one outside "${field%:*}" "${field#*:}"
done
case $(one outside rho) in 0.4851*) ;; *) fail 'rho is not 0.4851' ;; esac

# Rates of a file, of the Fabric, and of options before both.
expect_exit 0 spares --failure-model "$examples/failures.yaml"
expect_text "$work/stdout" 'failures.yaml'
expect_text <(tr -s ' \n' ' ' <"$work/stdout") 'of a whole leaf'
awk '/^kind: Fabric/ {fabric = 1} {print} fabric && /^spec:/ {
  print "  failureRates:"
  print "  - {level: node, per1000Days: 6.5, repairSeconds: 86400}"
  print "  - {level: leaf, per1000Days: 1, repairSeconds: 7200}"
  fabric = 0}' "$work/cluster.yaml" >"$work/rated.yaml"
rated() {  # ARGUMENT...
  "$WEFT" advise --spares -f "$work/rated.yaml" "$@"
}
expect_exit 0 rated
expect_text "$work/stdout" '6.5 failures in 1,000 days of a node'
expect_exit 0 rated -o json
expect_text <(tr -d ' \n' <"$work/stdout") '"levels":{"leaf":{"failuresPer1000Days":1.0,"repairSeconds":7200.0}}'
expect_exit 0 rated --failures 3.79 -o json
expect_text "$work/stdout" '"from": "--failures"'
expect_exit 0 rated --failure-model "$examples/failures.yaml" -o json
expect_one outside best 3

# Jobs have their own intervals.
expect_exit 0 spares -f "$examples/superpod-queue.yaml"
expect_text "$work/stdout" 'team-a/llama3-405b'
expect_exit 0 spares -f "$examples/superpod-queue.yaml" -o json
expect_text "$work/stdout" '"job": "team-a/llama3-405b"'

# Bad input: the file and the field, and nothing on standard output.
refused() {  # TEXT ARGUMENT...
  local text=$1
  shift
  expect_exit 2 "$@"
  expect_text "$work/stderr" "$text"
  expect_empty "$work/stdout"
}
model() {  # TEXT <file
  cat >"$work/rates.yaml"
  refused "$1" spares --failure-model "$work/rates.yaml"
}
model 'rates.yaml: line 1: node.repairSeconds: is required' <<<$'node:\n  failuresPer1000Days: 1'
model 'rates.yaml: line 1: shelf: is not a level of the Fabric; the file may name' <<'END'
shelf: {failuresPer1000Days: 1, repairSeconds: 60}
END
model 'rates.yaml: line 2: node.failuresPer1000Days: -1 must be from 0 to 100000' <<'END'
node:
  failuresPer1000Days: -1
  repairSeconds: 60
END
model 'rates.yaml: line 2: node.failuresPer1000Days: 5000 is too high' <<'END'
node:
  failuresPer1000Days: 5000
  repairSeconds: 86400
END
model 'rates.yaml: line 2: not YAML' <<<'node: {'
refused 'none.yaml' spares --failure-model "$work/none.yaml"
refused '--failures: "-1"' spares --failures -1
refused '--failures: so many failures' spares --failures 1000000
refused '--spares' "$WEFT" advise -f "$work/cluster.yaml" --failures 3.79
refused '--spares' spares --gpus 8
for wrong in 's/level: leaf/level: shelf/|failureRates[1].level: "shelf" is neither the name of a level nor node' \
  's/per1000Days: 6.5/per1000Days: -1/|failureRates[0].per1000Days: -1 must be from 0 to 100000' \
  's/repairSeconds: 7200/repairSeconds: 0/|failureRates[1].repairSeconds: 0' \
  's/per1000Days: 6.5/per1000Days: 5000/|failureRates[0].per1000Days: so many failures'; do
  sed "${wrong%%|*}" "$work/rated.yaml" >"$work/wrong.yaml"
  refused "spec.${wrong#*|}" "$WEFT" advise --spares -f "$work/wrong.yaml"
  expect_text "$work/stderr" 'wrong.yaml: line '
done
sed 's/^  workers:/  fabricName: nowhere\n  workers:/' "$examples/trainingjob.yaml" >"$work/job.yaml"
refused 'spec.fabricName: unknown Fabric' spares -f "$work/job.yaml"

# The page's examples print what stands there.
expect_exit 0 python3 -B "$(dirname "$0")/console_page.py" "$WEFT_SOURCE_DIR/operator/docs/survive.md"

passed
