#!/usr/bin/env bash
# A Kubernetes cluster on this machine's loopback: the real API server, scheduler and controllers on
# etcd, and nodes that kwok simulates, labelled as a GPU fabric. Weft's kinds are installed.
# RBAC is on, every client has its certificate, and servers listen on unused ports. No Docker, no root.
# With --real it has real nodes too, which run containers: stock kubelets and containerd.
#
#   deploy/local-cluster.sh up [--nodes N] [--real N] [--gpus N] [--design D] [--fragmented P]
#                              [--seed S] [--name NAME] [--kubernetes V]
#   deploy/local-cluster.sh down [--name NAME]       stops all of it and removes its folder
#   deploy/local-cluster.sh status [--name NAME]     exit code 1 if a server does not run
#   deploy/local-cluster.sh load [--name NAME] FILE...         images (OCI archives) into all real nodes
#   deploy/local-cluster.sh exec [--name NAME] NODE COMMAND... as root of a real node
#
#   eval "$(deploy/local-cluster.sh up)"             sets KUBECONFIG, puts kubectl and helm in PATH
#   kubectl get nodes -L fabric.topograph.run/tier-0
#
# The first up builds the servers (tests/controlplane/build.sh, a quarter of an hour on two cores);
# later ones take seconds. On a cluster that is up already, it restarts servers that have ended and
# adds missing nodes.
#
#   --nodes N        number of simulated nodes; default 32 in a new cluster, 0 with --real; without
#                    any node there is no Fabric
#   --real N         number of real nodes, real-1 to real-N; at most 200
#   --gpus N         GPUs of each real node, which are not there; default 8
#   --design D       a design of `weft fabric generate --list`; default dgx-h100-superpod
#   --fragmented P   percentage of all GPUs that pods of earlier jobs hold; default 0
#   --seed S         random seed for the earlier jobs; default 1
#   --name NAME      name of the cluster, to run several; default local
#   --kubernetes V   1.34, 1.35, 1.36, 1.37 or a release such as v1.36.1; default 1.36. A cluster
#                    keeps the release that it began with
#
# Simulated pods run for ever, except those of a Job, which succeed at once. Annotations of the pod
# change this, also on a running pod (kubectl annotate):
#   weft.test/start-seconds: "5"    becomes Ready 5 seconds after it was bound
#   weft.test/run-seconds: "30"     succeeds 30 seconds after its start
#   weft.test/exit-code: "1"        fails instead of succeeding; without run-seconds at once
#   weft.test/stop-seconds: "10"    takes 10 seconds to end when it is deleted
# A node with the annotation weft.test/ready: "false" reports NotReady; a node with the label
# weft.test/lost reports nothing, as if its machine were gone. Nodes that you create are simulated
# too, if they have at least one label. kube-scheduler binds no pod with schedulerName quiet-nodes to a
# node with the label weft.test/noisy.
#
# Real nodes need root (the capabilities SYS_ADMIN and NET_ADMIN). Each has a kubelet, containerd, runc
# and a device plug-in in kernel namespaces of its own, about 150 MB of memory, and the labels of a
# simulated node of the same design, but for the number of GPUs, which is that of --gpus. Programs and
# images come from Go modules, built once (tests/nodes/build.sh, three minutes). There is no registry:
# load an image, give it a tag other than latest, and leave imagePullPolicy at IfNotPresent. Pods reach
# each other, the cluster's DNS and the API server (the Service kubernetes), and nothing else; other
# ClusterIPs have nobody behind them.
# Files in the cluster's folder, below nodes/real-1/:
#   kubelet.log, containerd.log, device-plugin.log
#   unhealthy               numbers of GPUs, such as "0 3", that the device plug-in calls unhealthy
#   stopped/kubelet         while it exists, an ended kubelet is not started again; also containerd
#                           and device-plugin. Each is started again half a second after its end
#
# WEFT               the weft program; default build/bin/weft
# WEFT_CLUSTER_DIR   folder with one folder for each cluster; default cluster/ in the cache
# WEFT_AUDIT_POLICY  audit policy of the API server, which writes logs/audit.log there; default: none
# WEFT_API_SERVER_FLAGS  more flags for the API server, separated by spaces
# WEFT_CONTROLLER_FLAGS, WEFT_SCHEDULER_FLAGS  more for kube-controller-manager, for kube-scheduler,
#                    which has a configuration file and ignores flags for what the file can set
# WEFT_READY_SECONDS how long to wait for each server, and for real nodes; default 60
# WEFT_CACHE, WEFT_KUBERNETES, KUBEBUILDER_ASSETS: see tests/controlplane/build.sh --help
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
parts=$root/deploy/local-cluster
# shellcheck source=deploy/local-cluster/processes.sh
source "$parts/processes.sh"
# shellcheck source=deploy/local-cluster/certificates.sh
source "$parts/certificates.sh"
# shellcheck source=deploy/local-cluster/servers.sh
source "$parts/servers.sh"
# shellcheck source=deploy/local-cluster/real_nodes.sh
source "$parts/real_nodes.sh"

say() { echo "local-cluster: $*" >&2; }
die() { say "$*"; exit 1; }
usage() { sed -n '2,/^set/s/^# \{0,1\}//p' "$root/deploy/local-cluster.sh"; }
bad_usage() { say "$* (see --help)"; exit 2; }

# Sets command, name, the options of up, and the rest of the words.
read_arguments() {
  command=${1:-}
  [ $# = 0 ] || shift
  name=local nodes='' real=0 gpus=8 design=dgx-h100-superpod fragmented=0 seed=1
  kubernetes=''
  while [ $# -gt 0 ]; do
    [[ $1 == --* ]] || break
    [ $# -ge 2 ] || bad_usage "what is '$1'?"
    case $1 in
      --name) name=$2 ;;
      --nodes) nodes=$2 ;;
      --real) real=$2 ;;
      --gpus) gpus=$2 ;;
      --design) design=$2 ;;
      --fragmented) fragmented=$2 ;;
      --seed) seed=$2 ;;
      --kubernetes) kubernetes=$2 ;;
      *) bad_usage "what is '$1'?" ;;
    esac
    shift 2
  done
  words=("$@")
  [[ $name =~ ^[a-z0-9][-a-z0-9]{0,39}$ ]] || bad_usage '--name: small letters, digits and hyphens'
  [[ ${nodes:-0}$real$gpus$fragmented$seed =~ ^[0-9]+$ ]] ||
    bad_usage '--nodes, --real, --gpus, --fragmented, --seed: numbers'
  [ "$real" -le 200 ] || bad_usage '--real: at most 200'
  case $command in
    load) [ ${#words[@]} -ge 1 ] || bad_usage 'load: which files?' ;;
    exec) [ ${#words[@]} -ge 2 ] || bad_usage 'exec: which node, which command?' ;;
    *) [ ${#words[@]} = 0 ] || bad_usage "what is '${words[0]}'?" ;;
  esac
}

# One command at a time on one cluster. The lock is the folder itself, so that nothing stays.
lock() {
  exec 9<"$dir"
  flock -n 9 || { say "another command is at work on $name: waiting"; flock 9; }
  [ -d "$dir" ] || die "$name was taken down meanwhile"
}

take_down() {
  stop_all
  rm -rf "$dir"
  rmdir --ignore-fail-on-non-empty "$clusters"
}

apply_definitions() {
  local begun=$EPOCHREALTIME
  kubectl apply --server-side -f "$root/crds" >>"$dir/logs/kubectl.log"
  # kubectl fails, rather than waits, on one that has no conditions yet.
  wait_for 'established definitions' "$dir/logs/kubectl.log" \
    kubectl wait --for=condition=Established --timeout="${ready_seconds}s" -f "$root/crds"
  say "definitions of weft.dev established in $(seconds_since "$begun") s"
}

# Before anything starts: what weft refuses, it refuses at once. Real nodes have the labels of the last
# nodes of the design.
generate_nodes() {
  local weft=${WEFT:-$root/build/bin/weft}
  [ $((nodes + real)) -gt 0 ] || return 0
  [ -x "$weft" ] || die "$weft is not there: build the target weft, or set WEFT, or use --nodes 0"
  "$weft" fabric generate --design "$design" --nodes $((nodes + real)) --fragmented "$fragmented" \
    --seed "$seed" >"$dir/nodes.yaml"
  [ "$real" -gt 0 ] || return 0
  python3 -B "$parts/real_labels.py" --nodes "$dir/nodes.yaml" --real "$real" \
    --gpus "$gpus" --output "$dir/real-labels"
  echo "$real $gpus" >"$dir/real"
}

add_nodes() {
  [ $((nodes + real)) -gt 0 ] || return 0
  local begun=$EPOCHREALTIME loaded
  local ready_seconds=$((ready_seconds + nodes / 25))
  loaded=$(python3 "$parts/load.py" <"$dir/nodes.yaml") || die 'nodes could not be created'
  say "$loaded in $(seconds_since "$begun") s"
  begun=$EPOCHREALTIME
  wait_for 'ready nodes' "$dir/logs/kwok.log" nodes_settled
  say "nodes ready in $(seconds_since "$begun") s"
}

# What a user made unready or lost is not waited for. The controllers take off the taint that every
# new node gets.
nodes_settled() {
  local each='{range .items[*]}{.metadata.annotations.weft\.test/ready}'
  each+='|{.metadata.labels.weft\.test/lost}'
  each+='|{.status.conditions[?(@.type=="Ready")].status}|{.status.nodeInfo.kubeletVersion}'
  each+='|{.spec.taints[*].key}{"\n"}{end}'
  kubectl get nodes -o "jsonpath=$each" |
    awk -F'|' '$1 != "false" && !$2 && ($3 != "True" || !$4 || $5 ~ /not-ready/) {exit 1}'
}

# The work is done by a shell in a process group of its own; this one waits for it, and for signals.
# Bash misreads a trap's text when a signal comes while it reads a $(...) (seen with 5.2.15: "trap:
# unexpected EOF while looking for matching `)'", exit code 2), and here it reads none.
up() {
  (umask 077 && mkdir -p "$dir/logs" "$dir/pids")
  lock
  local worker='' code=0 signal=0
  trap 'signal=129; stop_worker' HUP
  trap 'signal=130; stop_worker' INT
  trap 'signal=143; stop_worker' TERM
  set -m
  (bring_all_up) </dev/null 8<"$dir/pids" &
  worker=$!
  set +m
  [ $signal = 0 ] || stop_worker
  wait $worker || code=$?
  trap '' HUP INT TERM
  [ $signal = 0 ] || code=$signal
  [ $code = 0 ] || clean_up
  exit "$code"
}

stop_worker() { [ -z "$worker" ] || kill -TERM -- -"$worker" 2>/dev/null || true; }

# What a failed or interrupted `up` of a new cluster leaves: nothing. One that was up stays. Whoever
# of the group still ends holds pids/.
clean_up() {
  flock -w "$stop_seconds" "$dir/pids" true || true
  [ ! -e "$dir/complete" ] || return 0
  say "up failed: taking $name down"
  take_down
}

bring_all_up() {
  local begun=$EPOCHREALTIME
  flock 8
  fresh=no
  [ -e "$dir/complete" ] || fresh=yes
  # The rest of an `up` that was killed.
  if [ $fresh = yes ]; then
    stop_all
    rm -rf "${dir:?}"/{etcd,ports,certificates,bin,real,real-labels,nodes,nodes.yaml}
  fi
  settle_nodes
  generate_nodes
  choose_programs
  [ -e "$dir/certificates" ] || make_certificates
  export KUBECONFIG=$dir/kubeconfig
  set_real_flags
  start_servers
  [ $fresh = no ] || apply_definitions
  start_real_nodes
  add_nodes
  touch "$dir/complete"
  say "$name is up after $(seconds_since "$begun") s: Kubernetes $(server_version)"
  echo "export KUBECONFIG=$KUBECONFIG"
  echo "export PATH=$bin:\$PATH"
}

# The nodes of a cluster that is there are as somebody wanted them; its real ones are those that it
# began with.
settle_nodes() {
  if [ $fresh = yes ]; then
    [ "$real" = 0 ] && nodes=${nodes:-32} || nodes=${nodes:-0}
    [ "$real" = 0 ] || check_rights
    return
  fi
  nodes=${nodes:-0}
  [ "$real" = 0 ] || [ "$real $gpus" = "$(cat "$dir/real" 2>/dev/null)" ] ||
    die "$name has other real nodes: take it down first, or use another --name"
  real=0
}

# A cluster keeps the release that it began with.
choose_programs() {
  local builder=("$root/tests/controlplane/build.sh") wanted
  [ -z "$kubernetes" ] || builder+=(--kubernetes "$kubernetes")
  wanted=$("${builder[@]}" --where)
  if [ -e "$dir/bin" ] && [ -n "$kubernetes" ]; then
    bin=$(cat "$dir/bin")
    [ "$(release_of "$bin")" = "$(release_of "$wanted")" ] ||
      die "$name has Kubernetes $(release_of "$bin"): take it down first, or use another --name"
  fi
  if [ ! -e "$dir/bin" ] || [ ! -x "$(cat "$dir/bin")/kwok" ]; then
    bin=$("${builder[@]}" | tail -n 1)
    echo "$bin" >"$dir/bin"
  fi
  bin=$(cat "$dir/bin")
  PATH=$bin:$PATH
  [ -s "$dir/real" ] || return 0
  [ -x "$bin/kubelet" ] || "${builder[@]}" kubelet >/dev/null
  node_programs=$("$root/tests/nodes/build.sh" | tail -n 1)
}

# release_of FOLDER: of build.sh, which is named RELEASE-HASH/bin.
release_of() { basename "${1%-*}"; }

down() {
  [ -d "$dir" ] || { say "$name is not up"; return; }
  lock
  take_down
  say "$name is down"
}

server_version() {
  kubectl version -o json | sed -n 's/.*"gitVersion": "\(.*\)".*/\1/p' | tail -n 1
}

status() {
  [ -d "$dir" ] || { say "$name is not up"; return 1; }
  bin=$(cat "$dir/bin")
  PATH=$bin:$PATH
  export KUBECONFIG=$dir/kubeconfig
  local server state code=0
  printf '%-24s %-8s %s\n' COMPONENT PROCESS STATE
  [ ! -s "$dir/real" ] || mapfile -t -O ${#servers[@]} servers < <(echo gateway; echo coredns; real_names)
  for server in "${servers[@]}"; do
    state=runs
    running "$server" || { state='DEAD'; code=1; }
    printf '%-24s %-8s %s\n' "$server" "$(process_of "$server")" "$state"
  done
  if kubectl get --raw /readyz --request-timeout=5s >/dev/null 2>&1; then
    printf '\nKubernetes  %s\nNodes       %s\n' "$(server_version)" "$(ready_nodes)"
  else
    printf '\nThe API server does not answer\n'
    code=1
  fi
  printf 'Folder      %s\nKUBECONFIG  %s\nPrograms    %s\n' "$dir" "$KUBECONFIG" "$bin"
  [ $code = 0 ] || say 'start what has died with: deploy/local-cluster.sh up'
  return $code
}

ready_nodes() {
  local each='{range .items[*]}{.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}'
  kubectl get nodes -o "jsonpath=$each" |
    awk 'NF {all++} $1 == "True" {ready++} END {printf "%d ready of %d\n", ready, all}'
}

# What acts on the real nodes of a cluster that is up.
need_real_nodes() {
  [ -s "$dir/real" ] || die "$name has no real nodes: deploy/local-cluster.sh up --real 4"
  node_programs=$("$root/tests/nodes/build.sh" --where)
}

load() {
  need_real_nodes
  local file node pids=() pid
  for file in "${words[@]}"; do
    [ -r "$file" ] || die "$file cannot be read"
    pids=()
    for node in $(real_names); do
      in_node "$node" ctr -n k8s.io images import - <"$file" >>"$dir/nodes/$node/images.log" 2>&1 &
      pids+=($!)
    done
    for pid in "${pids[@]}"; do wait "$pid" || die "$file was not loaded: $dir/nodes/*/images.log"; done
    say "$file is in $(real_names | wc -l) nodes"
  done
}

exec_in_node() {
  need_real_nodes
  running "${words[0]}" || die "no real node ${words[0]} runs: $(real_names | tr '\n' ' ')"
  in_node "${words[@]}"
}

case ${1:-} in
  -h | --help) usage; exit 0 ;;
  up | down | status | load | exec) ;;
  '') usage >&2; exit 2 ;;
  *) bad_usage "what is '$1'?" ;;
esac
read_arguments "$@"
clusters=${WEFT_CLUSTER_DIR:-${WEFT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/weft}/cluster}
clusters=$(realpath -m "$clusters")
dir=$clusters/$name
[ "$command" != exec ] || command=exec_in_node
"$command"
