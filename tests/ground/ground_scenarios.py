"""What the scenarios on real kubelets share: gangs of small programs, nodes whose parts fail, and
how long after the kubelet a job's condition tells why.

They need a cluster of `deploy/local-cluster.sh up --real 4 --gpus 4` with the image of
`tests/ground/image.sh ranks`.
"""

import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("WEFT_SOURCE_DIR") or os.path.join(HERE, "..", "..")
sys.path[:0] = [HERE, os.path.join(SOURCE, "tests", "e2e"),
                os.path.join(SOURCE, "deploy", "local-cluster")]
sys.dont_write_bytecode = True
from gangs import cued_gang  # noqa: E402
from operator_lib import condition, slowness  # noqa: E402
from operator_scenarios import Scenarios, main  # noqa: E402,F401  pylint: disable=unused-import
import faults  # noqa: E402
import real_node  # noqa: E402

GPUS_EACH = int(os.environ.get("WEFT_REAL_GPUS", "4"))  # of a node
TOLD_SECONDS = 10  # from the kubelet's knowing to a condition, on a machine at rest
JUDGES_TIMES = os.environ.get("WEFT_JUDGE_TIMES") == "1"  # as campaigns do; else they are printed
JITTER_SECONDS = 1  # between what two watches tell
LONG_SECONDS = 600  # for what takes a kubelet its time, on a machine that does much else
NO_FAULT = ("ContainerCreating", "PodInitializing")

# Parts of a worker's program. Its first process has no handler of SIGTERM but its own.
ENDS_WHEN_TOLD = "trap 'exit 143' TERM; "
FIRST_ATTEMPT = '[ "$WEFT_ATTEMPT" = 1 ] && '
WORKER_1 = '[ "$WEFT_WORKER_INDEX" = 1 ] && '
UNTIL_CUE = "until [ -e /cue/go ]; do sleep 0.2 & wait $!; done; "
FOR_EVER = "while :; do sleep 1 & wait $!; done; "


def statuses_of(pod):
    status = pod.get("status", {})
    return status.get("initContainerStatuses", []) + status.get("containerStatuses", [])


def has_failed(pod):
    """As the kubelet tells."""
    ends = [one.get("state", {}).get("terminated") for one in statuses_of(pod)]
    return pod.get("status", {}).get("phase") == "Failed" or any(
        one and one["exitCode"] != 0 for one in ends)


def waits(pod):
    """For something that the kubelet names."""
    return any(one.get("state", {}).get("waiting", {}).get("reason", NO_FAULT[0]) not in NO_FAULT
               for one in statuses_of(pod))


def is_restarting(job):
    return (condition(job, "Restarting") or {}).get("status") == "True"


def has_ended(job):
    for kind in ("Complete", "Failed"):
        if (condition(job, kind) or {}).get("status") == "True":
            return kind
    return None


class GroundScenarios(Scenarios):
    flags = faults.FLAGS
    watched = ("pods", "trainingjobs", "placements", "events", "nodes")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.seen = {}  # (kind, version) -> when the change was seen
        cls.cluster.history.observers.append(cls.note)
        cls.nodes = real_node.all_nodes(cls.cluster)

    @classmethod
    def note(cls, change):
        cls.seen[change.plural, change.version] = time.time()

    def setUp(self):
        super().setUp()
        self.lost_nodes = []  # for the laws, which are told no times: to the scenario's end
        self.cue_folder = os.path.join(self.work.name, self.space)
        os.mkdir(self.cue_folder)

    # -- gangs

    def gang(self, name, program, workers=2, gpus=1, **spec):
        """Whose containers run a program of bash; /cue is one folder for all the scenario's."""
        return cued_gang(self.space, name, program, self.cue_folder, workers, gpus, **spec)

    def cue(self, name="go"):
        """The gangs that wait for it go on; those that wait for "go" end."""
        with open(os.path.join(self.cue_folder, name), "w", encoding="ascii"):
            pass

    # -- ends

    def until_ended(self, name, kind, attempt=None, reason=None, seconds=LONG_SECONDS):
        def holds():
            job = self.cluster.job(self.space, name)
            return job if has_ended(job) else None
        job = self.cluster.until(f"{self.space}/{name} has ended", holds, seconds)
        told = [(one["type"], one["status"], one.get("reason"), one.get("message"))
                for one in job["status"]["conditions"]]
        self.assertEqual(has_ended(job), kind, told)
        if attempt is not None:
            self.assertEqual(job["status"]["attempt"], attempt, told)
        if reason is not None:
            self.assertEqual(condition(job, kind)["reason"], reason, told)
        return job

    # -- times

    def first(self, plural, holds, what, after=0.0):
        """When it was first so, of this namespace's or all objects."""
        for change in self.cluster.history.changes():
            space = change.thing["metadata"].get("namespace", self.space)
            when = self.seen.get((change.plural, change.version), 0.0)
            if change.plural == plural and space == self.space and when >= after and holds(
                    change.thing):
                return when
        return self.fail(f"never seen: {what}")

    def pod_is(self, name, holds):
        return lambda pod: (pod["metadata"].get("labels", {}).get("weft.dev/job-name") == name
                            and holds(pod))

    def event_of(self, name, *reasons):
        return lambda event: (event["involvedObject"]["kind"] == "Pod"
                              and event["involvedObject"]["name"].startswith(name + "-")
                              and event["reason"] in reasons)

    def job_is(self, name, holds):
        return lambda job: job["metadata"]["name"] == name and holds(job)

    # pylint: disable-next=too-many-arguments,too-many-positional-arguments
    def judge_telling(self, fault, name, knows, tells, since=None, after=0.0, begin="the fault"):
        """`knows` is (kind, predicate of an object), `tells` a predicate of the job. Prints how
        long the condition took after the kubelet, and after `since`, which `begin` names."""
        plural, known = knows
        knew = self.first(plural, known, f"{fault}: the kubelet knows", after)
        told = self.first("trainingjobs", self.job_is(name, tells), f"{fault}: a condition",
                          after)
        whole = "" if since is None else f", {told - since:.1f} s after {begin}"
        print(f"{fault}: told {max(0.0, told - knew):.1f} s after the kubelet{whole}", flush=True)
        if not JUDGES_TIMES:
            return
        # A busy API server's answers are late, and the operator then asks it less often.
        self.assertLessEqual(told - knew, TOLD_SECONDS * slowness(), fault)
        self.assertGreaterEqual(told - knew, -JITTER_SECONDS * slowness(),
                                f"{fault}: told before it was known")

    def clean(self):
        """As everywhere; and the nodes are as they were."""
        for node in self.nodes:
            node.make_unhealthy()
        super().clean()
        self.cluster.until("all GPUs are there", self.all_healthy, LONG_SECONDS)

    def all_healthy(self):
        nodes = {one["metadata"]["name"]: one for one in self.cluster.history.all_now("nodes")}
        return all(faults.is_well(nodes[node.name], GPUS_EACH) for node in self.nodes)

    def node_of(self, name, worker=0, attempt=1):
        return real_node.Node(self.placed_nodes(name, attempt)[worker])
