#!/usr/bin/env python3
"""MPI: whatever the implementation, ranks run in the order of the workers, and again after a
restart of the whole gang. The worker whose rank calls MPI_Abort is blamed, not that of mpirun."""

import os

from rank_scenarios import PROGRAMS, REAL, RankScenarios
from operator_scenarios import main

PROGRAM = ["python", os.path.join(PROGRAMS, "mpi_ring.py")]


class MpiRanks(RankScenarios):
    def ring(self, release, implementation, launcher=("mpirun",)):
        self.add_mpi(release)
        status = self.restarted_ring({"type": "MPI", "mpi": {"implementation": implementation}},
                                     [*launcher, *PROGRAM])
        if REAL:  # the kubelet that is played takes no message from a log
            last = status["lastFailure"]
            self.assertEqual((last["worker"], last["node"]),
                             (self.workers - 1, self.placed_nodes("ring", 1)[-1]), last)

    def test_open_mpi_4(self):
        self.ring("openmpi4", "OpenMPI")

    def test_open_mpi_5(self):
        self.ring("openmpi5", "OpenMPI")

    def test_mpich(self):
        self.ring("mpich", "MPICH")

    def test_intel_mpi(self):
        # Else worker 0's environment replaces the others' own.
        self.ring("intelmpi", "Intel", ["mpirun", "-genvnone"])


if __name__ == "__main__":
    main()
