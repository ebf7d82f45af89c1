#!/usr/bin/env bash
# Every command of operator/docs/questions.md prints what stands there below it.
#
#   tests/e2e/questions_test.sh [--write]
source "$(dirname "$0")/lib.sh"
page=$WEFT_SOURCE_DIR/operator/docs/questions.md

expect_exit 0 python3 -B "$(dirname "$0")/console_page.py" "$page" "$@"
commands=$(cut -d' ' -f1 "$work/stdout")
[ "$commands" -ge 20 ] || fail "the page has only $commands commands"
for title in 1,200 'One GPU' 'Four good' MI355X ZeRO '95 %' 'Gradients of' Air dragonfly CXL; do
  expect_text <(grep '^## ' "$page") "$title"
done

passed
