"""What every file of scenarios of weft-operator builds on."""

import os
import tempfile
import unittest

from operator_laws import broken_laws
from operator_lib import Cluster, Operator, slowness

# Gangs that are refused or lost are to be noticed within a test's patience; one that is meant to be
# bound must be bound by the deadline, however busy the machine is.
QUICK = ("--bind-deadline", str(round(5 * slowness())), "--node-loss", "3", "--node-news", "3")
# Where few gangs are refused.
PATIENT = ("--bind-deadline", str(round(30 * slowness())), *QUICK[2:])


class Scenarios(unittest.TestCase):
    """One operator for all of a class, a namespace for each test; the laws hold at the end."""

    operator_type = Operator
    flags = QUICK
    watched = ("pods", "trainingjobs", "placements")
    lost_nodes = ()  # those that a scenario takes away for good

    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.work.cleanup)
        cls.cluster = Cluster(cls.watched)
        cls.addClassCleanup(cls.cluster.close)
        cls.operator = cls.operator_type(cls.work.name, cls.__name__.lower(), *cls.flags)
        # A scenario may put another in its place.
        cls.addClassCleanup(lambda: cls.operator.stop())  # pylint: disable=unnecessary-lambda

    def setUp(self):
        name = self.id().rsplit(".", maxsplit=1)[-1].removeprefix("test_")
        self.space = name.replace("_", "-")[:60].rstrip("-")
        self.cluster.make_namespace(self.space)
        self.addCleanup(self.clean)

    def clean(self):
        """Nothing is left to hold nodes that the next scenario needs."""
        outcome = self._outcome.result
        if outcome.failures or outcome.errors:
            print(self.operator.tail(), flush=True)
        cluster = self.cluster
        cluster.delete("trainingjobs", self.space)
        cluster.delete("pods", self.space)
        cluster.until("the jobs are gone", lambda: not (
            cluster.history.all_now("trainingjobs", self.space)
            or cluster.history.all_now("pods", self.space)))
        cluster.delete("namespaces", "", self.space)
        self.assertEqual(broken_laws(cluster.history.changes(self.space), self.lost_nodes), [])

    def apply(self, job):
        return self.cluster.create("trainingjobs", job)

    def placed_nodes(self, name, attempt=1):
        placement = self.cluster.get("placements", self.space, f"{name}-{attempt}")
        return placement["status"]["nodes"]

    def nodes_of_pods(self, name, attempt=1):
        return [pod["spec"].get("nodeName")
                for pod in self.cluster.pods(self.space, name, attempt)]


def main():
    os.environ.setdefault("WEFT_OPERATOR", "build/bin/weft-operator")
    # Waits are long, and a run of all tests has an end: the first failure says enough.
    unittest.main(verbosity=2, failfast=True)
