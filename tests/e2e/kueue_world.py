"""A cluster with the real managers of Kueue and JobSet: queues, queued jobs, and what must hold."""

import contextlib
import json
import os
import signal
import subprocess
import time

from operator_lib import GPUS, PATIENCE_SECONDS, ROOTS, Cluster, condition, poll, start_managers
from operator_laws import GPUS_OF_A_NODE, gpus_of, has_ended, nodes_of
from operator_scenarios import Scenarios

KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
ROOTS.update({"workloads": KUEUE, "admissionchecks": KUEUE, "localqueues": KUEUE,
              "clusterqueues": KUEUE,
              "jobsets": "/apis/jobset.x-k8s.io/v1alpha2",
              "trainjobs": "/apis/trainer.kubeflow.org/v1alpha1",
              "clustertrainingruntimes": "/apis/trainer.kubeflow.org/v1alpha1"})
GATE = LABEL = "weft.dev/placement"
CHECK = "placement"
QUEUES = ("team-a", "team-b")  # each with half of the nodes, and may borrow the other half
NODES = 32

# One flavor, one check, two ClusterQueues that lend to each other and take back.
OBJECTS = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: gpu}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: {name: %s}
spec: {controllerName: weft.dev/placement}
""" % CHECK
CLUSTER_QUEUE = """---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: %(name)s}
spec:
  namespaceSelector: {}
  cohortName: all
  preemption: {reclaimWithinCohort: Any, withinClusterQueue: LowerPriority}
  admissionChecksStrategy: {admissionChecks: [{name: %(check)s}]}
  resourceGroups:
  - coveredResources: [cpu, memory, nvidia.com/gpu]
    flavors:
    - name: gpu
      resources:
      - {name: cpu, nominalQuota: 100000}
      - {name: memory, nominalQuota: 1000Ti}
      - {name: nvidia.com/gpu, nominalQuota: %(gpus)d}
"""


def apply(text):
    """Kueue's webhooks may not be reachable in the first moments."""
    def applied():
        return subprocess.run(["kubectl", "apply", "--server-side", "-f", "-"], input=text,
                              text=True, capture_output=True, check=False).returncode == 0
    poll(applied, "the objects are applied")


def start_peers(*names):
    start_managers(os.environ["WEFT_PEERS_PROGRAM"], os.environ["WEFT_PEERS_WORK"], *names)


RESTARTED = []  # Popen objects, which would warn of a program that outlives them


def kill_peer(name):
    """As a kubelet starts a container again that was killed: the same program, arguments and ports."""
    file = os.path.join(os.environ["WEFT_PEERS_WORK"], name)
    with open(file + ".pid", encoding="utf-8") as pid:
        victim = int(pid.read())
    with open(f"/proc/{victim}/cmdline", "rb") as line:
        command = [word.decode() for word in line.read().split(b"\0")[:-1]]
    os.kill(victim, signal.SIGKILL)
    with open(file + ".log", "ab") as log:
        RESTARTED.append(subprocess.Popen(command, stdout=log, stderr=log,
                                          stdin=subprocess.DEVNULL, start_new_session=True))
    with open(file + ".pid", "w", encoding="utf-8") as pid:
        pid.write(str(RESTARTED[-1].pid))


def make_queues(nodes=NODES):
    apply(OBJECTS + "".join(CLUSTER_QUEUE % {
        "name": name, "check": CHECK, "gpus": nodes * GPUS_OF_A_NODE // len(QUEUES)}
        for name in QUEUES))


def template(gpus, annotations):
    return {"metadata": {"annotations": annotations},
            "spec": {"restartPolicy": "Never", "containers": [
                {"name": "trainer", "image": "registry.example/train:1",
                 "resources": {"limits": {GPUS: gpus}}}]}}


def played(run_seconds, annotations):
    return {"weft.test/run-seconds": str(10**6 if run_seconds is None else run_seconds),
            **(annotations or {})}


def gpus_job(space, name, pods, run_seconds=None, annotations=None, gpus=GPUS_OF_A_NODE):
    """An Indexed Job; it runs for ever where no run_seconds are given."""
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": space},
            "spec": {"completionMode": "Indexed", "completions": pods, "parallelism": pods,
                     "podFailurePolicy": {"rules": [
                         {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]},
                     "template": template(gpus, played(run_seconds, annotations))}}


def job_set(space, name, jobs, run_seconds=None, gpus=GPUS_OF_A_NODE):
    """jobs: of each replicatedJob how many Jobs of how many pods."""
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
            "metadata": {"name": name, "namespace": space},
            "spec": {"replicatedJobs": [
                {"name": part, "replicas": replicas, "template": {"spec": {
                    "parallelism": pods, "completions": pods,
                    "template": template(gpus, played(run_seconds, None))}}}
                for part, (replicas, pods) in jobs.items()]}}


# What a TrainJob names: one replicated job of as many pods as the TrainJob says.
RUNTIME = {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "ClusterTrainingRuntime",
           "metadata": {"name": "queued", "labels": {"trainer.kubeflow.org/framework": "torch"}},
           "spec": {"mlPolicy": {"numNodes": 1, "torch": {}}, "template": {"spec": {"replicatedJobs": [
               {"name": "node", "template": {
                   "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
                   "spec": {"template": {"spec": {"containers": [
                       {"name": "node", "image": "registry.example/train:1"}]}}}}}]}}}}


def train_job(space, name, pods, run_seconds=None, annotations=None):
    notes = {"metadata": {"annotations": played(run_seconds, annotations)}}
    return {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob",
            "metadata": {"name": name, "namespace": space},
            "spec": {"runtimeRef": {"name": "queued"},
                     "trainer": {"numNodes": pods,
                                 "resourcesPerNode": {"limits": {GPUS: GPUS_OF_A_NODE}}},
                     "runtimePatches": [{"manager": "example.com/users", "trainingRuntimeSpec": {
                         "template": {"spec": {"replicatedJobs": [
                             {"name": "node", "template": {"spec": {"template": notes}}}]}}}}]}}


def has(thing, kind):
    return (condition(thing, kind) or {}).get("status") == "True"


def checks_of(workload):
    return workload.get("status", {}).get("admissionChecks", [])


def owner_of(thing):
    return next((one["name"] for one in thing["metadata"].get("ownerReferences", [])
                 if one.get("controller")), "")


class Held:
    """Which nodes are held, change by change: by pods that are bound and have not ended, and by
    workers of Placements whose pods are not bound yet."""

    def __init__(self):
        self.pods, self.placements = {}, {}

    def take(self, change):
        kept = {"pods": self.pods, "placements": self.placements}.get(change.plural)
        if kept is None:
            return
        key = change.thing["metadata"]["namespace"], change.thing["metadata"]["name"]
        if change.type == "DELETED":
            kept.pop(key, None)
        else:
            kept[key] = change.thing

    def gpus(self):
        """By node: what is held there, of whom."""
        held = {}
        seated = {}
        for (space, name), pod in self.pods.items():
            node = pod["spec"].get("nodeName")
            if not node:
                continue
            gang = space, pod["metadata"].get("labels", {}).get(LABEL)
            seated.setdefault(gang, []).append(node)
            if not has_ended(pod) and gpus_of(pod):
                held.setdefault(node, []).append((name, gpus_of(pod)))
        for (space, name), placement in self.placements.items():
            there = list(seated.get((space, name), []))
            for node in nodes_of(placement):
                if node in there:
                    there.remove(node)
                else:
                    held.setdefault(node, []).append(
                        (name, placement["spec"]["accelerator"]["perWorker"]))
        return held


def double_held(changes):
    """Sentences about nodes of which more was held than they have, at any moment."""
    world, broken = Held(), []
    for change in changes:
        world.take(change)
        if change.plural not in ("pods", "placements"):
            continue
        for node, holders in world.gpus().items():
            if sum(gpus for _, gpus in holders) > GPUS_OF_A_NODE:
                broken.append(f"version {change.version}: {node}: {sorted(holders)}")
                if len(broken) > 5:
                    return broken
    return broken


UNITS = {"m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15,
         **{f"{prefix}i": 2.0**(10 * (i + 1)) for i, prefix in enumerate("KMGTP")}}


NEARLY = 1 + 1e-9  # sums of numbers with fractions


def amount(text):
    """A quantity of Kubernetes as a number."""
    text = str(text)
    unit = text.lstrip("0123456789.")
    return float(text.removesuffix(unit)) * UNITS.get(unit, 1)


def usage_of(workload):
    """What counts against the quota: by ClusterQueue, flavor and resource. Kueue takes the quota of
    pods that have succeeded back while the others still run."""
    admission = workload.get("status", {}).get("admission")
    if not admission or not has(workload, "QuotaReserved") or has(workload, "Finished"):
        return {}
    used = {}
    left = {one["name"]: one["count"] for one in workload["spec"]["podSets"]}
    for one in workload["status"].get("reclaimablePods", []):
        left[one["name"]] -= one["count"]
    for assigned in admission.get("podSetAssignments", []):
        # Of a job that was admitted again after some pods had succeeded, only the others are assigned.
        held = min(1, left[assigned["name"]] / max(1, assigned["count"]))
        for resource, flavor in assigned.get("flavors", {}).items():
            key = admission["clusterQueue"], flavor, resource
            usage = amount(assigned.get("resourceUsage", {}).get(resource, 0))
            used[key] = used.get(key, 0) + held * usage
    return used


class Quota:
    """Of ClusterQueues: what each may use, and what those of one cohort may use together."""

    def __init__(self, cluster_queues):
        self.most, self.cohorts, self.cohort_of = {}, {}, {}
        for queue in cluster_queues:
            name, spec = queue["metadata"]["name"], queue["spec"]
            cohort = self.cohort_of[name] = spec.get("cohortName") or f"queue {name}"
            for group in spec["resourceGroups"]:
                for flavor in group["flavors"]:
                    for one in flavor["resources"]:
                        key = flavor["name"], one["name"]
                        nominal = amount(one["nominalQuota"])
                        self.cohorts[cohort, *key] = self.cohorts.get((cohort, *key), 0) + nominal
                        limit = one.get("borrowingLimit")
                        if limit is not None:
                            self.most[name, *key] = nominal + amount(limit)

    def passed(self, used):
        """Sentences about usage, by ClusterQueue, flavor and resource, that is more than allowed."""
        cohorts = {}
        for (queue, *key), value in used.items():
            cohort = (self.cohort_of[queue], *key)
            cohorts[cohort] = cohorts.get(cohort, 0) + value
        return ([f"ClusterQueue {key} uses {used[key]} of {most}" for key, most in self.most.items()
                 if used.get(key, 0) > most * NEARLY] +
                [f"cohort {key} uses {value} of {self.cohorts.get(key, 0)}"
                 for key, value in cohorts.items() if value > self.cohorts.get(key, 0) * NEARLY])


def quota_passed(changes, quota):
    """Sentences about quota that was passed, after any change; and how many sums were checked."""
    held, total, broken, checked = {}, {}, [], 0
    for change in changes:
        if change.plural != "workloads":
            continue
        uid = change.thing["metadata"]["uid"]
        before = held.get(uid, {})
        now = {} if change.type == "DELETED" else usage_of(change.thing)
        if now == before:
            continue
        held[uid] = now
        for key in {*before, *now}:
            total[key] = total.get(key, 0) - before.get(key, 0) + now.get(key, 0)
        checked += 1
        broken += [f"version {change.version}: {one}" for one in quota.passed(total)]
    return broken, checked


@contextlib.contextmanager
def node_fillers(scenario, free):
    """Pods outside of any queue that hold all nodes but so many."""
    cluster, space = scenario.cluster, scenario.space
    nodes = sorted(node["metadata"]["name"] for node in cluster.list("nodes"))
    for node in nodes[free:]:
        pod = template(GPUS_OF_A_NODE, played(None, None))
        pod["metadata"].update({"name": f"filler-{node}", "namespace": space,
                                "labels": {"filler": "yes"}})
        pod["spec"]["nodeName"] = node
        cluster.create("pods", pod)
    yield
    cluster.call("DELETE", cluster.path("pods", space) + "?labelSelector=filler%3Dyes", {})


class KueueScenarios(Scenarios):
    """The operator starts before the managers of Kueue, JobSet and Trainer do."""

    before_kueue, noticed_seconds = "", None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        poll(lambda: "synced" in cls.operator.said(), "the operator has read the cluster")
        cls.before_kueue = cls.operator.said()
        if not os.path.exists(os.environ["WEFT_PEERS_WORK"]):  # of an earlier file of scenarios
            start_peers("kueue", "jobset", "trainer")
        make_queues()
        begin = time.monotonic()
        poll(lambda: has(cls.cluster.get("admissionchecks", "", CHECK), "Active"),
             "the check is active")
        cls.noticed_seconds = time.monotonic() - begin
        cls.cluster.close()
        cls.cluster = Cluster(("pods", "placements", "trainingjobs", "workloads"))
        cls.addClassCleanup(cls.cluster.close)

    def setUp(self):
        super().setUp()
        for name in QUEUES:
            apply(json.dumps({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue",
                              "metadata": {"name": name, "namespace": self.space},
                              "spec": {"clusterQueue": name}}))

    def clean(self):
        for plural in ("trainjobs", "jobsets", "jobs", "trainingjobs"):
            self.cluster.delete(plural, self.space, options={"propagationPolicy": "Background"})
            poll(lambda kind=plural: not self.cluster.list(kind, self.space), "no jobs are left")
        self.cluster.until("no Workload is left",
                           lambda: not self.cluster.history.all_now("workloads", self.space))
        super().clean()

    def queue(self, job, queue=QUEUES[0]):
        job["metadata"].setdefault("labels", {})["kueue.x-k8s.io/queue-name"] = queue
        return self.cluster.create(job["kind"].lower() + "s", job)

    def remove(self, plural, name):
        self.cluster.delete(plural, self.space, name, {"propagationPolicy": "Background"})
        self.cluster.until(f"the Workload of {name} is gone", lambda: self.workload(name) is None)

    def workload(self, owner):
        return next((one for one in self.cluster.history.all_now("workloads", self.space)
                     if owner_of(one) == owner), None)

    def until_workload(self, owner, holds, expectation, seconds=PATIENCE_SECONDS):
        def held():
            one = self.workload(owner)
            return one if one and holds(one) else None
        return self.cluster.until(f"{self.space}/{owner}: {expectation}", held, seconds)

    def until_finished(self, owner, seconds=PATIENCE_SECONDS):
        done = self.until_workload(owner, lambda one: has(one, "Finished"), "it ends", seconds)
        return condition(done, "Finished")

    def until_check(self, owner, state, text):
        """Weft's entry, once it has this state and text."""
        def says(one):
            return any(check["state"] == state and text in check.get("message", "")
                       for check in checks_of(one))
        return checks_of(self.until_workload(owner, says, f"{state} with '{text}'"))[0]

    def until_running(self, owner, pods, without=None):
        def run():
            up = [pod for pod in self.cluster.history.all_now("pods", self.space)
                  if pod["metadata"].get("labels", {}).get("batch.kubernetes.io/job-name") == owner
                  and pod.get("status", {}).get("phase") == "Running"
                  and "deletionTimestamp" not in pod["metadata"]
                  and pod["metadata"]["uid"] != without]
            return len(up) == pods
        self.cluster.until(f"{pods} pods of {owner} run", run)

    def check(self, name):
        return self.cluster.get("admissionchecks", "", name)

    def placements(self, ever=False):
        if not ever:
            return self.cluster.history.all_now("placements", self.space)
        found = {}
        for change in self.cluster.history.changes(self.space):
            if change.plural == "placements" and nodes_of(change.thing):
                found[change.thing["metadata"]["uid"]] = change.thing
        return list(found.values())

    def pods_of(self, placement):
        """As they were last, by Placement."""
        pods = {}
        for change in self.cluster.history.changes(self.space):
            labels = change.thing["metadata"].get("labels", {})
            if change.plural == "pods" and labels.get(LABEL) == placement["metadata"]["name"]:
                pods[change.thing["metadata"]["uid"]] = change.thing
        return list(pods.values())

    def changes(self, plural, thing):
        return [change for change in self.cluster.history.changes(self.space)
                if change.plural == plural
                and change.thing["metadata"]["uid"] == thing["metadata"]["uid"]]

    def assert_order(self, owner, workers, sets=1):
        """Nodes, then the answer, then admission, then gated pods, each bound to its worker's node.
        The Placements."""
        workload = self.workload(owner)
        placements = [one for one in self.placements(ever=True)
                      if owner_of(one) == workload["metadata"]["name"]]
        self.assertEqual(len(placements), sets)
        steps = self.changes("workloads", workload)
        ready = min(step.version for step in steps if any(
            check["state"] == "Ready" for check in checks_of(step.thing)))
        admitted = min(step.version for step in steps if has(step.thing, "Admitted"))
        self.assertLess(ready, admitted)
        seen = 0
        for placement in placements:
            decided = min(change.version for change in self.changes("placements", placement)
                          if nodes_of(change.thing))
            self.assertLess(decided, ready)
            pods = self.pods_of(placement)
            for pod in pods:
                first = self.changes("pods", pod)[0]
                self.assertLess(admitted, first.version)
                self.assertEqual(first.thing["spec"]["schedulingGates"], [{"name": GATE}])
            self.assertEqual(sorted(pod["spec"]["nodeName"] for pod in pods),
                             sorted(placement["status"]["nodes"]))
            seen = max(seen, len(pods))
        self.assertEqual(seen, workers)
        return placements

    def assert_nothing_left(self):
        self.cluster.until("no Placement is left", lambda: not self.placements())
