# What the test cluster is built from. Sourced by build.sh.
# shellcheck shell=bash disable=SC2034

# Releases of Kubernetes by minor version. The sums of those with a folder kubernetes-MINOR are
# checked in; Go's checksum database answers for the others.
declare -A kubernetes_releases=(
  [1.34]=v1.34.4
  [1.35]=v1.35.4
  [1.36]=v1.36.3
  [1.37]=v1.37.2
)
default_kubernetes=1.36

# Older toolchains that know GOTOOLCHAIN=auto (1.21 and later) fetch this one themselves.
needed_go=1.26

# binary: module folder, Go package
declare -A recipes=(
  [etcd]='etcd weft.dev/tests/controlplane/etcd'
  [kube-apiserver]='kubernetes k8s.io/kubernetes/cmd/kube-apiserver'
  [kube-controller-manager]='kubernetes k8s.io/kubernetes/cmd/kube-controller-manager'
  [kube-scheduler]='kubernetes k8s.io/kubernetes/cmd/kube-scheduler'
  [kubectl]='kubernetes k8s.io/kubernetes/cmd/kubectl'
  [kubelet]='kubernetes k8s.io/kubernetes/cmd/kubelet'
  [kwok]='kwok sigs.k8s.io/kwok/cmd/kwok'
  [helm]='helm helm.sh/helm/v4/cmd/helm'
)
# In this order: what a cluster needs first. kubelet only where real nodes are asked for.
binaries=(etcd kube-apiserver kubectl kube-controller-manager kube-scheduler kwok helm)
