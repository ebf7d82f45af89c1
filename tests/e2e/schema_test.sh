#!/usr/bin/env bash
# The definitions in a real API server judge the table of objects: see schema_test.py.
source "$(dirname "$0")/cluster_lib.sh"

enter_cluster
expect_exit 0 python3 "$(dirname "$0")/schema_test.py"
cat "$work/stdout"
passed
