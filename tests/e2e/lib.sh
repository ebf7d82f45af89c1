# What the end-to-end scripts share. Source it first:
#
#   source "$(dirname "$0")/lib.sh"
#   expect_exit 3 "$WEFT" plan -f "$work/nodes.yaml"
#   expect_text "$work/stdout" 'NOT PLACED'
#   passed
#
# $WEFT is the program under test, $work a folder that is gone afterwards. The last command's
# output lies in $work/stdout and $work/stderr.
# shellcheck shell=bash
set -euo pipefail

: "${WEFT:?the weft binary to test}"
[ -x "$WEFT" ] || { echo "e2e: $WEFT is not there: build the target weft first" >&2; exit 1; }
export LC_ALL=C NO_COLOR=1
unset KUBECONFIG

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
checks=0

fail() {
  echo "FAILED ${BASH_SOURCE[-1]}:${BASH_LINENO[1]}: $*" >&2
  for stream in stdout stderr; do
    [ ! -s "$work/$stream" ] || { echo "--- $stream:"; head -n 60 "$work/$stream"; } >&2
  done
  exit 1
}

# expect_exit CODE COMMAND...: runs it, standard input as given.
expect_exit() {
  local want=$1 got=0
  shift
  "$@" >"$work/stdout" 2>"$work/stderr" || got=$?
  [ "$got" = "$want" ] || fail "exit code $got, not $want: $*"
  checks=$((checks + 1))
}

# expect_text FILE TEXT: the file holds the text, letter by letter.
expect_text() {
  grep -qF -- "$2" "$1" || fail "$(basename "$1") lacks: $2"
  checks=$((checks + 1))
}

expect_no_text() {
  ! grep -qF -- "$2" "$1" || fail "$(basename "$1") must not hold: $2"
  checks=$((checks + 1))
}

expect_empty() {
  [ ! -s "$1" ] || fail "$(basename "$1") is not empty"
  checks=$((checks + 1))
}

# expect_same FILE FILE: equal byte for byte.
expect_same() {
  cmp -s "$1" "$2" || { diff "$1" "$2" | head -n 20 >&2; fail "$1 and $2 differ"; }
  checks=$((checks + 1))
}

# needs_rights_for_real_nodes: what `deploy/local-cluster.sh up --real` asks of the kernel and the
# machine, which root has. Without it nothing is tested, and with CI=true that is a failure.
needs_rights_for_real_nodes() {
  local part=deploy/local-cluster/real_nodes.sh
  (
    dir=$work
    mkdir -p "$dir/logs"
    die() { echo "$*" >&2; exit 1; }
    show_log() { cat "$1" >&2; }
    # shellcheck source=deploy/local-cluster/real_nodes.sh
    source "${WEFT_SOURCE_DIR:-$(dirname "${BASH_SOURCE[0]}")/../..}/$part"
    check_rights
  ) 2>"$work/stderr" && return
  echo "NOT RUN: real kubelets and containers: $(<"$work/stderr")" >&2
  [ "${CI:-}" != true ] || exit 1
  exit 77
}

# commands_of FROM TO PAGE: the commands of the page's console blocks between two lines, which are
# regular expressions.
commands_of() {
  sed -n "/$1/,/$2/p" "$3" |
    awk '/^```console/ {inside = 1; next} /^```/ {inside = 0} inside && sub(/^\$ /, "")'
}

passed() { echo "$(basename "$0"): $checks checks passed"; }
