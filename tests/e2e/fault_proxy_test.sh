#!/usr/bin/env bash
# The fault proxy of tests/faults by itself, before a small scripted server.
source "$(dirname "$0")/lib.sh"

expect_exit 0 python3 "$(dirname "$0")/../faults/proxy_test.py"
passed
