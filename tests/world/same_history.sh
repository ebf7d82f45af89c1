#!/usr/bin/env bash
# same_history.sh A B: the same days, played by two builds of weft-day, have the same histories.
set -euo pipefail
days=(--seed 77001 --count 3 --hours 1 --jobs 15 --faults 30)
history() { "$1" "${days[@]}" | sed 's/, [0-9.]* s$//'; }
first=$(history "$1")
second=$(history "$2")
[ -n "$first" ] || { echo "$1 played nothing" >&2; exit 1; }
if [ "$first" != "$second" ]; then
  printf 'the histories differ:\n%s\n%s\n' "$first" "$second" >&2
  exit 1
fi
echo "$first"
