#!/usr/bin/env bash
# What `deploy/local-cluster.sh up --real` makes, `down` removes: processes, mounts, interfaces,
# cgroups, ports and settings of the machine are then as they were. Also after an `up` that was
# killed in the middle, and with two clusters side by side.
# Wants every core: other tests make mounts and interfaces too.
set -euo pipefail
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
local_cluster=${WEFT_SOURCE_DIR:-$here/../..}/deploy/local-cluster.sh
export WEFT_CLUSTER_DIR=$work/clusters
names='one two'
trap 'for name in $names; do "$local_cluster" down --name $name; done >/dev/null 2>&1
  rm -rf "$work"' EXIT

needs_rights_for_real_nodes

# Those that any program of the clusters started has their folder in its environment, or is in their
# cgroup.
processes() {
  local one environment
  for one in /proc/[0-9]*; do
    environment=$(tr '\0' '\n' <"$one/environ") 2>/dev/null || continue
    case ${one#/proc/} in "$$" | "$BASHPID") continue ;; esac
    if grep -qxF "WEFT_CLUSTER_DIR=$WEFT_CLUSTER_DIR" <<<"$environment" ||
      grep -qE "${cgroups// /|}" "$one/cgroup" 2>/dev/null; then
      # This script's own shells go with it.
      [ "$(ps -o sid= -p "${one#/proc/}" | tr -d ' ')" = "$session" ] || echo "process $(
        tr '\0' ' ' <"$one/cmdline" | cut -c 1-80)"
    fi
  done 2>/dev/null
}

# The groups' names, as deploy/local-cluster/real_nodes.sh makes them.
cgroups=$(for name in $names; do
  echo "weft-$(sha256sum <<<"$(realpath -m "$WEFT_CLUSTER_DIR")/$name" | cut -c 1-12)"
done | xargs)
session=$(ps -o sid= -p $$ | tr -d ' ')

snapshot() {
  processes
  sed 's/^/mount /' /proc/self/mounts
  ip -o link | sed 's/^[0-9]*: \([^:@]*\).*/interface \1/'
  ip -o address | awk '{print "address", $2, $4}'
  ip route | sed 's/^/route /'
  find /sys/fs/cgroup -maxdepth 2 -name 'weft-*' | grep -E "${cgroups// /|}" |
    sed 's/^/cgroup /' || true
  sed 's/^/socket /' /proc/net/unix | grep -F "$work" || true
  ss -ltnH | awk '{print $4}' | sed 's/.*://' | grep -xFf <(echo none; sort -u "$work/ports") |
    sed 's/^/port /' || true
  grep -H . /proc/sys/vm/overcommit_memory /proc/sys/kernel/{panic,panic_on_oops,hostname} \
    /proc/sys/net/ipv4/ip_forward
  ls -d /run/containerd /var/lib/{kubelet,containerd,cni} /var/log/{pods,containers} /etc/cni 2>&1 |
    sed 's/^ls: cannot access//' || true
  ls -A "$WEFT_CLUSTER_DIR" 2>/dev/null | sed 's/^/folder /' || true
}

# Ports that the clusters use now, whoever uses them later.
note_ports() {
  grep -hoE '\b[0-9]{4,5}\b' "$WEFT_CLUSTER_DIR"/*/ports >>"$work/ports" || true
}

nothing_is_left() {
  snapshot | sort >"$work/after"
  diff "$work/before" "$work/after" >"$work/stdout" || fail "left after $1"
  checks=$((checks + 1))
}

up() { "$local_cluster" up --name "$1" --real 2 --gpus 2 "${@:2}"; }

# until_there FILE: or until the process of `up` has ended.
until_there() {
  until [ -e "$1" ] || [ ! -e "/proc/$2" ]; do sleep 0.1; done
}

: >"$work/ports"
snapshot | sort >"$work/before"

# Beside simulated nodes, with a pod on each kind. The one on a real node has mounts, interfaces and
# cgroups of its own.
expect_exit 0 up one --nodes 50
eval "$(<"$work/stdout")"
note_ports
expect_exit 0 "$local_cluster" status --name one
expect_text "$work/stdout" '52 ready of 52'
kubectl create -f - >/dev/null <<'PODS'
apiVersion: v1
kind: Pod
metadata: {name: one, namespace: kube-system}
spec:
  nodeSelector: {weft.test/kubelet: real}
  containers: [{name: one, image: "weft.test/pause:1", imagePullPolicy: IfNotPresent,
                resources: {limits: {nvidia.com/gpu: 1}}}]
---
apiVersion: v1
kind: Pod
metadata: {name: simulated, namespace: kube-system}
spec:
  containers: [{name: one, image: none, resources: {limits: {nvidia.com/gpu: 8}}}]
PODS
for pod in one simulated; do
  expect_exit 0 kubectl wait --for=condition=Ready "pod/$pod" -n kube-system --timeout=60s
done
snapshot | sort >"$work/during"
for kind in process cgroup port folder; do
  comm -13 "$work/before" "$work/during" | grep -q "^$kind " || fail "a $kind would not be noticed"
  checks=$((checks + 1))
done
expect_exit 0 "$local_cluster" down --name one
unset KUBECONFIG
nothing_is_left 'up and down'

# Asked to end, `up` takes down what it has begun. Killed, it cannot, and `down` does.
for signal in TERM KILL; do
  setsid "$local_cluster" up --name one --real 2 --gpus 2 >"$work/stdout" 2>"$work/stderr" &
  process=$!
  until_there "$WEFT_CLUSTER_DIR/one/nodes/real-1/kubelet.log" $process
  note_ports
  [ ! -e "$WEFT_CLUSTER_DIR/one/complete" ] || fail 'up was too fast to be interrupted'
  if [ $signal = KILL ]; then
    # The shell that waits, and the one that works.
    # shellcheck disable=SC2046
    kill -KILL $process $(cat /proc/$process/task/$process/children)
  else
    kill -TERM $process
  fi
  wait $process || true
  [ $signal = TERM ] || expect_exit 0 "$local_cluster" down --name one
  nothing_is_left "an up that got SIG$signal"
done

# Side by side: the end of one is nothing to the other.
up one >"$work/one" 2>&1 &
first=$!
expect_exit 0 up two
wait $first || { cp "$work/one" "$work/stdout"; fail 'up beside another one'; }
note_ports
expect_exit 0 "$local_cluster" down --name one
expect_exit 0 "$local_cluster" status --name two
expect_text "$work/stdout" '2 ready of 2'
expect_exit 0 "$local_cluster" down --name two
nothing_is_left 'two clusters side by side'
passed
