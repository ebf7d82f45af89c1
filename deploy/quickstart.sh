#!/usr/bin/env bash
# From a fresh machine to placements: installs what is missing, builds weft, and places a queue of
# training jobs on two clusters of real size: a part-used DGX H100 SuperPOD of 127 nodes and a row of
# sixteen GB200 NVL72 racks. Prints where every worker goes and what that saves against schedulers
# that know nothing of the traffic. Then runs a day of jobs on the row of racks, in a simulation. Draws
# both fabrics and the day into build/quickstart/*.html.
#
#   deploy/quickstart.sh
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1:-} in
  -h | --help) exec sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' deploy/quickstart.sh ;;
  '') ;;
  *)
    echo "quickstart.sh: unknown argument \"$1\"; it takes none but --help" >&2
    exit 2
    ;;
esac

say() { printf '\n== %s\n' "$*"; }

deploy/dependencies.sh build
say 'Building build/bin/weft'
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DWEFT_TESTS=OFF >/dev/null
ninja -C build weft
weft=build/bin/weft
out=build/quickstart
mkdir -p "$out"

# place NAME DESIGN NODES FRAGMENTED: a cluster, FRAGMENTED percent of its GPUs held by earlier jobs.
place() {
  local name=$1 design=$2 nodes=$3 fragmented=$4
  local cluster=$out/$name.yaml queue=deploy/examples/$name-queue.yaml
  say "$design: $nodes nodes, $fragmented % of the GPUs in use, jobs of $queue"
  "$weft" fabric generate --design "$design" --nodes "$nodes" --fragmented "$fragmented" --seed 1 \
    >"$cluster"
  "$weft" plan --compare -f "$cluster" -f "$queue"
  "$weft" map -o html -f "$cluster" -f "$queue" >"$out/$name.html"
}

place superpod dgx-h100-superpod 127 35
place nvl72 gb200-nvl72 288 30

say 'A day of 400 jobs on the row of racks, simulated: deploy/examples/nvl72-day.csv'
"$weft" simulate -f "$out/nvl72.yaml" --trace deploy/examples/nvl72-day.csv --format weft \
  --policy weft,first-fit,fewest-domains --prices deploy/examples/prices.yaml \
  --report "$out/day.html"

say 'Done'
cat <<EOF
Pictures of both fabrics:  $PWD/$out/superpod.html
                           $PWD/$out/nvl72.html
The day, in charts:        $PWD/$out/day.html
Ask for reasons:           $weft explain -f $out/superpod.yaml -f deploy/examples/superpod-queue.yaml
EOF
