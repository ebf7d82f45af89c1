#!/usr/bin/env bash
# crds/ holds what tests/crds/generate.py writes, byte for byte. The generator reads the OpenAPI
# document of a Kubernetes release from Go's module cache and fetches it where it is missing.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)

if ! command -v go >/dev/null; then
  echo 'NOT RUN: crds/ against its generator: no go to fetch the schemas of Kubernetes with' >&2
  [ "${CI:-}" != true ] || exit 1
  exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tests"
cp -R "$root/tests/crds" "$work/tests/crds"
release=$(sed -n 's/^KUBERNETES = "\(.*\)"$/\1/p' "$root/tests/crds/generate.py")
(cd "$work" && go mod download "k8s.io/kubernetes@$release")
python3 -B "$work/tests/crds/generate.py"
diff -r "$root/crds" "$work/crds" ||
  { echo 'FAILED: crds/ differs from what tests/crds/generate.py writes: run it' >&2; exit 1; }
echo "$(basename "$0"): passed"
