#!/usr/bin/env bash
# What of ranks.sh fits in a plain run: what pods report of themselves, and the ranks of each kind
# of launcher. On a cluster of deploy/local-cluster.sh of its own (operator_cluster.sh).
export WEFT_RANKS="verify_ranks.py mpi_ranks.py:MpiRanks.test_open_mpi_4 jax_ranks.py
  tensorflow_ranks.py torch_ranks.py:TorchRanks.test_static_with_one_rank_each"
# shellcheck source=tests/e2e/ranks.sh
source "$(dirname "$0")/ranks.sh"

# The bench that measures GPUs, in the form that needs none.
torch=$("$here/../ranks/install.sh" torch 2>"$work/stderr")
expect_exit 0 "$torch/bin/python3" "$here/../bench/gpu_calibrate.py" --device cpu --small \
  --weft "$WEFT" --accelerator H100
expect_text "$work/stdout" 'weft outlook: '
