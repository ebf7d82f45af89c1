#!/usr/bin/env bash
# The container image: the same bytes from the same binaries, read by a program that is not ours,
# and both programs start from its root.
source "$(dirname "$0")/lib.sh"
: "${WEFT_OPERATOR:?the weft-operator binary to test}"

here=$(cd "$(dirname "$0")" && pwd)
image=$WEFT_SOURCE_DIR/deploy/image.sh
most_bytes=$((40 << 20)) # to pull; 16.9 MB in November 2026, with gRPC

expect_exit 2 "$image" --colour blue
expect_text "$work/stderr" "what is '--colour'?"
expect_exit 1 "$image" --bin "$work" --output "$work/none.tar"
expect_text "$work/stderr" "weft is not there"
[ ! -e "$work/none.tar" ] || fail 'an image without programs'

for time in 1 2; do
  expect_exit 0 "$image" --bin "$(dirname "$WEFT")" --output "$work/$time.tar" --tag test
done
expect_same "$work/1.tar" "$work/2.tar"
[ "$(stat -c %s "$work/1.tar")" -lt $most_bytes ] || fail "$(stat -c %s "$work/1.tar") bytes"

expect_same "$work/1.spdx.json" "$work/2.spdx.json"

mkdir "$work/layout"
tar -C "$work/layout" -xf "$work/1.tar"
unpack=(umoci unpack --image "$work/layout:test")
[ "$(id -u)" = 0 ] || unpack+=(--rootless)
expect_exit 0 "${unpack[@]}" "$work/bundle"
root=$work/bundle/rootfs
expect_exit 0 umoci stat --image "$work/layout:test" --json
expect_text "$work/stdout" '"created_by":"deploy/image.sh"'
user=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["process"]["user"])' \
  <"$work/bundle/config.json")
[[ $user == *"'uid': 65532"* ]] || fail "it runs as $user"

# Nothing in it is for a shell, writable by all but /tmp, or of another's rights.
[ ! -e "$root/bin/sh" ] && [ ! -e "$root/usr/bin/sh" ] || fail 'a shell'
loose=$(find "$root" ! -type l \( -perm -0002 -o -perm /6000 \) ! -path "$root/tmp")
[ -z "$loose" ] || fail "loose rights: $loose"
for package in libc6 libssl3 libcpprest2.10 nlohmann-json3-dev rapidjson-dev; do
  [ ! -d "/usr/share/doc/$package" ] || [ -r "$root/usr/share/doc/$package/copyright" ] ||
    fail "no terms of $package"
done

# What it is made of, by the specification's own program: every library is of a package it names.
bill=$root/usr/share/doc/weft/sbom.spdx.json
expect_same "$bill" "$work/1.spdx.json"
tools=$("$WEFT_SOURCE_DIR/tests/support/python_packages.sh" "$here/image_packages.txt") ||
  fail 'the Python packages of tests/e2e/image_packages.txt cannot be had'
expect_exit 0 "$tools/bin/pyspdxtools" -i "$bill"
expect_exit 0 python3 "$here/image_bill.py" "$bill" "$root"

# inside COMMAND...: with its root, as its user where this one may take it.
inside() {
  if [ "$(id -u)" = 0 ]; then
    env -i PATH=/usr/bin:/usr/sbin HOME=/home/weft chroot --userspec 65532:65532 "$root" "$@"
  else
    env -i PATH=/usr/bin:/usr/sbin HOME=/home/weft unshare -Ur chroot "$root" "$@"
  fi
}
expect_exit 0 inside /usr/bin/weft fabric generate --design dgx-h100-superpod --nodes 8
cp "$work/stdout" "$root/tmp/nodes.yaml"
expect_exit 0 inside /usr/bin/weft fabric show -f /tmp/nodes.yaml
expect_text "$work/stdout" 'dgx-h100'
expect_exit 0 inside /usr/bin/weft-operator --version
for program in weft-operator "kubectl-weft plan"; do # they read a cluster, and none is here
  # shellcheck disable=SC2086 # words
  expect_exit 2 inside /usr/bin/$program
  expect_text "$work/stderr" "no cluster"
done
passed
