#!/usr/bin/env bash
# Makes a container image of packages of this Debian and all that they depend on, without a container
# engine and without installing anything: the packages are unpacked, their scripts do not run. Prints
# the archive, which `deploy/local-cluster.sh load` reads. Made once; the cache keeps it.
#
#   tests/ground/image.sh ranks         what every framework's ranks need: Python, sshd, a shell
#   tests/ground/image.sh torch1.13     PyTorch of Debian 12 with its torchrun: 1 GB
#
# Images are named weft.test/NAME:1. Needs apt and its servers.
# WEFT_CACHE   the cache; default $XDG_CACHE_HOME/weft, else ~/.cache/weft
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..

die() { echo "ground/image.sh: $*" >&2; exit 1; }
usage() { sed -n '2,/^set/s/^# \{0,1\}//p' "$here/image.sh"; }

ranks='bash coreutils grep sed findutils procps python3 python3-venv openssh-server openssh-client'
ranks+=' libgomp1 libnuma1 iproute2 openmpi-bin'
declare -A packages=(
  [ranks]=$ranks
  [torch1.13]="$ranks python3-torch"
)

# fetch FOLDER PACKAGE...: the packages as files there, with their dependencies, as if none were
# installed.
fetch() {
  local folder=$1
  shift
  mkdir -p "$folder"
  apt-get install -y --no-install-recommends --print-uris -o Dir::State::status=/dev/null "$@" |
    sed -n "s/^'[^']*' \([^ ]*\) .*/\1/p" >"$folder/list"
  [ -s "$folder/list" ] || die "apt knows no such packages: $* (apt-get update?)"
  # apt fetches by name and version.
  (cd "$folder" && sed 's/_[a-z0-9]*\.deb$//; s/_/=/; s/%3a/:/' list | xargs apt-get -q download) \
    >"$folder/log" 2>&1 || die "apt-get download: $(tail -n 1 "$folder/log")"
}

# unpack DEBS ROOTFS: with /bin and the like as links, as in every Debian since 12.
unpack() {
  local debs=$1 rootfs=$2 one folder
  mkdir -p "$rootfs"/usr/{bin,sbin,lib,lib64} "$rootfs"/{proc,sys,dev,tmp,run/sshd,root,var/tmp}
  for folder in bin sbin lib lib64; do ln -sfn usr/$folder "$rootfs/$folder"; done
  for one in "$debs"/*.deb; do
    dpkg-deb --fsys-tarfile "$one" |
      tar -x -C "$rootfs" --keep-directory-symlink --no-same-owner
  done
  rm -rf "$rootfs"/usr/share/{doc,man,locale,info,icons}
  chmod 1777 "$rootfs/tmp"
  [ ! -e "$rootfs/usr/bin/bash" ] || ln -sfn bash "$rootfs/usr/bin/sh"
}

# What the packages' scripts would have set up.
set_up() {
  local rootfs=$1 library
  printf '%s\n' root:x:0:0:root:/root:/bin/bash sshd:x:101:65534::/run/sshd:/usr/sbin/nologin \
    nobody:x:65534:65534::/:/usr/sbin/nologin >"$rootfs/etc/passwd"
  printf '%s\n' root:x:0: nogroup:x:65534: >"$rootfs/etc/group"
  printf '%s\n' 'hosts: files dns' 'passwd: files' 'group: files' >"$rootfs/etc/nsswitch.conf"
  mkdir -p "$rootfs/etc/ld.so.conf.d"
  echo 'include /etc/ld.so.conf.d/*.conf' >"$rootfs/etc/ld.so.conf"
  for library in blas lapack; do
    [ ! -d "$rootfs/usr/lib/x86_64-linux-gnu/$library" ] ||
      echo "/usr/lib/x86_64-linux-gnu/$library" >>"$rootfs/etc/ld.so.conf.d/alternatives.conf"
  done
  [ ! -e "$rootfs/usr/bin/mpirun.openmpi" ] || ln -sfn mpirun.openmpi "$rootfs/usr/bin/mpirun"
  ldconfig -r "$rootfs"
}

case ${1:-} in -h | --help) usage; exit 0 ;; esac
name=${1:-}
[ -n "${packages[$name]:-}" ] || { usage >&2; exit 2; }
cache=${WEFT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/weft}/images
recipe=$( (cat "$here/image.sh" "$root/deploy/image/oci_archive.py"; echo "${packages[$name]}") |
  sha256sum | cut -c 1-12)
archive=$cache/$name-$recipe.tar
mkdir -p "$cache"
exec 9>"$cache/$name.lock"
flock 9
if [ ! -e "$archive" ]; then
  work=$(mktemp -d "$cache/$name.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  # shellcheck disable=SC2086
  fetch "$work/debs" ${packages[$name]}
  unpack "$work/debs" "$work/rootfs"
  set_up "$work/rootfs"
  python3 -B "$root/deploy/image/oci_archive.py" --rootfs "$work/rootfs" --output "$work/image.tar" \
    --name "weft.test/$name:1" --compression 1 --env PATH=/usr/sbin:/usr/bin >&2
  rm -f "$cache/$name"-????????????.tar
  mv "$work/image.tar" "$archive"
fi
echo "$archive"
