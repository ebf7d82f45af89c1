#!/usr/bin/env python3
"""PyTorch under torchrun: ranks start in the placed order, with either rendezvous, and again after
a restart of the whole gang."""

import os

from rank_scenarios import PROGRAMS, RankScenarios, installed
from operator_scenarios import main

RING = ["torchrun", os.path.join(PROGRAMS, "torch_ring.py")]


class TorchRanks(RankScenarios):
    image = "registry.example/torch:1"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.images.add(cls.image, [installed("torch")], OMP_NUM_THREADS="1")

    def test_static(self):
        status = self.restarted_ring({"type": "Torch"}, RING)
        self.assertEqual(status["lastFailure"]["worker"], self.workers - 1)

    def test_static_with_one_rank_each(self):
        self.gpus_each = 1
        self.apply(self.gang({"type": "Torch"}, RING))
        self.ended("ring")
        self.judge_ring("ring")

    def test_c10d(self):
        self.gpus_each = 1
        self.restarted_ring({"type": "Torch", "torch": {"rendezvous": "C10d"}}, RING)


if __name__ == "__main__":
    main()
