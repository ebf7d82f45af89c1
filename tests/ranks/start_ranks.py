#!/usr/bin/env python3
"""What Weft adds between the last pod that runs and the first collective, with 12 workers: in pairs
with the same commands, environment and files started by hand."""

import os
import statistics

from by_hand import run_again
from images import PROGRAMS
from rank_scenarios import RankScenarios
from operator_scenarios import main

RING = ["mpirun", "python", os.path.join(PROGRAMS, "mpi_ring.py")]
PAIRS = int(os.environ.get("WEFT_PAIRS", "3"))
SECONDS_AT_MOST = 2


class Start(RankScenarios):
    gpus_each = 1

    def test_the_first_collective_is_no_later_than_by_hand(self):
        self.add_framework("openmpi4")
        differences = []
        for pair in range(PAIRS):
            name = f"ring{pair}"
            self.apply(self.gang({"type": "MPI"}, RING, name=name))
            self.ended(name)
            placed = self.judge_ring(name)
            runtimes = [self.kubelet.runtime(pod) for pod in self.cluster.pods(self.space, name)]
            placed -= max(runtime.running_since for runtime in runtimes)
            folder = os.path.join(self.work.name, f"by-hand-{pair}")
            logs, started = run_again(self.kubelet.network, runtimes, folder)
            by_hand = self.judge_ring(name, logs=logs) - started
            print(f"placed {placed:.2f} s, by hand {by_hand:.2f} s", flush=True)
            differences.append(placed - by_hand)
            self.cluster.delete("trainingjobs", self.space, name)
            self.cluster.until_no_job(self.space, name)
        self.assertLess(statistics.median(differences), SECONDS_AT_MOST, differences)


if __name__ == "__main__":
    main()
