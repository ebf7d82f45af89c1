#!/usr/bin/env bash
# charts/weft/README.md is what helm-docs writes from values.yaml and README.md.gotmpl, and every
# value is described there.
#
#   tests/e2e/chart_docs_test.sh [--write]
#
# helm-docs is built with Go, once, into $WEFT_CACHE (default ~/.cache/weft).
set -euo pipefail
version=v1.14.2
chart=$(cd "$(dirname "$0")/../../charts/weft" && pwd)
tools=${WEFT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/weft}/tools/helm-docs-$version

if [ ! -x "$tools/helm-docs" ]; then
  if ! command -v go >/dev/null; then
    echo 'NOT RUN: charts/weft/README.md: no go to build helm-docs with' >&2
    [ "${CI:-}" != true ] || exit 1
    exit 77
  fi
  GOBIN=$tools GOFLAGS=-mod=mod go install \
    "github.com/norwoodj/helm-docs/cmd/helm-docs@$version"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R "$chart" "$work/weft"
"$tools/helm-docs" --chart-search-root "$work/weft" --log-level warning --sort-values-order file \
  --document-dependency-values=false
[ "${1:-}" != --write ] || cp "$work/weft/README.md" "$chart/README.md"
diff "$chart/README.md" "$work/weft/README.md" ||
  { echo 'FAILED: run tests/e2e/chart_docs_test.sh --write' >&2; exit 1; }
undescribed=$(grep -E '^\| [^|]+ \| [^|]+ \| [^|]* \|  \|$' "$chart/README.md") || true
[ -z "$undescribed" ] || { echo "FAILED: values without a description: $undescribed" >&2; exit 1; }
echo "$(basename "$0"): passed"
