#!/usr/bin/env bash
# Runs a command on a kernel of its own whose cgroups are of version 2, for machines that have
# version 1: Debian's User-Mode Linux, an ordinary program. The command sees this machine's files
# and may write them; /tmp, /run and /mnt are empty folders in memory. No network but its own
# loopback, one core, several times as slow as the machine.
#
#   tests/ground/cgroup2.sh COMMAND...
#   tests/ground/cgroup2.sh tests/e2e/ground.sh       with WEFT_GROUND and the like in the environment
#
# Exit code: the command's. Needs root and Debian's packages user-mode-linux and kmod.
#
# WEFT_CGROUP2_MEMORY  the kernel's memory; default 6G, in a file that goes with it
set -euo pipefail

if [ $$ = 1 ]; then  # inside
  export HOME=/root PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin
  mount -t proc proc /proc
  mount -t sysfs sys /sys
  for folder in /tmp /run /mnt; do mount -t tmpfs tmpfs $folder; done
  for link in fd: stdin:/0 stdout:/1 stderr:/2; do
    ln -sfn "/proc/self/fd${link#*:}" "/dev/${link%%:*}"
  done
  mkdir -p /dev/shm /dev/pts /dev/mqueue
  mount -t tmpfs tmpfs /dev/shm
  mount -t devpts devpts /dev/pts
  mount -t mqueue mqueue /dev/mqueue
  mount -t cgroup2 cgroup2 /sys/fs/cgroup
  ip link set lo up
  mkdir -p /run/modules/lib
  ln -s /usr/lib/uml/modules /run/modules/lib/modules
  for module in overlay veth bridge br_netfilter; do modprobe -d /run/modules $module; done
  status=0
  bash "$cgroup2_folder/command.sh" || status=$?
  echo $status >"$cgroup2_folder/status"
  sync
  halt -f
  exit
fi

[ $# -gt 0 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
for program in linux.uml modprobe; do
  command -v $program >/dev/null ||
    { echo "cgroup2.sh: no $program: install user-mode-linux and kmod" >&2; exit 1; }
done
folder=$(mktemp -d "${XDG_CACHE_HOME:-$HOME/.cache}/weft-cgroup2.XXXXXX")
trap 'rm -rf "$folder"' EXIT
{
  export -p
  printf 'cd %q\n' "$PWD"
  echo 'export TMPDIR=/tmp'
  printf '%q ' "$@"
} >"$folder/command.sh"
# It reads the terminal's settings, so its standard input is not ours.
TMPDIR=$folder linux.uml "mem=${WEFT_CGROUP2_MEMORY:-6G}" root=/dev/root rootfstype=hostfs \
  rootflags=/ rw quiet "init=$(realpath "$0")" "cgroup2_folder=$folder" con=null con0=null,fd:1 \
  </dev/null
[ -s "$folder/status" ] || { echo 'cgroup2.sh: the kernel ended before the command' >&2; exit 1; }
exit "$(<"$folder/status")"
