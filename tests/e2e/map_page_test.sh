#!/usr/bin/env bash
# The operator's page /map in a headless Chromium, on a cluster of deploy/local-cluster.sh: jobs in
# colour, why they are there, a picture.
source "$(dirname "$0")/operator_cluster.sh"
source "$(dirname "$0")/chromium.sh"

run_scenarios 96 map_page.py
passed
