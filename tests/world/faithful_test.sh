#!/usr/bin/env bash
# The API server in memory answers as the real one: random scripts against both. Longer:
#   tests/world/faithful_test.sh --seed 1000 --seeds 500 --calls 400
set -euo pipefail
# shellcheck source=tests/world/api_server_lib.sh
source "$(dirname "$0")/api_server_lib.sh"
: "${WEFT_FAITHFUL:=$root/build/bin/faithful}"
work=$(mktemp -d)
trap 'api_server_down "$work"; rm -rf "$work"' EXIT
api_server_up "$work"
# The watch caches of a server that has just started do not know its first events: one script for
# nothing.
"$WEFT_FAITHFUL" --seed 0 --seeds 1 --calls 50 >/dev/null 2>&1 || true
[ $# -gt 0 ] || set -- --seed 1 --seeds 12 --calls 300
"$WEFT_FAITHFUL" "$@"
