#!/usr/bin/env bash
# Fabrics as sites have them, imported, shown and planned on: small ones written here, and real
# ones where they lie beside the checkout.
source "$(dirname "$0")/lib.sh"
real=$WEFT_SOURCE_DIR/../shared/data/topology

# places NODES LEVEL GPUS ARGUMENT...: the import has that many nodes, is shown, and two workers
# are placed inside one domain of the level.
places() {
  local nodes=$1 level=$2 gpus=$3
  shift 3
  expect_exit 0 timeout 20 "$WEFT" fabric import "$@"
  mv "$work/stdout" "$work/cluster.yaml"
  [ "$(grep -c '^kind: Node$' "$work/cluster.yaml")" = "$nodes" ] || fail "not $nodes nodes: $*"
  expect_exit 0 "$WEFT" fabric import "$@"
  expect_same "$work/stdout" "$work/cluster.yaml"
  expect_exit 0 "$WEFT" fabric show -f "$work/cluster.yaml"
  expect_text "$work/stdout" "$level "
  expect_text "$work/stdout" ' GPUs, '
  cat >"$work/job.yaml" <<JOB
apiVersion: weft.dev/v1alpha1
kind: TrainingJob
metadata: {name: small, namespace: team-a}
spec:
  accelerator: {resourceName: nvidia.com/gpu, perWorker: $gpus}
  workers:
    replicas: 2
    template: {spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: $gpus}}}]}}
  topology: {required: $level}
JOB
  expect_exit 0 "$WEFT" plan -f "$work/cluster.yaml" -f "$work/job.yaml"
  expect_text "$work/stdout" "1 $level"
  expect_text "$work/stdout" '2 node'
}

cat >"$work/table.csv" <<'CSV'
host,Row,Rack
a1,w1,r1
a2,w1,r1
b1,w1,r2
b2,w2,r3
CSV
places 4 rack 8 "$work/table.csv" --csv --levels Row,Rack --gpus-per-node 8
cat >"$work/topology.conf" <<'CONF'
SwitchName=s1 Nodes=n[01-04]
SwitchName=s2 Nodes=n[05-08]
SwitchName=top Switches=s[1-2]
CONF
places 8 leaf 4 "$work/topology.conf" --gpus-per-node 4

if [ -d "$real" ]; then
  places 122 leaf 4 "$real/topograph/gb200-ndr.ibnetdiscover"
  places 255 leaf 8 "$real/topograph/dual-xclr-irregular.yaml"
  places 96 leaf 8 "$real/topograph/large.yaml"
  places 8 leaf 8 "$real/topograph/medium.yaml"
  places 72 nvlink 8 "$real/topograph/nvl72.yaml"
  places 847 asw 8 "$real/lingjun_topo.csv" --csv --levels DSW,PSW,ASW --gpus-per-node 8
else
  echo "NOT TESTED: real fabrics, for want of $real" >&2
fi

# What is no fabric is refused, at once.
printf 'hello\n' >"$work/no-fabric"
for kind in --ibnetdiscover --topograph --slurm '--csv --levels rack'; do
  # shellcheck disable=SC2086
  expect_exit 2 timeout 10 "$WEFT" fabric import "$work/no-fabric" $kind
  expect_empty "$work/stdout"
  expect_text "$work/stderr" 'no-fabric'
done

passed
