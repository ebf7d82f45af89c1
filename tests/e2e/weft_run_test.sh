#!/usr/bin/env bash
# Gangs of real processes under weft-run, on loopback addresses: lost workers, worker 0 too,
# trainers that do not end, silent links, exit codes, tokens.
source "$(dirname "$0")/lib.sh"
: "${WEFT_RUN_PROGRAM:?the weft-run binary to test}"

# It runs in a container of others: it must need no file of its own.
expect_exit 0 readelf -ld "$WEFT_RUN_PROGRAM"
expect_no_text "$work/stdout" INTERP
expect_no_text "$work/stdout" NEEDED
size=$(stat -c %s "$WEFT_RUN_PROGRAM")
[ "$size" -lt 4000000 ] || fail "weft-run has $size bytes"

# Arguments: what is wrong is said, with the code for it.
expect_exit 0 "$WEFT_RUN_PROGRAM" --help
expect_text "$work/stdout" 'weft-run --workers 3 --rank 1 --peer job-0 --port 29500 -- torchrun train.py'
for wrong in '' '--' '--rank 3 --workers 3 --peer a -- true' '--workers 2 --rank 0 -- true' \
  '--peer a --peer b -- true' '--port 70000 -- true' '--control-port 29501 -- true' \
  '--grace soon -- true' '--what -- true'; do
  # shellcheck disable=SC2086
  expect_exit 64 "$WEFT_RUN_PROGRAM" $wrong
  expect_text "$work/stderr" 'weft-run: '
done
expect_exit 64 env WEFT_RUN_TOKEN='two words' "$WEFT_RUN_PROGRAM" -- true

python3 -B "$(dirname "$0")/weft_run_gangs.py" "$WEFT_RUN_PROGRAM" "$work" || fail 'gangs'
passed
