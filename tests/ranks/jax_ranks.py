#!/usr/bin/env python3
"""JAX: process i is worker i."""

import os

from rank_scenarios import PROGRAMS, RankScenarios, installed
from operator_scenarios import main

RING = ["python", os.path.join(PROGRAMS, "jax_ring.py")]


class JaxRanks(RankScenarios):
    image = "registry.example/jax:1"
    gpus_each = 1

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.images.add(cls.image, [installed("jax")], JAX_PLATFORMS="cpu")

    def test_processes_start_in_order_and_again_after_a_restart_of_the_whole_gang(self):
        self.restarted_ring({"type": "JAX"}, RING)


if __name__ == "__main__":
    main()
