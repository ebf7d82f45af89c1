#!/usr/bin/env bash
# Builds what the real nodes of a local cluster need beside the kubelet, once, into a cache outside
# the tree: containerd, runc, the CNI plug-ins bridge, host-local and loopback, CoreDNS, a device
# plug-in without devices, and the image of the sandboxes. All from Go modules; runc needs gcc and
# libseccomp's header (deploy/dependencies.sh test).
# The last line of its output is the folder that holds them.
#
#   tests/nodes/build.sh            what is missing; at once where nothing is
#   tests/nodes/build.sh --where    prints the folder, builds nothing
#
# WEFT_CACHE   the cache; default $XDG_CACHE_HOME/weft, else ~/.cache/weft
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..

say() { echo "nodes/build.sh: $*" >&2; }
die() { say "$*"; exit 1; }
usage() { sed -n '2,/^set/s/^# \{0,1\}//p' "$here/build.sh"; }

# program: module folder, Go package. Their versions are in the go.mod of each folder.
declare -A recipes=(
  [containerd]='containerd github.com/containerd/containerd/v2/cmd/containerd'
  [containerd-shim-runc-v2]='containerd github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2'
  [ctr]='containerd github.com/containerd/containerd/v2/cmd/ctr'
  [runc]='runc github.com/opencontainers/runc'
  [bridge]='cni github.com/containernetworking/plugins/plugins/main/bridge'
  [host-local]='cni github.com/containernetworking/plugins/plugins/ipam/host-local'
  [loopback]='cni github.com/containernetworking/plugins/plugins/main/loopback'
  [coredns]='coredns weft.dev/tests/nodes/coredns'
  [device-plugin]='devices weft.dev/tests/nodes/devices'
  [pause]='pause weft.dev/tests/nodes/pause'
)
# runc enters namespaces in C, before Go's threads are there, and filters system calls with libseccomp.
needs_c=' runc '
tags='no_btrfs no_devmapper no_zfs seccomp'

recipe_hash() {
  (
    cd "$here"
    cat build.sh */go.mod */go.sum */main.go ../../deploy/image/oci_archive.py
  ) | sha256sum | cut -c 1-12
}

build() {
  local name=$1 module package begun=$SECONDS cgo=0
  read -r module package <<<"${recipes[$name]}"
  [[ $needs_c != *" $name "* ]] || cgo=1
  say "building $name"
  (
    cd "$here/$module"
    export CGO_ENABLED=$cgo GOWORK=off GOFLAGS=-mod=readonly GOOS='' GOARCH=''
    nice go build -p 2 -trimpath -buildvcs=false -tags "$tags" -ldflags '-s -w' -o "$bin/$name.new" "$package"
  ) || die "$name could not be built"
  mv "$bin/$name.new" "$bin/$name"
  say "built $name in $((SECONDS - begun)) s, $(du -h "$bin/$name" | cut -f 1)"
}

# The image of every pod's sandbox: the one program pause.
make_pause_image() {
  local layout=$home/pause-rootfs
  rm -rf "$layout"
  mkdir -p "$layout"
  cp "$bin/pause" "$layout/pause"
  python3 -B "$root/deploy/image/oci_archive.py" --rootfs "$layout" --output "$home/pause.tar.new" \
    --name weft.test/pause:1 --entrypoint /pause >&2
  mv "$home/pause.tar.new" "$home/pause.tar"
  rm -rf "$layout"
}

case ${1:-} in
  -h | --help) usage; exit 0 ;;
  '' | --where) ;;
  *) usage >&2; exit 2 ;;
esac
home=${WEFT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/weft}/nodes/$(recipe_hash)
bin=$home/bin
if [ "${1:-}" = --where ]; then
  echo "$bin"
  exit 0
fi
mkdir -p "$bin"
exec 9<"$bin"
flock -n 9 || { say 'another build is at work: waiting'; flock 9; }
for name in "${!recipes[@]}"; do
  [ -x "$bin/$name" ] || build "$name"
done
[ -e "$home/pause.tar" ] || make_pause_image
echo "$bin"
