#!/usr/bin/env python3
"""Custom: a program that knows only what every container has, WEFT_*, and finds peers by name."""

import os

from rank_scenarios import PROGRAMS, RankScenarios
from operator_scenarios import main

RING = ["python3", os.path.join(PROGRAMS, "custom_ring.py")]


class CustomRanks(RankScenarios):
    image = "registry.example/custom:1"
    gpus_each = 1

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.images.add(cls.image)

    def test_workers_start_in_order_and_again_after_a_restart_of_the_whole_gang(self):
        self.restarted_ring({"type": "Custom"}, RING)


if __name__ == "__main__":
    main()
