#!/usr/bin/env python3
"""DeepSpeed, through torchrun and through its own launcher without ssh: ranks start in order."""

from rank_scenarios import RankScenarios
from operator_scenarios import main


class DeepSpeedRanks(RankScenarios):
    gpus_each = 1

    def test_under_torchrun(self):
        self.restarted_ring("deepspeed_torchrun")

    def test_its_own_launcher(self):
        self.restarted_ring("deepspeed_own_launcher")


if __name__ == "__main__":
    main()
