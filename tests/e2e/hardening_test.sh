#!/usr/bin/env bash
# The release binaries are built as CMakeLists.txt asks: position independent, with full RELRO, no
# executable stack, a stack protector and fortified calls.
source "$(dirname "$0")/lib.sh"
: "${WEFT_OPERATOR:?the weft-operator binary to test}"

for program in "$WEFT" "$WEFT_OPERATOR"; do
  readelf -Wh "$program" >"$work/header"
  expect_text "$work/header" 'DYN (Position-Independent Executable file)'
  readelf -Wl "$program" >"$work/segments"
  expect_text "$work/segments" 'GNU_RELRO'
  grep -q 'GNU_STACK .* RW  *0x' "$work/segments" || fail "$program: the stack is executable"
  readelf -Wd "$program" >"$work/dynamic"
  expect_text "$work/dynamic" 'BIND_NOW'
  readelf -W --dyn-syms "$program" >"$work/symbols"
  expect_text "$work/symbols" '__stack_chk_fail'
  expect_text "$work/symbols" '__snprintf_chk'
done
passed
