#!/usr/bin/env bash
# Every command of README's "What it looks like" prints what stands there below it.
#
#   tests/e2e/readme_looks_test.sh [--write]
source "$(dirname "$0")/lib.sh"

expect_exit 0 python3 -B "$(dirname "$0")/console_page.py" "$WEFT_SOURCE_DIR/README.md" \
  --section 'What it looks like' "$@"
commands=$(cut -d' ' -f1 "$work/stdout")
[ "$commands" -ge 6 ] || fail "the section has only $commands commands"

passed
