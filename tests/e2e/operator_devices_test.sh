#!/usr/bin/env bash
# weft-operator on nodes whose GPUs only ResourceSlices tell of: jobs that name a DeviceClass. Bears
# company.
source "$(dirname "$0")/operator_cluster.sh"

run_scenarios 4 operator_devices.py
passed
