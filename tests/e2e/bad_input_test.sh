#!/usr/bin/env bash
# Bad input: exit code 2, the file named, nothing on standard output, at once.
source "$(dirname "$0")/lib.sh"
shopt -s lastpipe # what a pipe feeds is counted too

# refused NAME TEXT-IN-MESSAGE <input
refused() {
  cat >"$work/$1.yaml"
  expect_exit 2 timeout 100 "$WEFT" plan -f "$work/$1.yaml"
  expect_empty "$work/stdout"
  expect_text "$work/stderr" "$1.yaml"
  expect_text "$work/stderr" "$2"
}

header='apiVersion: weft.dev/v1alpha1
kind: TrainingJob
metadata: {name: x, namespace: a}'
spec() { # REPLICAS PER-WORKER LIMIT MORE
  printf '%s\nspec:\n  accelerator: {resourceName: nvidia.com/gpu, perWorker: %s}\n  workers:\n    replicas: %s\n    template: {spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: %s}}}]}}\n%s\n' \
    "$header" "$2" "$1" "$3" "${4:-}"
}

printf ',' | refused comma ''
printf 'a: [1, 2' | refused truncated 'line'
printf 'a: &a [*a]' | refused alias 'alias'
{ printf 'a: '; printf '[%.0s' $(seq 200); } | refused deep ''
printf 'a: \xff\xfe' | refused utf8 ''
printf 'a: 1\na: 2\n' | refused twice 'line'
printf '{"a": 1,' | refused json 'line'
spec 0 8 8 | refused replicas 'spec.workers.replicas'
spec 2 8 4 | refused limit 'spec.accelerator.perWorker'
spec 2 8 8 '  parallelism: {tensor: 3}' | refused world 'parallelism'
spec 2 8 8 '  sharding: Full' | refused unknown 'spec.sharding'
spec 2 8 8 '  framework: {type: Torch, mpi: {}}' | refused union 'spec.framework'
{ spec 2 8 8; echo ---; spec 2 8 8; } | refused double 'document 1'
printf '%s\nspec: {}\n' "${header/v1alpha1/v9}" | refused version 'v9'

# Against a cluster: names that it does not know, quantities past 2^63, text without end.
expect_exit 0 "$WEFT" fabric generate --design dgx-h100-superpod
mv "$work/stdout" "$work/cluster.yml"
unknown() { # NAME TEXT-IN-MESSAGE <input
  cat >"$work/$1.yaml"
  expect_exit 2 timeout 100 "$WEFT" plan -o json -f "$work/cluster.yml" -f "$work/$1.yaml"
  expect_empty "$work/stdout"
  expect_text "$work/stderr" "$1.yaml: line "
  expect_text "$work/stderr" "$2"
}
first='document 1: TrainingJob a/x: '
spec 2 8 8 '  topology: {required: rack}' | unknown level "${first}spec.topology.required: unknown level"
spec 2 8 8 '  fabricName: nope' | unknown fabric "${first}spec.fabricName: unknown Fabric"
spec 2 8 8 | sed 's/v1alpha1/v1/' | unknown v1 "${first}apiVersion: weft.dev/v1 is not known"
for bytes in 9223372036854775808 10E; do
  spec 2 8 8 "  model: {type: Measured, measured: [{axis: Data, bytesPerGPU: $bytes}]}" |
    unknown bytes "${first}spec.model.measured[0].bytesPerGPU: \"$bytes\" is past 2^63"
done
head -c 900 "$work/cluster.yml" | unknown cut 'line 43: not YAML'
printf 'b: 1\na: x\0y\n' | unknown nul 'line 2: a NUL byte'
{
  echo 'a0: &a0 [x, x, x, x, x, x, x, x]'
  for i in $(seq 30); do echo "a$i: &a$i [*a$((i - 1)), *a$((i - 1))]"; done
} | unknown bomb 'makes aliases stand for more than 1000000 values'
printf '{"a":%.0s' $(seq 5000) | unknown objects 'line 1: nested deeper than'

# No complete node: the answer is no, and names the label that is missing.
sed '/^    fabric.topograph.run.tier-1:/d' "$work/cluster.yml" >"$work/incomplete.yml"
spec 2 8 8 >"$work/job.yml"
expect_exit 3 "$WEFT" plan -f "$work/incomplete.yml" -f "$work/job.yml"
cat "$work/stdout" "$work/stderr" >"$work/said"
expect_text "$work/said" 'fabric.topograph.run/tier-1'

expect_exit 2 "$WEFT" plan -f "$work/missing.yaml"
expect_text "$work/stderr" 'missing.yaml'
: >"$work/empty.yaml"
expect_exit 2 "$WEFT" plan -f "$work/empty.yaml"
expect_exit 2 "$WEFT" plan
expect_exit 2 "$WEFT" plan --no-such-flag
expect_text "$work/stderr" 'unknown option "--no-such-flag"'
expect_exit 2 "$WEFT" pln
expect_text "$work/stderr" 'unknown command "pln"; did you mean plan?'
expect_exit 2 "$WEFT" plan "$work/cluster.yml"
expect_text "$work/stderr" "-f $work/cluster.yml"
expect_exit 2 "$WEFT" fabric generate --design no-such-design
expect_empty "$work/stdout"

# Jobs without nodes: what to add. No job: said, and no error.
spec 2 8 8 >"$work/alone.yaml"
expect_exit 3 "$WEFT" plan -f "$work/alone.yaml"
expect_text "$work/stderr" 'the manifests hold no Node'
expect_exit 0 "$WEFT" plan -f "$work/cluster.yml"
expect_text "$work/stdout" 'No TrainingJob or Placement waits for nodes.'

# Unknown kinds are ignored with a note, which stands once; no job is an empty List.
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: a}\n' >"$work/config.yaml"
expect_exit 0 "$WEFT" plan -o json -f "$work/config.yaml"
expect_text "$work/stdout" '"items": []'
[ "$(grep -c ConfigMap "$work/stderr")" = 1 ] || fail 'the note of an ignored kind, not once'

# A server that does not answer is named once.
expect_exit 1 "$WEFT" report --prometheus http://127.0.0.1:1/
expect_empty "$work/stdout"
expect_text "$work/stderr" 'weft: http://127.0.0.1:1: no connection'
cat >"$work/other.py" <<'PY'
import http.server
server = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
print(server.server_address[1], flush=True)
server.handle_request()
PY
python3 "$work/other.py" >"$work/port" 2>/dev/null &
until [ -s "$work/port" ]; do sleep 0.05; done
url=http://127.0.0.1:$(cat "$work/port")
expect_exit 1 "$WEFT" report --prometheus "$url/"
expect_text "$work/stderr" "weft: $url: Prometheus answered with status 501"

# Every command helps with examples.
for command in plan explain outlook advise audit lint verify snapshot map 'fabric show' 'fabric generate' 'fabric import'; do
  # shellcheck disable=SC2086
  expect_exit 0 "$WEFT" $command --help
  expect_text "$work/stdout" 'Examples:'
done

# Completion loads and knows the commands.
for shell in bash zsh fish; do
  expect_exit 0 "$WEFT" completion $shell
  expect_text "$work/stdout" 'weft'
done
expect_exit 0 bash -c 'source <("$WEFT" completion bash); COMP_WORDS=("$WEFT" fabric g); COMP_CWORD=2; _weft; echo "${COMPREPLY[@]}"'
expect_text "$work/stdout" 'generate'

passed
