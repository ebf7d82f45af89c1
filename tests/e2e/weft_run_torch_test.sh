#!/usr/bin/env bash
# Real torchrun under weft-run, where tests/ranks/install.sh has installed torch; else not run.
source "$(dirname "$0")/lib.sh"
: "${WEFT_RUN_PROGRAM:?the weft-run binary to test}"

torch=
for folder in "${WEFT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/weft}"/ranks/torch-*; do
  [ ! -e "$folder/complete" ] || torch=$folder
done
if [ -z "$torch" ]; then
  echo 'NOT RUN: no torch: tests/ranks/install.sh torch installs it' >&2
  exit 77
fi
expect_exit 0 python3 -B "$(dirname "$0")/weft_run_torch.py" "$WEFT_RUN_PROGRAM" "$work" \
  "$torch/bin/torchrun"
cat "$work/stdout"
passed
