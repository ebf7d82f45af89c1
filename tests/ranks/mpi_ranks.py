#!/usr/bin/env python3
"""MPI: whatever the implementation, ranks run in the order of the workers, and again after a
restart of the whole gang. The worker whose rank calls MPI_Abort is blamed where mpirun's last words
name it, else worker 0: peers that lose their connection may have the last words."""

from rank_scenarios import REAL, RankScenarios
from operator_scenarios import main


class MpiRanks(RankScenarios):
    def ring(self, name):
        status = self.restarted_ring(name)
        if REAL:  # the kubelet that is played takes no message from a log
            last = status["lastFailure"]
            if "node" not in last:  # no rank is named, so that no node is to blame
                return self.assertEqual(last["worker"], 0, last)
            self.assertIn(last["worker"], (0, self.workers - 1), last)
            ran_on = {change.thing["spec"].get("nodeName")
                      for change in self.cluster.history.changes(self.space)
                      if change.plural == "pods"
                      and change.thing["metadata"]["name"] == f"ring-1-{last['worker']}"}
            self.assertIn(last["node"], ran_on - {None}, last)

    def test_open_mpi_4(self):
        self.ring("openmpi4")

    def test_open_mpi_5(self):
        self.ring("openmpi5")

    def test_mpich(self):
        self.ring("mpich")

    def test_intel_mpi(self):
        self.ring("intelmpi")


if __name__ == "__main__":
    main()
