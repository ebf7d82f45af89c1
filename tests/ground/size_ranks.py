#!/usr/bin/env python3
"""Gangs of other sizes than those of tests/ranks on real nodes: three nodes, and sixteen ranks,
which need nodes of four GPUs."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ranks"))
from rank_scenarios import RankScenarios  # noqa: E402
from operator_scenarios import main  # noqa: E402


class SizeRanks(RankScenarios):
    def ring(self, name, workers, gpus_each):
        framework = self.add_framework(name)
        self.workers, self.gpus_each = workers, gpus_each
        self.apply(self.gang(framework.spec, framework.command()))
        self.ended("ring")
        self.judge_ring("ring")
        self.await_ranks_match("ring", framework.spec)

    def test_sixteen_ranks_of_open_mpi_4(self):
        self.ring("openmpi4", 4, 4)

    def test_sixteen_ranks_of_mpich(self):
        self.ring("mpich", 4, 4)

    def test_sixteen_ranks_of_torch(self):
        self.ring("torch_static", 4, 4)

    def test_three_nodes_of_torch_with_c10d(self):
        # Ranks of a C10d gang are in order of its addresses, and of each one's ranks.
        self.ring("torch_c10d", 3, 2)

    def test_three_nodes_of_jax(self):
        self.ring("jax", 3, 1)


if __name__ == "__main__":
    main()
