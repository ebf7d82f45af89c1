#!/usr/bin/env bash
# Builds the programs of a Kubernetes cluster from their Go modules, once, into a cache outside the
# tree: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubectl, kwok and helm. The
# last line of its output is the folder that holds them. No Docker.
#
#   tests/controlplane/build.sh                   what is missing; at once where nothing is
#   tests/controlplane/build.sh kubectl etcd      only these
#   tests/controlplane/build.sh --where           prints the folder, builds nothing
#   tests/controlplane/build.sh --kubernetes 1.37 [--where | NAME...]   those of another release
#
# --kubernetes V     1.34, 1.35, 1.36, 1.37 or a release such as v1.36.1; default 1.36. Each has a
#                    folder of its own
# WEFT_KUBERNETES    the same, where there is no --kubernetes
# WEFT_CACHE         the cache; default $XDG_CACHE_HOME/weft, else ~/.cache/weft
# KUBEBUILDER_ASSETS a folder whose programs are used instead of building them; where a Kubernetes
#                    is asked for, those of it only if their minor version is the same
#
# Needs Go 1.26, or Go 1.21 or later with GOTOOLCHAIN=auto, which fetches it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/controlplane/versions.sh
source "$here/versions.sh"

say() { echo "build.sh: $*" >&2; }
die() { say "$*"; exit 1; }
usage() { sed -n '2,/^set/s/^# \{0,1\}//p' "$here/build.sh"; }

# The release that $asked stands for.
kubernetes_release() {
  local asked=${asked:-$default_kubernetes} known
  if [[ $asked =~ ^v1\.[0-9]+\.[0-9]+$ ]]; then
    echo "$asked"
    return
  fi
  known=$(printf '%s\n' "${!kubernetes_releases[@]}" | sort -V | tr '\n' ' ')
  [ -n "${kubernetes_releases[$asked]:-}" ] ||
    die "no Kubernetes '$asked'; known: ${known}or vX.Y.Z"
  echo "${kubernetes_releases[$asked]}"
}

# Whether this release's go.mod and go.sum are checked in.
has_sums() { grep -qs "k8s.io/kubernetes $release " "$here/kubernetes-$minor/go.mod"; }

# Changes with everything that a build of this release depends on, and with no other release's.
recipe_hash() {
  (
    cd "$here"
    cat build.sh kubernetes_module.sh {etcd,helm,kwok}/go.{mod,sum} etcd/main.go
    ! has_sums || cat "kubernetes-$minor"/go.{mod,sum}
    declare -p recipes needed_go
    echo "${KUBEBUILDER_ASSETS:-}"
  ) | sha256sum | cut -c 1-12
}

# asset NAME: its path in KUBEBUILDER_ASSETS, if it is there and of the version asked for.
asset() {
  local path=${KUBEBUILDER_ASSETS:-}/$1 version
  [ -n "${KUBEBUILDER_ASSETS:-}" ] && [ -x "$path" ] || return 0
  if [ -n "$asked" ] && [[ $1 == kube* ]]; then
    version=$("$path" --version 2>/dev/null || "$path" version --client)
    [[ $version == *"v$minor."* ]] || { say "not used, for it is not $minor: $path"; return; }
  fi
  echo "$path"
}

check_go() {
  local found
  command -v go >/dev/null ||
    die "Go is missing: install Go $needed_go from https://go.dev/dl (distributions' may be older)"
  # Asked inside the module: a toolchain that can fetch the needed one answers with that.
  found=$(cd "$here/kubernetes-$default_kubernetes" && go env GOVERSION 2>&1) ||
    die "Go $needed_go is needed: $found"
  printf '%s\n%s\n' "$needed_go" "${found#go}" | sort -V -C ||
    die "Go $needed_go is needed, $found is installed: install it from https://go.dev/dl"
}

# The folder whose go.mod builds Kubernetes: the one checked in, or one made in the cache.
kubernetes_folder() {
  if has_sums; then
    echo "$here/kubernetes-$minor"
    return
  fi
  local made=$home/kubernetes
  if [ ! -e "$made/go.sum" ]; then
    say "resolving the modules of Kubernetes $release"
    rm -rf "$made.new"
    "$here/kubernetes_module.sh" "$release" "$made.new" >&2
    mv "$made.new" "$made"
  fi
  echo "$made"
}

# Versions that the sources leave to the linker.
stamp() {
  local version
  case $1 in
    kube*)
      version=${release#v1.}
      echo "-X k8s.io/component-base/version.gitVersion=$release" \
        "-X k8s.io/component-base/version.gitMajor=1" \
        "-X k8s.io/component-base/version.gitMinor=${version%%.*}" \
        "-X k8s.io/component-base/version.gitTreeState=clean"
      ;;
    helm)
      version=$(sed -n 's#.*helm.sh/helm/v4 \(v[0-9.]*\).*#\1#p' "$here/helm/go.mod")
      echo "-X helm.sh/helm/v4/internal/version.version=$version"
      ;;
  esac
}

# build NAME: into the folder, all or nothing.
build() {
  local name=$1 module package folder begun=$SECONDS
  read -r module package <<<"${recipes[$name]}"
  folder=$here/$module
  [ "$module" != kubernetes ] || folder=$(kubernetes_folder)
  say "building $name"
  (
    cd "$folder"
    export CGO_ENABLED=0 GOWORK=off GOFLAGS=-mod=readonly GOOS='' GOARCH=''
    nice go build -p 2 -trimpath -buildvcs=false -ldflags "-s -w $(stamp "$name")" \
      -o "$home/$name.new" "$package"
  ) || die "$name could not be built"
  mv "$home/$name.new" "$bin/$name"
  say "built $name in $((SECONDS - begun)) s, $(du -h "$bin/$name" | cut -f 1)"
}

asked=${WEFT_KUBERNETES:-}
case ${1:-} in
  -h | --help) usage; exit 0 ;;
  --kubernetes)
    asked=${2:?build.sh: --kubernetes needs a version}
    shift 2
    ;;
esac
release=$(kubernetes_release)
minor=${release#v} minor=${minor%.*}
home=${WEFT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/weft}/controlplane/$release-$(recipe_hash)
bin=$home/bin
if [ "${1:-}" = --where ]; then
  echo "$bin"
  exit 0
fi
for name in "$@"; do
  [ -n "${recipes[$name]:-}" ] || { usage >&2; exit 2; }
done
[ $# = 0 ] || binaries=("$@")

mkdir -p "$bin"
exec 9<"$bin"
flock -n 9 || { say 'another build is at work: waiting'; flock 9; }
go_checked=no
for name in "${binaries[@]}"; do
  [ ! -x "$bin/$name" ] || continue
  path=$(asset "$name")
  if [ -n "$path" ]; then
    ln -s "$path" "$bin/$name"
    say "$name is $path"
    continue
  fi
  [ $go_checked = yes ] || check_go
  go_checked=yes
  build "$name"
done
echo "$bin"
