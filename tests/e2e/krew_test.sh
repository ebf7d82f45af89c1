#!/usr/bin/env bash
# The plug-in for krew: what the manifest names is what was packed, and it runs by itself, from
# wherever it is linked.
source "$(dirname "$0")/lib.sh"

krew=$WEFT_SOURCE_DIR/deploy/krew.sh
expect_exit 2 "$krew" --colour blue
expect_exit 0 "$krew" --bin "$(dirname "$WEFT")" --output "$work/krew" --url https://example.com/v1
manifest=$work/krew/weft.yaml

python3 - "$manifest" >"$work/platform" <<'PYTHON' || fail 'the manifest is none'
import sys
import yaml
manifest = yaml.safe_load(open(sys.argv[1], encoding="utf-8"))
assert manifest["apiVersion"] == "krew.googlecontainertools.github.com/v1alpha2", manifest
assert manifest["kind"] == "Plugin" and manifest["metadata"] == {"name": "weft"}, manifest
assert len(manifest["spec"]["shortDescription"]) <= 50, manifest
[platform] = manifest["spec"]["platforms"]
print(platform["uri"], platform["sha256"], platform["bin"], manifest["spec"]["version"])
PYTHON
read -r uri digest program version <"$work/platform"
archive=$work/krew/$(basename "$uri")
[ "$uri" = "https://example.com/v1/$(basename "$archive")" ] || fail "$uri"
[ "$digest" = "$(sha256sum "$archive" | cut -d ' ' -f 1)" ] || fail 'the digest is another'
[ "$version" = "v$("$WEFT" --version | sed 's/.* //')" ] || fail "$version"

mkdir "$work/store" "$work/path"
tar -C "$work/store" -xzf "$archive"
ln -s "$work/store/$program" "$work/path/kubectl-weft"
expect_exit 0 env -i "PATH=$work/path:/usr/bin:/bin" kubectl-weft --version
expect_exit 2 env -i "PATH=$work/path:/usr/bin:/bin" HOME="$work" kubectl-weft top
expect_text "$work/stderr" 'no cluster' # as kubectl-weft it looks for kubectl's
lib=$work/store/lib
mapped=$("$lib"/ld-linux*.so.* --list --library-path "$lib" "$lib/weft" |
  grep -v -e "$lib" -e linux-vdso) || true
[ -z "$mapped" ] || fail "libraries of this machine: $mapped"
passed
