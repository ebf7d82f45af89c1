#!/usr/bin/env bash
# What the campaign `mutants` takes for a mutant.
source "$(dirname "$0")/lib.sh"

expect_exit 0 python3 "$(dirname "$0")/../mutants/cpp_source_test.py"
passed
