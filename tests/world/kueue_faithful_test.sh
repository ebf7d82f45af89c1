#!/usr/bin/env bash
# The model of Kueue does what its manager does: the same random life of Workloads in both. Longer:
#   tests/world/kueue_faithful_test.sh --seed 1000 --rounds 500 --lanes 40
# The manager is in the folder WEFT_PEERS, by default ../shared/peers beside the source tree. Where
# it is missing the script is left out, and says so; with CI=true it fails.
set -euo pipefail
# shellcheck source=tests/world/api_server_lib.sh
source "$(dirname "$0")/api_server_lib.sh"
: "${WEFT_KUEUE_FAITHFUL:=$root/build/bin/kueue-faithful}"
peers=${WEFT_PEERS:-$root/../shared/peers}
if [ ! -x "$peers/peers.py" ]; then
  [ "${CI:-}" != true ] || die "there is no $peers/peers.py: set WEFT_PEERS"
  say "LEFT OUT: no manager of Kueue in $peers (WEFT_PEERS)"
  exit 77
fi
work=$(mktemp -d)
trap '"$peers/peers.py" down --dir "$work/peers"; api_server_down "$work"; rm -rf "$work"' EXIT
api_server_up "$work"
"$peers/peers.py" up --dir "$work/peers" kueue
[ $# -gt 0 ] || set -- --seed 1 --rounds 12 --lanes 40
"$WEFT_KUEUE_FAITHFUL" "$@"
