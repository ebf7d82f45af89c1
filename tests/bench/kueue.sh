#!/usr/bin/env bash
# The same jobs through the real Kueue with its own topology-aware scheduling, through Kueue with
# Weft's admission check, and through Weft alone: where they run, how long they wait, and what the
# managers need.
#
#   tests/bench/kueue.sh [FLEET [JOBS]]     gb200: 288 nodes of GB200 NVL72; h100: 1,000 nodes; with
#                                           earlier jobs on 30 % of the GPUs. Default: both, 200 jobs
#
# Each contender has a cluster of its own, one after the other, about five minutes each. Needs build/,
# the control plane, and the managers in $WEFT_PEERS (default ../shared/peers). WEFT_CONTENDERS names
# some of the contenders:
#
#   preferred   Kueue, with podset-preferred-topology on every job, as its documentation recommends
#   slices      Kueue, with also the slices that an expert writes for each job's parallelism
#   check       Kueue with Weft's admission check; the jobs say their parallelism
#   rules       the same, and each job also has the rules of slices, in Weft's words
#   weft        Weft without Kueue; the jobs say their parallelism
#
# A contender that starts jobs later has more free nodes to choose from, so read the bytes of its row
# together with the waits.
set -euo pipefail
cd "$(dirname "$0")/../.."
export WEFT=${WEFT:-$PWD/build/bin/weft} WEFT_OPERATOR=${WEFT_OPERATOR:-$PWD/build/bin/weft-operator}
export WEFT_PEERS_PROGRAM=${WEFT_PEERS:-$PWD/../shared/peers}/peers.py
[ -x "$WEFT_PEERS_PROGRAM" ] || { echo "no $WEFT_PEERS_PROGRAM: set WEFT_PEERS" >&2; exit 1; }
jobs=${2:-200}
work=$(mktemp -d)
end() {
  "$WEFT_PEERS_PROGRAM" down --dir "$work/peers" >/dev/null 2>&1 || true
  deploy/local-cluster.sh down --name bench >/dev/null 2>&1 || true
}
trap 'end; rm -rf "$work"' EXIT

fleet() {  # NAME DESIGN NODES
  local contender
  for contender in ${WEFT_CONTENDERS:-preferred slices check rules weft}; do
    eval "$(deploy/local-cluster.sh up --name bench --design "$2" --nodes "$3" --fragmented 30)"
    kubectl create namespace weft-system >/dev/null
    # Without ComputeDomains: NVLink joins the nodes of a rack for whoever runs there.
    kubectl get fabric default -o json | python3 -c 'import json, sys
fabric = json.load(sys.stdin)
if "scaleUp" in fabric["spec"]:
    fabric["spec"]["scaleUp"]["requires"] = "Nothing"
json.dump(fabric, sys.stdout)' | kubectl replace -f - >/dev/null
    WEFT_PEERS_WORK=$work/peers tests/bench/kueue.py "$contender" "$1" "$jobs" "$work"
    end
  done
  tests/bench/kueue.py table "$1" "$jobs" "$work"
}

case ${1:-both} in
  gb200 | both) fleet gb200 gb200-nvl72 288 ;;&
  h100 | both) fleet h100 dgx-h100-superpod 1000 ;;
  gb200) ;;
  *) sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
