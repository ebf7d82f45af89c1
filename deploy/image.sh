#!/usr/bin/env bash
# Makes a container image of weft-operator and weft without a container engine: their binaries, the
# shared libraries that they load, and nothing else, as an OCI archive. The same binaries and
# libraries give the same bytes. Runs as user 65532; no shell, no package manager. The bill of
# materials (SPDX 2.3) is in the image as usr/share/doc/weft/sbom.spdx.json, and beside the archive.
#
#   deploy/image.sh [--output FILE] [--tag TAG] [--bin FOLDER]
#   deploy/image.sh --rootfs FOLDER [--bin FOLDER]     only lays out the files
#
#   skopeo copy oci-archive:build/weft-image.tar docker://registry.example/weft/weft-operator:0.1.0
#
#   --output FILE     the archive; default build/weft-image.tar
#   --tag TAG         its name inside the archive, such as 0.1.0 or registry.example/weft:0.1.0; default
#                     the version of the binaries
#   --bin FOLDER      where the binaries are; default build/bin
#   --rootfs FOLDER   a folder to create; must not exist yet
#
# SOURCE_DATE_EPOCH is the time of creation that the image states; default 0. The libraries are copied
# from this machine: make the image on a release of Debian or Ubuntu that you trust. With a container
# engine, deploy/Dockerfile builds the same image from the sources.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

die() { echo "image.sh: $*" >&2; exit "${code:-1}"; }
usage() { sed -n '2,/^set/s/^# \{0,1\}//p' "$root/deploy/image.sh"; }

# Programs of the image. kubectl finds its plug-ins by name.
programs=(weft weft-operator)
# Of libraries that are compiled into them.
headers=(/usr/include/{nlohmann/json.hpp,rapidjson/rapidjson.h,CLI/CLI.hpp,boost/asio.hpp})
bill=usr/share/doc/weft/sbom.spdx.json # in the image

read_arguments() {
  output=$root/build/weft-image.tar tag='' bin=$root/build/bin rootfs=''
  while [ $# -gt 0 ]; do
    case $1 in -h | --help) usage; exit 0 ;; esac
    [ $# -ge 2 ] || code=2 die "what is '$1'? (see --help)"
    case $1 in
      --output) output=$2 ;;
      --tag) tag=$2 ;;
      --bin) bin=$2 ;;
      --rootfs) rootfs=$2 ;;
      *) code=2 die "what is '$1'? (see --help)" ;;
    esac
    shift 2
  done
}

# The libraries that a program loads, and the loader: their paths, as the loader looks for them.
libraries_of() {
  local found
  found=$(ldd "$1") || die "$1: its libraries cannot be listed"
  ! grep -q 'not found' <<<"$found" || die "$1: $(grep 'not found' <<<"$found")"
  sed -n -e 's/^.* => \(\/.*\) (0x.*$/\1/p' -e 's/^\s*\(\/.*\) (0x.*$/\1/p' <<<"$found"
}

# copy_library PATH: to the same path below /usr, as /lib is a link into it. The loader knows these
# folders without a cache.
copy_library() {
  local target=$layout/usr${1#/usr}
  [ ! -e "$target" ] || return 0
  mkdir -p "$(dirname "$target")"
  cp -L "$1" "$target"
  chmod 0755 "$target"
  local real
  real=$(realpath "$1")
  libraries+=("$real" "${real#/usr}") # a package may say /lib for what is in /usr/lib
}

# Debian's packages that the image has something of: one query, which reads every package's list.
libraries=() packages=()
find_packages() {
  command -v dpkg-query >/dev/null || return 0
  mapfile -t packages < <({ dpkg-query -S "${libraries[@]}" "${headers[@]}" 2>/dev/null || true; } |
    sed 's/[:,].*//' | sort -u)
}

# What is passed on comes with its terms, and with a list of what it is.
copy_licences() {
  local package terms
  for package in "${packages[@]}"; do
    terms=/usr/share/doc/$package/copyright
    [ -r "$terms" ] || continue
    mkdir -p "$layout/usr/share/doc/$package"
    cp -L "$terms" "$layout$terms"
  done
}

write_bill_of_materials() {
  python3 -B "$root/deploy/image/sbom.py" --rootfs "$layout" --version "$(version)" \
    --output "$layout/$bill" --programs "${programs[@]/#/usr/bin/}" --packages "${packages[@]}"
}

lay_out() {
  local program library certificates=/etc/ssl/certs/ca-certificates.crt
  mkdir -p "$layout"/{usr/bin,usr/lib,usr/lib64,etc/ssl/certs,tmp,home/weft,proc,dev} \
    "$layout/usr/share/doc/weft" "$layout/var/run/secrets"
  ln -s usr/lib "$layout/lib"
  ln -s usr/lib64 "$layout/lib64"
  for program in "${programs[@]}"; do
    [ -x "$bin/$program" ] || die "$bin/$program is not there: ninja -C build ${programs[*]}"
    strip -o "$layout/usr/bin/$program" "$bin/$program"
    chmod 0755 "$layout/usr/bin/$program"
    while read -r library; do copy_library "$library"; done < <(libraries_of "$bin/$program")
  done
  ln -s weft "$layout/usr/bin/kubectl-weft"
  find_packages
  copy_licences
  cp "$root/LICENSE" "$layout/usr/share/doc/weft/copyright"
  write_bill_of_materials
  # Trusted roots, for clusters that are reached by a public name.
  [ ! -r $certificates ] || cp -L $certificates "$layout$certificates"
  echo 'weft:x:65532:65532:Weft:/home/weft:/sbin/nologin' >"$layout/etc/passwd"
  echo 'weft:x:65532:' >"$layout/etc/group"
  echo 'hosts: files dns' >"$layout/etc/nsswitch.conf"
  find "$layout" -type d -exec chmod 0755 {} +
  find "$layout" -type f ! -perm -0100 -exec chmod 0644 {} +
  chmod 1777 "$layout/tmp"
}

version() { sed -n 's/^project(weft VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt"; }

read_arguments "$@"
if [ -n "$rootfs" ]; then
  [ ! -e "$rootfs" ] || code=2 die "$rootfs is there already"
  layout=$rootfs
  lay_out
  exit
fi
layout=$(mktemp -d)
trap 'rm -rf "$layout"' EXIT
lay_out
mkdir -p "$(dirname "$output")"
python3 -B "$root/deploy/image/oci_archive.py" --rootfs "$layout" --output "$output" \
  --name "${tag:-$(version)}" --version "$(version)" --title weft-operator --licenses Apache-2.0 \
  --description 'Places GPU training jobs so that the least traffic crosses slow links' \
  --user 65532:65532 --directory /home/weft --env PATH=/usr/bin --env HOME=/home/weft \
  --entrypoint /usr/bin/weft-operator
cp "$layout/$bill" "${output%.tar}.spdx.json"
