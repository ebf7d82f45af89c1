#!/usr/bin/env python3
"""TensorFlow: the workers of TF_CONFIG, in order; its collectives order them by text."""

from rank_scenarios import RankScenarios
from operator_scenarios import main


class TensorFlowRanks(RankScenarios):
    gpus_each = 1

    def test_workers_start_in_order(self):
        self.restarted_ring("tensorflow")
        # TensorFlow's own doing: ranks.md says what follows.
        by_text = " ".join(sorted(map(str, range(self.workers))))
        self.assertIn(f"collectives go {by_text}\n", self.logs("ring", 2)[0])


if __name__ == "__main__":
    main()
