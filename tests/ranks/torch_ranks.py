#!/usr/bin/env python3
"""PyTorch under torchrun: ranks start in the placed order, with either rendezvous, and again after
a restart of the whole gang."""

from rank_scenarios import RankScenarios
from operator_scenarios import main


class TorchRanks(RankScenarios):
    def test_static(self):
        status = self.restarted_ring("torch_static")
        self.assertEqual(status["lastFailure"]["worker"], self.workers - 1)

    def test_static_with_one_rank_each(self):
        self.gpus_each = 1
        framework = self.add_framework("torch_static")
        self.apply(self.gang(framework.spec, framework.command()))
        self.ended("ring")
        self.judge_ring("ring")

    def test_c10d(self):
        self.gpus_each = 1
        self.restarted_ring("torch_c10d")


if __name__ == "__main__":
    main()
