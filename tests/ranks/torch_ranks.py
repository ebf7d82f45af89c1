#!/usr/bin/env python3
"""PyTorch under torchrun: ranks start in the placed order, with either rendezvous."""

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

    def test_static_and_again_after_a_restart_of_the_whole_gang(self):
        self.apply(self.gang({"type": "Torch"}, RING, environment={"RING_FAILS_ONCE": "23"},
                             failurePolicy={"maxRestarts": 1}))
        job = self.ended("ring")
        self.assertEqual((job["status"]["attempt"], job["status"]["restarts"]), (2, 1))
        self.assertEqual(job["status"]["lastFailure"]["worker"], 11)
        self.judge_ring("ring", attempt=2)

    def test_c10d(self):
        self.gpus_each = 1
        self.apply(self.gang({"type": "Torch", "torch": {"rendezvous": "C10d"}}, RING))
        self.ended("ring")
        self.judge_ring("ring")


if __name__ == "__main__":
    main()
