#!/usr/bin/env python3
"""PyTorch 1.13, as Debian 12 has it, on real nodes: either rendezvous, and a restart of the gang.

Its torchrun differs from the current one in what Weft depends on: it takes itself for the host of
the C10d rendezvous only by its own host name and addresses, or when it is told so (is_host). And
when a rank fails, its agent waits five minutes for the other agents; here the rank ends its agent.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ranks"))
from rank_scenarios import RankScenarios  # noqa: E402
from operator_scenarios import main  # noqa: E402


class OldTorchRanks(RankScenarios):
    def ring(self, name):
        self.restarted_ring(name, RING_FAILS_BY="agent")

    def test_static(self):
        self.ring("old_torch_static")

    def test_c10d(self):
        self.gpus_each = 1
        self.ring("old_torch_c10d")


if __name__ == "__main__":
    main()
