#!/usr/bin/env bash
# Installs the missing packages that Weft needs on Debian or Ubuntu, with sudo when not root. Prints
# nothing if all are installed.
#
#   deploy/dependencies.sh build     packages that compile weft
#   deploy/dependencies.sh test      also those of the tests, sanitizers, fuzzers and benchmarks
#
# WEFT_DEPENDENCIES=present installs nothing, for systems whose packages have other names.
set -euo pipefail

purpose=${1:-}
packages=(g++ cmake ninja-build ccache libyaml-dev libyaml-cpp-dev nlohmann-json3-dev rapidjson-dev libcli11-dev
  libcpprest-dev libssl-dev libc-ares-dev prometheus-cpp-dev libgrpc++-dev libprotobuf-dev protobuf-compiler
  protobuf-compiler-grpc)
case $purpose in
  build) ;;
  test)
    packages+=(libgtest-dev libgmock-dev libbenchmark-dev libre2-dev libjemalloc-dev openssl python3 python3-pip
      python3-venv python3-yaml prometheus lua5.1 umoci iproute2 openssh-server openmpi-bin curl
      faketime libseccomp-dev)
    # Ubuntu has Chromium as a snap only.
    ! grep -q '^ID=debian' /etc/os-release || packages+=(chromium)
    ;;
  *)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac

# libFuzzer comes with clang, in packages that carry its version in their name.
clang_versions=(14 15 16 17 18 19 20 21 22)

system_name() (
  # shellcheck disable=SC1091
  [ -r /etc/os-release ] && . /etc/os-release
  echo "${PRETTY_NAME:-$(uname -s)}"
)

# Debian 12 and Ubuntu 24.04 are the first with CMake 3.25 and a C++20 compiler.
supported_system() (
  [ -r /etc/os-release ] || exit 1
  # shellcheck disable=SC1091
  . /etc/os-release
  case ${ID:-} in
    debian) [ "${VERSION_ID:-99}" -ge 12 ] ;; # testing and unstable carry no number
    ubuntu) dpkg --compare-versions "${VERSION_ID:-0}" ge 24.04 ;;
    *) exit 1 ;;
  esac
)

refuse_system() {
  local needed="${packages[*]}"
  [ "$purpose" = build ] || needed+=" clang (with libFuzzer, ASan and UBSan)"
  cat >&2 <<EOF
dependencies.sh: knows the packages of Debian 12 and later and of Ubuntu LTS 24.04 and later; this
is $(system_name). Install by hand what these packages hold: $needed
(CMake 3.25 or later, g++ 12 or clang 14 or later), then set WEFT_DEPENDENCIES=present.
EOF
  exit 1
}

# One query for everything: the names that are installed, each between spaces.
installed_packages() {
  local names=("${packages[@]}") version
  for version in "${clang_versions[@]}"; do
    names+=("clang-$version" "libclang-rt-$version-dev")
  done
  dpkg-query -W -f='${db:Status-Abbrev} ${Package}\n' "${names[@]}" 2>/dev/null |
    awk 'BEGIN {printf " "} $1 ~ /^.i$/ {printf "%s ", $2}' || true # 1 where a name is unknown
}

has_clang() {
  local version
  for version in "${clang_versions[@]}"; do
    [[ $installed == *" clang-$version "* && $installed == *" libclang-rt-$version-dev "* ]] &&
      return 0
  done
  return 1
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    echo "dependencies.sh: neither root nor sudo: run as root: $*" >&2
    exit 1
  fi
}

apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Retries=3 \
    -o DPkg::Lock::Timeout=300 "$@"
}

# The version that the system's package `clang` stands for.
default_clang() {
  apt-cache depends clang | sed -n 's/.*Depends: clang-\([0-9][0-9]*\)$/\1/p' | head -n 1
}

[ "${WEFT_DEPENDENCIES:-}" != present ] || exit 0
command -v dpkg-query >/dev/null && command -v apt-get >/dev/null || refuse_system

installed=$(installed_packages)
missing=()
for package in "${packages[@]}"; do
  [[ $installed == *" $package "* ]] || missing+=("$package")
done
clang_missing=no
[ "$purpose" = build ] || has_clang || clang_missing=yes
[ ${#missing[@]} -gt 0 ] || [ $clang_missing = yes ] || exit 0

supported_system || refuse_system
echo "dependencies.sh: reading the package lists of $(system_name)"
apt_get update >/dev/null
if [ $clang_missing = yes ]; then
  version=$(default_clang)
  [ -n "$version" ] || { echo "dependencies.sh: no package clang to install" >&2; exit 1; }
  missing+=("clang-$version" "libclang-rt-$version-dev")
fi
echo "dependencies.sh: installing ${missing[*]}"
apt_get install -y --no-install-recommends "${missing[@]}" >/dev/null
echo "dependencies.sh: installed"
