"""What the rank tests of all frameworks share: nodes with real processes, gangs of twelve, and the
ring of ranks held against the placement.

The kubelets are played (kubelet.py). With WEFT_REAL_NODES=4 they are the four real ones of
`deploy/local-cluster.sh up --real 4 --gpus 4`, and the gangs are of four.
"""

import os
import re
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("WEFT_SOURCE_DIR") or os.path.join(HERE, "..", "..")
sys.path[:0] = [HERE, os.path.join(SOURCE, "tests", "e2e"),
                os.path.join(SOURCE, "deploy", "local-cluster")]
sys.dont_write_bytecode = True
from frameworks import FRAMEWORKS  # noqa: E402
from images import Images  # noqa: E402
import real_nodes  # noqa: E402
from kubelet import Kubelet  # noqa: E402
from operator_lib import training_job  # noqa: E402
from operator_scenarios import Scenarios  # noqa: E402

REAL = real_nodes.COUNT > 0
WORKERS = real_nodes.COUNT or 12  # enough that names do not sort as numbers do
GPUS_EACH = 2
TIER = "fabric.topograph.run/tier-"
LINE = re.compile(r"rank (\d+) of (\d+) on (\S+) node (\S+) after (\S+) at ([0-9.]+)")


def installed(name):
    """Where a framework is. Where it cannot be had the test says so, and fails if nobody looks."""
    try:
        run = subprocess.run([os.path.join(HERE, "install.sh"), name], check=True,
                             stdout=subprocess.PIPE, text=True)
        return run.stdout.strip()
    except subprocess.CalledProcessError as error:
        if os.environ.get("CI") == "true":
            raise
        print(f"NOT TESTED: {name} cannot be installed ({error})", file=sys.stderr, flush=True)
        raise unittest.SkipTest(f"{name} cannot be installed") from error


class RankScenarios(Scenarios):
    """Nodes in three leaves, whose names follow no order that matters."""

    # Ranks that all start at once leave an operator little time to renew a Lease.
    flags = ("--bind-deadline", "30", "--node-loss", "30", "--node-news", "5", "--leader-elect=false")
    workers, gpus_each = WORKERS, GPUS_EACH

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.images = Images()
        kubelet = real_nodes.RealNodes if REAL else Kubelet
        cls.kubelet = kubelet(cls.cluster, cls.images, cls.work.name)
        cls.addClassCleanup(cls.kubelet.close)
        cls.kubelet.add_nodes(cls.__name__.lower(), GPUS_EACH, lambda n: {
            TIER + "0": f"leaf-{n % 3}", TIER + "1": "spine-0"})

    def gang(self, framework, command, name="ring", environment=(), **spec):
        job = training_job(self.space, name, self.workers, gpus=self.gpus_each,
                           framework=framework, **spec)
        pod = job["spec"]["workers"]["template"]["spec"]
        # A first process without a handler of its own ignores SIGTERM.
        pod["terminationGracePeriodSeconds"] = 3
        [container] = pod["containers"]
        container.update(image=self.image, command=command, env=[
            {"name": key, "value": value} for key, value in dict(environment).items()])
        container["resources"]["requests"] = {"cpu": self.kubelet.cpu_of_a_node}  # a node for each
        if framework["type"] == "MPI":  # mpirun's last words name the rank that failed
            container["terminationMessagePolicy"] = "FallbackToLogsOnError"
        self.kubelet.dress(pod, container)
        return job

    def logs(self, name, attempt=1):
        """Of all workers, in order."""
        return [self.kubelet.runtime(pod).log() for pod in
                self.cluster.pods(self.space, name, attempt)]

    def ended(self, name, seconds=600):
        def holds():
            job = self.cluster.job(self.space, name)
            ends = {one["type"] for one in (job or {}).get("status", {}).get("conditions", [])
                    if one["status"] == "True"} & {"Complete", "Failed"}
            return job if ends else None
        job = self.cluster.until(f"{name} has ended", holds, seconds)
        if not any(one["type"] == "Complete" for one in job["status"]["conditions"]):
            self.fail("\n".join([str(job["status"]["conditions"]),
                                 *self.logs(name, job["status"]["attempt"])]))
        return job

    def add_framework(self, name, **environment):
        """One of frameworks.py; its image is the scenario's."""
        framework = FRAMEWORKS[name]
        self.image = f"registry.example/{name.replace('_', '-')}:1"
        folders = [installed(framework.folder)] if framework.folder else []
        self.images.add(self.image, folders, framework.container,
                        **{**framework.environment, **environment})
        return framework

    def restarted_ring(self, name, **environment):
        """A ring whose last rank fails in the first attempt: all start again, in order again."""
        framework = self.add_framework(name, **environment)
        last = str(self.workers * self.gpus_each - 1)
        self.apply(self.gang(framework.spec, framework.command(),
                             environment={"RING_FAILS_ONCE": last},
                             failurePolicy={"maxRestarts": 1}))
        status = self.ended("ring")["status"]
        self.assertEqual((status["attempt"], status["restarts"]), (2, 1))
        self.judge_ring("ring", attempt=2)
        self.await_ranks_match("ring", framework.spec)
        return status

    def await_ranks_match(self, name, framework):
        """Of an MPI job's ranks it never comes: a pod's report is read when its container ends, and
        those of workers 1 and up end after the job has."""
        if framework["type"] != "MPI":
            self.cluster.until_condition(self.space, name, "PlacementVerified", "True",
                                         "RanksMatch")

    def judge_ring(self, name, attempt=1, ranks_each=None, logs=None):
        """Every rank ran on the node that the placement has for its worker, and was preceded on
        the ring by its neighbour there. The first rank's time of the first collective."""
        ranks_each = ranks_each or self.gpus_each
        nodes = self.placed_nodes(name, attempt)
        self.assertEqual(len(set(nodes)), self.workers)
        said = {}
        logs = self.logs(name, attempt) if logs is None else logs
        for match in LINE.finditer("\n".join(logs)):
            rank, world, host, node, before, when = match.groups()
            self.assertNotIn(int(rank), said, "said twice")
            said[int(rank)] = (int(world), host, node, before, float(when))
        world, digits = self.workers * ranks_each, len(str(self.workers - 1))
        self.assertEqual(sorted(said), list(range(world)), logs)
        for rank, (of, host, node, before, _) in said.items():
            worker = rank // ranks_each
            self.assertEqual((of, host, node, before),
                             (world, f"{name}-{worker:0{digits}}", nodes[worker],
                              nodes[(rank - 1) % world // ranks_each]))
        return said[0][-1]
