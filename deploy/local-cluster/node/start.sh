#!/usr/bin/env bash
# The first process of a real node, in namespaces of its own (deploy/local-cluster/real_nodes.sh):
# gives the node its cgroups, folders and network, then runs containerd, the kubelet and the device
# plug-in, and starts what has ended again.
#
#   start.sh NAME NUMBER FOLDER PROGRAMS KUBELET GPUS LABELS CGROUP
set -euo pipefail
name=$1 number=$2 folder=$3 programs=$4 kubelet=$5 gpus=$6 labels=$7 cgroup=$8
all=("$@")
# Those that the kubelet needs. A machine has them in hierarchies of their own (cgroup v1) or in one.
controllers='cpu cpuacct cpuset memory devices freezer blkio pids'
unified() { [ "$(stat -f -c %T /sys/fs/cgroup)" = cgroup2fs ]; }

# join_hierarchies: a group for the node in each. It becomes the root that the node sees.
join_hierarchies() {
  local controller group part
  for controller in $controllers systemd; do
    [ -d /sys/fs/cgroup/$controller ] || continue
    for group in "/sys/fs/cgroup/$controller/$cgroup" "/sys/fs/cgroup/$controller/$cgroup/$name"; do
      mkdir -p "$group"
      [ $controller != cpuset ] || for part in cpus mems; do
        cat "${group%/*}/cpuset.$part" >"$group/cpuset.$part"
      done
    done
    echo $$ >"$group/cgroup.procs"
  done
}

# Some machines have two controllers in one hierarchy: cpu,cpuacct.
mount_hierarchies() {
  local of_hierarchy controller
  mount -t tmpfs -o mode=755 tmpfs /sys/fs/cgroup
  while IFS=: read -r _ of_hierarchy _; do
    grep -qwE "${controllers// /|}" <<<"$of_hierarchy" || continue
    mkdir "/sys/fs/cgroup/$of_hierarchy"
    mount -t cgroup -o "$of_hierarchy" cgroup "/sys/fs/cgroup/$of_hierarchy"
    for controller in ${of_hierarchy//,/ }; do
      [ -e "/sys/fs/cgroup/$controller" ] || ln -s "$of_hierarchy" "/sys/fs/cgroup/$controller"
    done
  done </proc/self/cgroup
  mkdir /sys/fs/cgroup/systemd
  mount -t cgroup -o none,name=systemd systemd /sys/fs/cgroup/systemd
}

# With one hierarchy (cgroup v2) the group is there, empty (make_group in real_nodes.sh).
join_unified() { echo $$ >"/sys/fs/cgroup/$cgroup/$name/cgroup.procs"; }

# A group that gives its controllers to groups in it has no processes: the node's own go into a group
# beside that of the pods. This shell is the only one. The kernel may need a moment to let go of a
# program that it has run.
mount_unified() {
  local controllers tries=0
  mount -t cgroup2 cgroup2 /sys/fs/cgroup
  mkdir /sys/fs/cgroup/init
  echo $$ >/sys/fs/cgroup/init/cgroup.procs
  read -r controllers </sys/fs/cgroup/cgroup.controllers
  until echo "+${controllers// / +}" >/sys/fs/cgroup/cgroup.subtree_control; do
    [ $((tries += 1)) -lt 100 ] || exit 1
    sleep 0.05
  done
}

if [ "${9:-}" != inside ]; then
  if unified; then join_unified; else join_hierarchies; fi
  exec unshare --cgroup "$0" "${all[@]}" inside
fi

mount --make-rprivate /
hostname "$name"
unified && mount_groups=mount_unified || mount_groups=mount_hierarchies
umount -R /sys/fs/cgroup
mount -t sysfs sysfs /sys
$mount_groups

# Folders of the node's own at the places that programs have fixed: two kubelets want the same.
mkdir -p "$folder"/{lib,log}
mount --bind "$folder/lib" /var/lib
mount --bind "$folder/log" /var/log
mount -t tmpfs -o mode=755 tmpfs /run
# The machine's own servers for names cannot be reached from here: containerd would wait for them.
names=$(readlink -m /etc/resolv.conf)
[[ $names != /run/* ]] || { mkdir -p "${names%/*}" && : >"$names"; }
[ ! -e "$names" ] || mount --bind "$folder/../resolv.conf" "$names"
mkdir -p /var/lib/{kubelet/device-plugins,containerd,cni} /var/log/pods
# The mounts of pods' volumes have to be seen by containerd.
mount --bind /var/lib/kubelet /var/lib/kubelet
mount --make-rshared /

# The kubelet sets these for the whole machine where they have other values. It finds them set.
for setting in vm/overcommit_memory=1 kernel/panic=10 kernel/panic_on_oops=1; do
  file=$folder/settings/${setting%=*}
  mkdir -p "${file%/*}"
  echo "${setting#*=}" >"$file"
  mount --bind "$file" "/proc/sys/${setting%=*}"
done

# The kubelet ends where the kernel tells no clock speed, as User-Mode Linux does not.
if grep -q 'User Mode Linux' /proc/cpuinfo; then
  { cat /proc/cpuinfo; echo 'cpu MHz : 1000.000'; } >"$folder/settings/cpuinfo"
  mount --bind "$folder/settings/cpuinfo" /proc/cpuinfo
fi

# real_nodes.sh puts eth0 here. Each other node is the way to its pods.
ip link set lo up
until ip link set eth0 up 2>/dev/null; do sleep 0.05; done
ip address add "10.99.0.$((10 + number))/24" dev eth0
ip route add default via 10.99.0.1
echo 1 >/proc/sys/net/ipv4/ip_forward
cat >/var/lib/cni/10-pods.conflist <<CNI
{"cniVersion": "1.0.0", "name": "pods", "plugins": [
  {"type": "bridge", "bridge": "pods", "isGateway": true, "hairpinMode": true,
   "ipam": {"type": "host-local", "ranges": [[{"subnet": "10.244.$number.0/24"}]],
            "routes": [{"dst": "0.0.0.0/0"}]}},
  {"type": "loopback"}]}
CNI

export PATH=$programs:$PATH
plugins=/var/lib/kubelet/device-plugins

# keep NAME COMMAND...: runs it, and again when it has ended, but not while FOLDER/stopped/NAME exists.
keep() {
  local program=$1
  shift
  while :; do
    if [ ! -e "$folder/stopped/$program" ]; then
      "$@" >>"$folder/$program.log" 2>&1 || true
    fi
    sleep 0.5
  done
}

# A kubelet that starts removes all sockets of plug-ins, and makes its own afterwards.
run_device_plugin() {
  until [ -S $plugins/kubelet.sock ]; do sleep 0.1; done
  device-plugin --count "$gpus" --unhealthy "$folder/unhealthy"
}

mkdir -p "$folder/stopped"
# Of a kubelet that went with all of its node.
rm -f $plugins/*.sock
keep containerd containerd --config "$folder/containerd.toml" &
until ctr version >/dev/null 2>&1; do sleep 0.1; done
# The node's disk keeps it, and every image that is loaded later.
ctr -n k8s.io images import "${programs%/bin}/pause.tar" >>"$folder/images.log" 2>&1
keep kubelet "$kubelet" --config "$folder/kubelet.yaml" --kubeconfig "$folder/kubeconfig" \
  --hostname-override "$name" --node-ip "10.99.0.$((10 + number))" --node-labels "$labels" --v=2 &
[ "$gpus" = 0 ] || keep device-plugin run_device_plugin &
# Collects the processes whose parents have ended.
while :; do wait -n || true; sleep 0.5; done
