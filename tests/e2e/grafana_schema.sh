#!/usr/bin/env bash
# Prints the path of Grafana's dashboard schema as a Python package (grafana-foundation-sdk of PyPI),
# fetched once into the cache. Exit code 1 where it cannot be had.
set -euo pipefail

version='1769699998!10.1.0'
digest=d131ffe49057fb669ba31ce7e28a303c96b3aecf4332b20de33cfa55110d498c
folder=${XDG_CACHE_HOME:-$HOME/.cache}/weft/python
wheel=$folder/grafana_foundation_sdk-$version-py3-none-any.whl

fetch() {
  local new
  mkdir -p "$folder"
  new=$(mktemp -d "$folder/new.XXXXXX")
  python3 -m pip download --quiet --no-deps --disable-pip-version-check --dest "$new" \
    "grafana-foundation-sdk==$version" >&2 &&
    echo "$digest  $new/$(basename "$wheel")" | sha256sum --check --quiet >&2 &&
    mv "$new/$(basename "$wheel")" "$wheel"
  rm -rf "$new"
}

[ -r "$wheel" ] || fetch
[ -r "$wheel" ] || { echo "grafana_schema.sh: no grafana-foundation-sdk $version" >&2; exit 1; }
echo "$wheel"
