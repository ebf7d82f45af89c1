#!/usr/bin/env python3
"""DeepSpeed, through torchrun and through its own launcher without ssh: ranks start in order."""

import os

from rank_scenarios import PROGRAMS, RankScenarios, installed
from operator_scenarios import main

PROGRAM = [os.path.join(PROGRAMS, "torch_ring.py"), "deepspeed"]
OWN_LAUNCHER = ["deepspeed", "--hostfile", "/etc/weft/hostfile", "--no_ssh",
                "--node_rank", "$(WEFT_WORKER_INDEX)", "--master_addr", "$(WEFT_MASTER_ADDR)",
                "--master_port", "$(WEFT_MASTER_PORT)"]


class DeepSpeedRanks(RankScenarios):
    image = "registry.example/deepspeed:1"
    gpus_each = 1

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.images.add(cls.image, [installed("deepspeed")], OMP_NUM_THREADS="1",
                       DS_ACCELERATOR="cpu")

    def ring(self, launcher):
        self.restarted_ring({"type": "DeepSpeed"}, [*launcher, *PROGRAM])

    def test_under_torchrun(self):
        self.ring(["torchrun"])

    def test_its_own_launcher(self):
        self.ring(OWN_LAUNCHER)


if __name__ == "__main__":
    main()
