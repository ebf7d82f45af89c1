#!/usr/bin/env bash
# Packs the kubectl plug-in for krew: weft with the libraries that it loads, for any Linux of this
# architecture, and the manifest that names the archive by its digest.
#
#   deploy/krew.sh [--url URL] [--output FOLDER] [--bin FOLDER]
#   kubectl krew install --manifest=build/krew/weft.yaml --archive=build/krew/weft-linux-amd64.tar.gz
#
#   --url URL         folder that the archive will be downloaded from; default one of registry.example
#   --output FOLDER   default build/krew
#   --bin FOLDER      where the binaries are; default build/bin
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

die() { echo "krew.sh: $*" >&2; exit "${code:-1}"; }
usage() { sed -n '2,/^set/s/^# \{0,1\}//p' "$root/deploy/krew.sh"; }
version() { sed -n 's/^project(weft VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt"; }

url=https://registry.example/weft/v$(version) output=$root/build/krew bin=$root/build/bin
while [ $# -gt 0 ]; do
  case $1 in -h | --help) usage; exit 0 ;; esac
  [ $# -ge 2 ] || code=2 die "what is '$1'? (see --help)"
  case $1 in
    --url) url=$2 ;;
    --output) output=$2 ;;
    --bin) bin=$2 ;;
    *) code=2 die "what is '$1'? (see --help)" ;;
  esac
  shift 2
done
case $(uname -m) in
  x86_64) architecture=amd64 ;;
  aarch64) architecture=arm64 ;;
  *) die "krew knows no architecture $(uname -m)" ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$root/deploy/image.sh" --rootfs "$work/image" --bin "$bin"
plugin=$work/plugin
mkdir -p "$plugin/lib" "$output"
cp "$work/image/usr/bin/weft" "$plugin/lib/"
cp "$work"/image/usr/lib/*/*.so* "$plugin/lib/"
loader=$(basename "$(find "$work/image/usr" -name 'ld-linux*' | head -n 1)")
find "$work/image/usr" -name "$loader" -exec cp -n {} "$plugin/lib/" \;
cp -r "$work/image/usr/share/doc" "$plugin/licences"
cp "$root/LICENSE" "$plugin/"
# Its own loader and libraries, whatever this machine has.
cat >"$plugin/kubectl-weft" <<SCRIPT
#!/bin/sh
lib=\$(dirname "\$(readlink -f "\$0")")/lib
exec "\$lib/$loader" --argv0 kubectl-weft --library-path "\$lib" "\$lib/weft" "\$@"
SCRIPT
chmod 0755 "$plugin/kubectl-weft"

archive=weft-linux-$architecture.tar.gz
tar -C "$plugin" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -cf - . |
  gzip -9n >"$output/$archive"
cat >"$output/weft.yaml" <<MANIFEST
apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: weft
spec:
  version: v$(version)
  homepage: https://registry.example/weft
  shortDescription: Place GPU training jobs by their traffic
  description: |
    Shows the fleet and its training jobs live (top), where a job would go (plan), why (explain),
    what the placements of today's scheduler cost (audit), and draws the fabric (map).
  caveats: |
    Completion of \`kubectl weft\`:
      kubectl weft completion kubectl > ~/.local/bin/kubectl_complete-weft
      chmod +x ~/.local/bin/kubectl_complete-weft
  platforms:
  - selector: {matchLabels: {os: linux, arch: $architecture}}
    uri: $url/$archive
    sha256: $(sha256sum "$output/$archive" | cut -d ' ' -f 1)
    bin: kubectl-weft
MANIFEST
echo "$output/weft.yaml: v$(version), $(du -h "$output/$archive" | cut -f 1) to download"
