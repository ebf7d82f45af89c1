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
  expect_exit 0 timeout 100 "$WEFT" fabric import "$@"
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
  expect_exit 0 "$WEFT" plan -o json -f "$work/cluster.yaml" -f "$work/job.yaml"
  tr -d ' \n' <"$work/stdout" >"$work/spans"
  expect_text "$work/spans" "{\"level\":\"$level\",\"domains\":1}"
  expect_text "$work/spans" "{\"level\":\"node\",\"domains\":${spread:-2}}"
}

cat >"$work/table.csv" <<'CSV'
host,Row,Rack
a1,w1,r1
a2,w1,r1
b1,w1,r2
b2,w2,r3
CSV
expect_exit 0 "$WEFT" fabric import "$work/table.csv" --levels Rack,Row
expect_text "$work/stderr" 'are the levels in the wrong order?'
places 4 rack 8 "$work/table.csv" --csv --levels Row,Rack --gpus-per-node 8
cat >"$work/topology.conf" <<'CONF'
SwitchName=s1 Nodes=n[01-04]
SwitchName=s2 Nodes=n[05-08]
SwitchName=top Switches=s[1-2]
CONF
places 8 leaf 4 "$work/topology.conf" --gpus-per-node 4
# As Slurm's parser takes it, in two files; a broken line costs itself and is named.
cat >"$work/spelled.conf" <<'CONF'
switchname = top  Switches = "s1 s[2-3]"  # blanks, quotes, any case
Include leaves.conf
SwitchName=s3 Nodes=
SwitchName=s4 Nodes=n[09-
CONF
printf 'Nodes=n[01-04] SwitchName=s1\nSwitchName=s2 \\\n  Nodes=n[05-08]\n' >"$work/leaves.conf"
places 8 leaf 4 "$work/spelled.conf" --gpus-per-node 4
expect_exit 0 "$WEFT" fabric import "$work/spelled.conf"
expect_text "$work/stderr" 'weft: warning: '
expect_text "$work/stderr" 'spelled.conf: line 4: Nodes: unbalanced bracket in "n[09-" (the line is left out)'
expect_exit 2 "$WEFT" fabric import --strict "$work/spelled.conf"
expect_text "$work/stderr" 'unbalanced bracket in "n[09-" (the line is left out)'
expect_text "$work/stderr" '--strict: what the warnings name cannot be read'
[ ! -s "$work/stdout" ] || fail '--strict writes a cluster all the same'
cat >"$work/topology.yaml" <<'YAML'
- topology: tree
  tree:
    switches:
    - {switch: top, children: "s[1-2]"}
    - {switch: s1, nodes: "n[01-04]"}
    - {switch: s2, nodes: "n[05-08]"}
- topology: racks
  block:
    blocks:
    - {block: r1, nodes: "n[01-06]"}
YAML
places 8 leaf 4 "$work/topology.yaml" --topology tree --gpus-per-node 4
places 6 leaf 4 "$work/topology.yaml" --topology racks --gpus-per-node 4
cat >"$work/torus.yaml" <<'YAML'
- topology: cube
  torus3d:
    toruses:
    - {name: pod1, dims: {x: 2, y: 2, z: 2}, nodes: "n[1-8]"}
- topology: rings
  ring:
    rings:
    - {ring: r1, nodes: "n[1-4]"}
    - {ring: r2, nodes: "n[5-8]"}
YAML
places 8 leaf 4 "$work/torus.yaml" --topology cube --gpus-per-node 4 --link torus=ICIv5p
expect_text "$work/cluster.yaml" 'weft.dev/torus-z: "1"'
places 8 leaf 4 "$work/torus.yaml" --topology rings --gpus-per-node 4
expect_exit 2 "$WEFT" fabric import "$work/topology.yaml"
expect_text "$work/stderr" 'choose one with --topology: "tree", "racks"'
expect_exit 2 "$WEFT" fabric import "$work/topology.conf" --topology tree
expect_text "$work/stderr" 'only a Slurm topology.yaml can hold several'

if [ -d "$real" ]; then
  places 122 leaf 4 "$real/topograph/gb200-ndr.ibnetdiscover"
  places 255 leaf 4 "$real/topograph/dual-xclr-irregular.yaml"
  places 96 leaf 4 "$real/topograph/large.yaml"
  places 8 leaf 4 "$real/topograph/medium.yaml"
  places 72 nvlink 4 "$real/topograph/nvl72.yaml"
  places 847 asw 8 "$real/lingjun_topo.csv" --csv --levels DSW,PSW,ASW --gpus-per-node 8
else
  echo "NOT TESTED: real fabrics, for want of $real" >&2
fi

# Two hosts that are linked to each other and to no switch; a report of ports; a list without links.
dump() {
  printf 'vendid=0x2c9\ncaguid=0x%s\nCa\t1 "H-%s"\t\t# "%s mlx5_0"\n' "$1" "$1" "$2"
  printf '[1](%s) \t"H-%s"[1] (%s) \t\t# lid 1 lmc 0 "%s mlx5_0" lid 2 4xNDR\n\n' "$1" "$3" "$3" "$4"
}
{ dump 11 spark-1 12 spark-2; dump 12 spark-2 11 spark-1; } >"$work/pair"
expect_exit 0 "$WEFT" fabric import "$work/pair"
[ "$(grep -c '^kind: Node$' "$work/stdout")" = 2 ] || fail 'not two hosts'
mv "$work/stdout" "$work/pair.yaml"
expect_exit 0 "$WEFT" fabric show -f "$work/pair.yaml"
expect_text "$work/stdout" '2 nodes, 2 GPUs'
for host in 1 2 3 4; do
  echo "SW    10  $host 0x00000000000000a$((host / 3)) 4x NDR - CA    2$host  1" \
    "0x000000000000001$host ( 'leaf-$((host / 3))' - 'n$host mlx5_0' )"
done >"$work/ports"
places 4 leaf 1 "$work/ports"
printf 'Ca\t : 0x11 ports 1 devid 0x1013 vendid 0x2c9 "n1 HCA-1"\n' >"$work/list"
expect_exit 2 "$WEFT" fabric import "$work/list"
expect_text "$work/stderr" 'line 1: a list of devices without links'

# A table that says what each node has, and links from the command line.
cat >"$work/nodes.csv" <<'CSV'
sn,cpu_milli,memory_mib,gpu,model,pod
n1,64000,262144,2,P100,p1
n2,64000,262144,2,P100,p1
n3,96000,393216,8,A100 SXM,p2
CSV
# Both workers fit into the node of the other product.
spread=1 places 3 pod 2 "$work/nodes.csv" --levels pod --gpu-column gpu --product-column model \
  --cpu-column cpu_milli:m --memory-column memory_mib:Mi --link RoCE400 --oversubscription outside=300
expect_text "$work/cluster.yaml" 'nvidia.com/gpu.product: A100-SXM'
expect_text "$work/cluster.yaml" 'oversubscriptionPercent: 300'
expect_exit 0 "$WEFT" fabric show -f "$work/cluster.yaml"
expect_text "$work/stdout" '12 GPUs'
expect_no_text "$work/stderr" 'under 1 GiB'
expect_exit 0 "$WEFT" fabric import "$work/nodes.csv" --levels pod --memory-column memory_mib
expect_text "$work/stderr" 'add it: --memory-column memory_mib:Mi'
expect_exit 2 "$WEFT" fabric import "$work/nodes.csv" --levels pod --link pod=String
expect_text "$work/stderr" '"String" is not a known type of link'

# A geometry of one's own.
expect_exit 0 "$WEFT" fabric generate --racks 15 --nodes-per-rack 10 --racks-per-pod 5 --taper 200,400
mv "$work/stdout" "$work/racks.yaml"
expect_exit 0 "$WEFT" fabric show -f "$work/racks.yaml"
expect_text "$work/stdout" '150 nodes, 1,200 GPUs'

# ... with links by level, rails and scale-up domains; and two of them in one cluster.
for name in east west; do
  expect_exit 0 "$WEFT" fabric generate --racks 2 --nodes-per-rack 4 --scale-up 4 --rails 8 \
    --link leaf=InfiniBandNDR --link RoCE400 --link nvlink=NVLink5 --fabric-name $name
  mv "$work/stdout" "$work/$name.yaml"
done
expect_text "$work/east.yaml" 'weft.dev/rail-7: rack-02-rail-7'
expect_exit 0 "$WEFT" fabric show -f "$work/east.yaml" -f "$work/west.yaml"
[ "$(grep -c '8 nodes, 64 GPUs' "$work/stdout")" = 2 ] || fail 'not two fabrics of 8 nodes'
expect_no_text "$work/stderr" 'in two Fabrics'
expect_exit 2 "$WEFT" fabric generate --racks 2 --nodes-per-rack 4 --scale-up 3
expect_text "$work/stderr" '--scale-up: a domain of 3 nodes is not a rack of 4 nodes'

# What other files are, is said.
printf 'job_id,arrival_s,service_sec,gpu_count\n1,0,10,8\n' >"$work/trace.csv"
expect_exit 2 "$WEFT" fabric import "$work/trace.csv"
expect_text "$work/stderr" 'looks like a trace of jobs'
printf '<system version="1">\n</system>\n' >"$work/topo.xml"
expect_exit 2 "$WEFT" fabric import "$work/topo.xml"
expect_text "$work/stderr" 'an NCCL topology, which describes the inside of one node'

# What is no fabric is refused, at once.
printf 'hello\n' >"$work/no-fabric"
for kind in --ibnetdiscover --topograph --slurm '--csv --levels rack'; do
  # shellcheck disable=SC2086
  expect_exit 2 timeout 100 "$WEFT" fabric import "$work/no-fabric" $kind
  expect_empty "$work/stdout"
  expect_text "$work/stderr" 'no-fabric'
done

passed
