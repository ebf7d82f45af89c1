#!/usr/bin/env bash
# What of ground.sh fits in a plain run: real kubelets, containers and ranks on four nodes of
# deploy/local-cluster.sh, on a cluster of its own (operator_cluster.sh).
export WEFT_GROUND="ground/deployment.py:DeploymentScenarios
  ground/program_faults.py:ProgramFaults.test_containers_that_fail
  ground/waiting_faults.py:WaitingFaults.test_what_comes_late
  ground/node_faults.py:NodeFaults.test_a_node_that_is_drained
  ranks/mpi_ranks.py:MpiRanks.test_open_mpi_4 ranks/torch_ranks.py:TorchRanks.test_c10d"
# shellcheck source=tests/e2e/ground.sh
source "$(dirname "$0")/ground.sh"
