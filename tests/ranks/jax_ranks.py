#!/usr/bin/env python3
"""JAX: process i is worker i."""

from rank_scenarios import RankScenarios
from operator_scenarios import main


class JaxRanks(RankScenarios):
    gpus_each = 1

    def test_processes_start_in_order_and_again_after_a_restart_of_the_whole_gang(self):
        self.restarted_ring("jax")


if __name__ == "__main__":
    main()
