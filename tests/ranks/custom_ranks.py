#!/usr/bin/env python3
"""Custom: a program that knows only what every container has, WEFT_*, and finds peers by name."""

from rank_scenarios import RankScenarios
from operator_scenarios import main


class CustomRanks(RankScenarios):
    gpus_each = 1

    def test_workers_start_in_order_and_again_after_a_restart_of_the_whole_gang(self):
        self.restarted_ring("custom")


if __name__ == "__main__":
    main()
