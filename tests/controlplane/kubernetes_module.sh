#!/usr/bin/env bash
# Writes the go.mod and go.sum that build one release of Kubernetes into a folder: k8s.io/kubernetes
# with the modules of its staging area replaced by the ones published from it.
#
#   tests/controlplane/kubernetes_module.sh v1.36.3 tests/controlplane/kubernetes-1.36
#
# What is in kubernetes-1.36/ and kubernetes-1.37/ was made so. Needs Go and its module proxy; sums
# are checked against Go's checksum database.
set -euo pipefail

usage() { sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; }
[[ ${1:-} =~ ^v1\.[0-9]+\.[0-9]+$ && $# = 2 ]] || { usage >&2; exit 2; }
release=$1 folder=$2
mkdir -p "$folder"

# The release's own go.mod names its Go version and its staging modules.
upstream=$(cd / && GOFLAGS=-mod=mod go mod download -json "k8s.io/kubernetes@$release" |
  sed -n 's/.*"GoMod": "\(.*\)".*/\1/p')
[ -r "$upstream" ] ||
  { echo "kubernetes_module.sh: no module k8s.io/kubernetes@$release" >&2; exit 1; }

{
  echo 'module weft.dev/tests/controlplane/kubernetes'
  echo
  sed -n 's/^go [0-9.]*$/&\n/p; s/^godebug .*/&\n/p' "$upstream"
  echo 'tool ('
  for server in kube-apiserver kube-controller-manager kube-scheduler kubectl kubelet; do
    printf '\tk8s.io/kubernetes/cmd/%s\n' $server
  done
  printf ')\n\nrequire k8s.io/kubernetes %s\n\nreplace (\n' "$release"
  sed -n "s#^\t\(k8s.io/[a-z-]*\) => ./staging.*#\t\1 => \1 v0.${release#v1.}#p" "$upstream"
  echo ')'
} >"$folder/go.mod"
cd "$folder"
rm -f go.sum
go mod tidy
