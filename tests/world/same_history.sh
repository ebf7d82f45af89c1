#!/usr/bin/env bash
# same_history.sh A B: the same days, without and with queues, played by two builds of weft-day, have
# the same histories: every change with its object, every request with its answer's status.
set -euo pipefail
days=(--hours 1 --jobs 15 --faults 30)
history() {
  "$1" --seed 77001 --count 3 "${days[@]}" | sed 's/, [0-9.]* s$//'
  "$1" --seed 77101 --count 2 "${days[@]}" --kueue 1 | sed 's/, [0-9.]* s$//'
}
first=$(history "$1")
second=$(history "$2")
[ "$(grep -c '^seed ' <<<"$first")" = 5 ] || { echo "$1 did not play all days" >&2; exit 1; }
if [ "$first" != "$second" ]; then
  printf 'the histories differ:\n%s\n%s\n' "$first" "$second" >&2
  exit 1
fi
echo "$first"
