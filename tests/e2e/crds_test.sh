#!/usr/bin/env bash
# crds/ holds what tests/crds/generate.py writes, byte for byte. The PodTemplateSpec of Kubernetes is
# taken from crds/ itself: no test fetches anything.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tests"
cp -R "$root/tests/crds" "$work/tests/crds"
cp -R "$root/crds" "$work/crds"
python3 -B "$work/tests/crds/generate.py" --keep-template
diff -r "$root/crds" "$work/crds" ||
  { echo 'FAILED: crds/ differs from what tests/crds/generate.py writes: run it' >&2; exit 1; }
echo "$(basename "$0"): passed"
