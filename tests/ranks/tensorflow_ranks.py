#!/usr/bin/env python3
"""TensorFlow: the workers of TF_CONFIG, in order; its collectives order them by text."""

import os

from rank_scenarios import PROGRAMS, RankScenarios, installed
from operator_scenarios import main

RING = ["python", os.path.join(PROGRAMS, "tensorflow_ring.py")]


class TensorFlowRanks(RankScenarios):
    image = "registry.example/tensorflow:1"
    gpus_each = 1

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.images.add(cls.image, [installed("tensorflow")], TF_CPP_MIN_LOG_LEVEL="2")

    def test_workers_start_in_order(self):
        self.restarted_ring({"type": "TensorFlow"}, RING)
        # TensorFlow's own doing: ranks.md says what follows.
        by_text = " ".join(sorted(map(str, range(self.workers))))
        self.assertIn(f"collectives go {by_text}\n", self.logs("ring", 2)[0])


if __name__ == "__main__":
    main()
