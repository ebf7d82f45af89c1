# The real nodes of a local cluster: each is a set of kernel namespaces in which a stock kubelet,
# containerd and a device plug-in run (node/start.sh). They reach the servers through gateway.py, and
# CoreDNS beside it knows their pods' names. What is theirs is in $dir/nodes, and in a cgroup.
# shellcheck shell=bash

# real_names: of the nodes, by the number that the cluster began with.
real_names() { [ ! -s "$dir/real" ] || seq -f 'real-%g' "$(cut -d ' ' -f 1 "$dir/real")"; }

cgroup_of_nodes() { echo "weft-$(sha256sum <<<"$dir" | cut -c 1-12)"; }

# check_rights: what the kernel and this machine have to allow, before anything starts.
check_rights() {
  local program
  for program in ip nsenter unshare openssl; do
    command -v $program >/dev/null || die "--real needs the program $program"
  done
  unshare --net --mount --pid --ipc --uts --cgroup --fork --mount-proc sh -c '
    ip link add nodes type bridge && ip link add v type veth peer name w &&
    mount -t tmpfs tmpfs /run && mount -t sysfs sysfs /sys' 2>"$dir/logs/rights.log" ||
    { show_log "$dir/logs/rights.log"
      die '--real needs root, with the capabilities SYS_ADMIN and NET_ADMIN'; }
  ! unified || check_controllers
}

check_controllers() {
  [ "$(grep -owE 'cpu|memory|pids' /sys/fs/cgroup/cgroup.controllers | wc -l)" = 3 ] &&
    share_controllers /sys/fs/cgroup 2>"$dir/logs/rights.log" && return
  show_log "$dir/logs/rights.log"
  die '--real needs the controllers cpu, memory and pids for new groups in /sys/fs/cgroup.' \
    'In a container, move its processes into a group below that first.'
}

# unified: one cgroup hierarchy (v2), not one for each controller.
unified() { [ -e /sys/fs/cgroup/cgroup.controllers ]; }

# share_controllers GROUP: groups in it get those of its controllers that kubelets and runc use. What
# is shared already, as by systemd, is not asked for. Nothing is taken back at the end: other groups of
# the machine may use it by then.
share_controllers() {
  local controller
  for controller in $(grep -owE 'cpu|cpuset|io|memory|pids' "$1/cgroup.controllers"); do
    grep -qw "$controller" "$1/cgroup.subtree_control" ||
      echo "+$controller" >"$1/cgroup.subtree_control" || return 1
  done
}

# make_group NODE: the node's in the one hierarchy, empty and with controllers. What an earlier life of
# the node has left there goes: no process may join a group that shares its controllers.
make_group() {
  local top
  top=/sys/fs/cgroup/$(cgroup_of_nodes)
  remove_group "$top/$1" $((SECONDS + stop_seconds)) || die "$1 cannot be started again"
  mkdir -p "$top/$1"
  share_controllers /sys/fs/cgroup
  share_controllers "$top"
}

# What the API server needs to be asked by kubelets and to ask them.
set_real_flags() {
  [ -s "$dir/real" ] || return 0
  local certificates=$dir/certificates
  [ ${#dir} -le 90 ] || die "$dir: too long for the path of a socket"
  local seen
  for seen in "$dir" "$bin" "$node_programs"; do
    # The nodes have folders of their own there (node/start.sh).
    [[ $seen != /@(run|sys|proc|var/lib|var/log)/* ]] ||
      die "real nodes cannot see $seen: set XDG_CACHE_HOME to a folder elsewhere"
  done
  [[ $dir != *[!A-Za-z0-9/._@%+=:-]* ]] ||
    die "$dir: real nodes need a path without blanks and other special characters"
  # By a Unix socket: kube-apiserver 1.36 crashes on a proxy at a TCP address without TLS.
  cat >"$dir/egress.yaml" <<EOF
apiVersion: apiserver.k8s.io/v1beta1
kind: EgressSelectorConfiguration
egressSelections:
- name: cluster
  connection:
    proxyProtocol: HTTPConnect
    transport: {uds: {udsName: $dir/gateway.sock}}
EOF
  real_flags=(--authorization-mode Node --enable-admission-plugins NodeRestriction
    --allow-privileged --kubelet-preferred-address-types InternalIP
    --egress-selector-config-file "$dir/egress.yaml"
    --kubelet-client-certificate "$certificates/admin.crt"
    --kubelet-client-key "$certificates/admin.key")
}

# node_kubeconfig USER FILE: for what runs behind the gateway. The server's certificate does not have
# that address.
node_kubeconfig() {
  write_kubeconfig "$1" "$2"
  sed -i -e 's#^\( *\)server: .*#\1server: https://10.99.0.1:443\n\1tls-server-name: kubernetes#' "$2"
}

start_gateway() {
  start gateway python3 -B "$parts/gateway.py" --api "127.0.0.1:$apiserver_port" \
    --proxy "127.0.0.1:$gateway_port" --socket "$dir/gateway.sock" \
    --nodes "$(cut -d ' ' -f 1 "$dir/real")"
}

gateway_answers() { [ -n "$(exec 3<>"/dev/tcp/127.0.0.1/$gateway_port" && echo open)" ]; }

# in_room COMMAND...: in the network that joins the nodes.
in_room() { nsenter "--net=/proc/$(process_of gateway)/ns/net" "$@"; }

start_coredns() {
  node_kubeconfig coredns "$dir/certificates/coredns.kubeconfig"
  sed "s#@KUBECONFIG@#$dir/certificates/coredns.kubeconfig#" "$parts/node/Corefile" >"$dir/Corefile"
  start coredns nsenter "--net=/proc/$(process_of gateway)/ns/net" \
    "$node_programs/coredns" -conf "$dir/Corefile"
}

# start_real NUMBER: the node, and its cable to the others.
start_real() {
  local number=$1 node=real-$1 folder=$dir/nodes/real-$1 file
  mkdir -p "$folder"
  node_kubeconfig "$node" "$folder/kubeconfig"
  for file in kubelet.yaml containerd.toml; do
    sed "s#@FOLDER@#$dir/nodes#g; s#@CERTIFICATES@#$dir/certificates#g; s#@PROGRAMS@#$node_programs#g" \
      "$parts/node/$file" >"$folder/$file"
  done
  ! unified || make_group "$node"
  start "$node" unshare --net --mount --pid --ipc --uts --fork --mount-proc --kill-child \
    "$parts/node/start.sh" "$node" "$number" "$folder" "$node_programs" "$bin/kubelet" \
    "$(cut -d ' ' -f 2 "$dir/real")" "$(sed -n "${number}p" "$dir/real-labels")" \
    "$(cgroup_of_nodes)"
  local pid
  pid=$(process_of "$node")
  until [ "$(readlink "/proc/$pid/ns/net")" != "$(readlink "/proc/$$/ns/net")" ]; do
    running "$node" || { show_log "$dir/logs/$node.log"; die "$node has ended"; }
    sleep 0.02
  done
  in_room ip link add "node-$number" type veth peer name eth0 netns "$pid"
  in_room ip link set "node-$number" master nodes up
}

# Nodes without the network that joins them are started again.
start_real_nodes() {
  [ -s "$dir/real" ] || return 0
  local begun=$EPOCHREALTIME number=0 node
  running gateway || stop_real_nodes
  mkdir -p "$dir/nodes/registries"
  echo 'nameserver 10.99.0.1' >"$dir/nodes/resolv.conf"
  kubectl apply --server-side -f "$parts/node/coredns-rbac.yaml" >>"$dir/logs/kubectl.log" ||
    die "CoreDNS's role could not be created"
  bring_up gateway gateway_answers || die 'the port of the gateway was taken meanwhile'
  running coredns || start_coredns
  wait_for 'names of CoreDNS' "$dir/logs/coredns.log" \
    in_room bash -c 'exec 3<>/dev/tcp/10.99.0.1/53'
  for node in $(real_names); do
    number=$((number + 1))
    running "$node" || start_real $number
  done
  local ready_seconds=$((ready_seconds + number))
  wait_for 'ready real nodes' "$dir/logs/real-1.log" real_nodes_decided
  for node in $(real_names); do
    running "$node" || { show_log "$dir/logs/$node.log"; die "$node has ended"; }
  done
  say "real nodes ready in $(seconds_since "$begun") s"
}

# All are ready, or one has ended.
real_nodes_decided() {
  local node
  for node in $(real_names); do running "$node" || return 0; done
  real_nodes_settled
}

real_nodes_settled() {
  local gpus each
  gpus=$(cut -d ' ' -f 2 "$dir/real")
  each='{range .items[*]}{.status.conditions[?(@.type=="Ready")].status} '
  each+='{.status.allocatable.nvidia\.com/gpu}{"\n"}{end}'
  [ "$(kubectl get nodes -l weft.test/kubelet=real -o "jsonpath=$each" |
    grep -cxE "True ${gpus/#0/.*}")" = "$(cut -d ' ' -f 1 "$dir/real")" ]
}

# What runs in a node's process namespace goes with its first process, its mounts and interfaces with
# the last. unshare does not end when asked.
stop_real_nodes() {
  local node names
  names=$(real_names)
  for node in $names gateway; do
    ! running "$node" || kill -KILL "$(process_of "$node")" 2>/dev/null || true
  done
  # shellcheck disable=SC2086
  stop coredns gateway $names
  remove_cgroups
}

remove_cgroups() {
  local top deadline=$((SECONDS + stop_seconds))
  for top in /sys/fs/cgroup/{,*/}"$(cgroup_of_nodes)"; do
    remove_group "$top" $deadline || true
  done
}

# remove_group GROUP DEADLINE: with all in it. The kernel lets go of a group a moment after its last
# process.
remove_group() {
  while [ -d "$1" ] && ! find "$1" -depth -type d -exec rmdir {} + 2>/dev/null; do
    [ $SECONDS -lt "$2" ] || { say "the cgroup $1 stays: a process is in it"; return 1; }
    sleep 0.05
  done
}

# in_node NAME COMMAND...: as that node's root, who sees the machine's files but for /run, /var/lib
# and /var/log.
in_node() {
  local node=$1 child
  shift
  child=$(cut -d ' ' -f 1 "/proc/$(process_of "$node")/task/$(process_of "$node")/children")
  PATH=$node_programs:$PATH nsenter -t "$child" -m -n -p -u -i -C -- "$@"
}
