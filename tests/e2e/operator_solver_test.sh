#!/usr/bin/env bash
# weft-operator with a solver that crashes on some jobs, on a cluster of deploy/local-cluster.sh.
source "$(dirname "$0")/operator_cluster.sh"

: "${WEFT_POISONED_OPERATOR:?weft-operator with the solver of poisoned_solver.cc}"
WEFT_OPERATOR=$WEFT_POISONED_OPERATOR run_scenarios 8 operator_solver.py
passed
