#!/usr/bin/env bash
# The page of `weft simulate --report` in a headless Chromium: on a phone and a desk, light and
# dark, and in print.
source "$(dirname "$0")/lib.sh"
source "$(dirname "$0")/chromium.sh"

python3 "$(dirname "$0")/report_page.py" || fail "report_page.py"
checks=$((checks + 1))
passed
