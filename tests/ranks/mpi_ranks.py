#!/usr/bin/env python3
"""MPI: whatever the implementation, ranks run in the order of the workers."""

import os

from rank_scenarios import PROGRAMS, RankScenarios, installed
from operator_scenarios import main

PROGRAM = ["python", os.path.join(PROGRAMS, "mpi_ring.py")]


class MpiRanks(RankScenarios):
    def ring(self, release, implementation, launcher=("mpirun",), **spec):
        self.image = f"registry.example/{release}:1"
        self.images.add(self.image, [installed(release)])
        self.apply(self.gang({"type": "MPI", "mpi": {"implementation": implementation}},
                             [*launcher, *PROGRAM], **spec))
        job = self.ended("ring")
        self.judge_ring("ring", job["status"]["attempt"])
        return job

    def test_open_mpi_4_and_again_after_a_restart_of_the_whole_gang(self):
        job = self.ring("openmpi4", "OpenMPI", environment={"RING_FAILS_ONCE": "23"},
                        failurePolicy={"maxRestarts": 1})
        self.assertEqual((job["status"]["attempt"], job["status"]["restarts"]), (2, 1))

    def test_open_mpi_5(self):
        self.ring("openmpi5", "OpenMPI")

    def test_mpich(self):
        self.ring("mpich", "MPICH")

    def test_intel_mpi(self):
        # Else worker 0's environment replaces the others' own.
        self.ring("intelmpi", "Intel", ["mpirun", "-genvnone"])


if __name__ == "__main__":
    main()
