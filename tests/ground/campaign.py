#!/usr/bin/env python3
"""Random faults on real nodes under a queue of small gangs.

    campaign.py [N] [--seed S]        N faults; default 200

In rounds: ten gangs are applied, some with a fault of their own, and parts of nodes fail meanwhile.
A round ends when all its jobs have: Complete, or Failed for the reason that was made. A restart is
counted for a program's own fault alone, and its reason is told. Then the laws hold, the nodes have
nothing of its pods left, and a gang on all GPUs runs in its first attempt.
"""

import argparse
import collections
import dataclasses
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable

import clock
from ground_scenarios import ENDS_WHEN_TOLD, GPUS_EACH, condition, has_ended
import faults
from gangs import cued_gang
from operator_laws import broken_laws
from operator_lib import Cluster, Operator, poll
import real_node
import slow_registry

JOBS_IN_A_ROUND = 10
NODE_FAULTS_IN_A_ROUND = 5
FAULTS_OF_JOBS = 0.7  # this part of the jobs has one
ROUND_SECONDS = 420
LEFT_SECONDS = 180  # a kubelet looks for dead sandboxes once a minute


@dataclasses.dataclass
class JobFault:
    """`worker` is the program of worker 0 in attempt 1 in place of its work."""
    name: str
    worker: str = ""
    change: Callable = None
    fails: str = ""  # the reason with which the job fails; "": it completes
    restarts: str = ""  # the reason of the one restart that is counted; "": none is


def little_memory(_campaign, pod, _name):
    faults.with_little_memory(pod["containers"][0])


def bad_command(_campaign, pod, _name):
    faults.without_program(pod["containers"][0])


def no_image(_campaign, pod, _name):
    pod["containers"][0]["image"] = "weft.test/none:1"


def slow_image(campaign, pod, name):
    pod["containers"][0]["image"] = f"{slow_registry.NAME}/slow:{campaign.space}-{name}"


def late_config(campaign, pod, name):
    """It comes into being when the campaign's next fault does."""
    pod["volumes"].append({"name": "late", "configMap": {"name": name}})
    pod["containers"][0]["volumeMounts"].append({"name": "late", "mountPath": "/late"})
    campaign.late.append(("configmaps", name))


def late_secret(campaign, pod, name):
    pod["containers"][0]["env"].append({"name": "LATE", "valueFrom": {
        "secretKeyRef": {"name": name, "key": "k"}}})
    campaign.late.append(("secrets", name))


def failing_init(_campaign, pod, name):
    faults.with_failing_init(pod, name)


JOB_FAULTS = [
    JobFault("failing rank", "sleep 1; exit 7", restarts="Error"),
    JobFault("exit during start", "exit 3", restarts="Error"),
    JobFault("failing init container", change=failing_init, restarts="Error"),
    JobFault("OOMKilled", faults.MEMORY_EATER, little_memory, restarts="OOMKilled"),
    JobFault("ignores SIGTERM", "trap '' TERM; sleep 2; exit 9", restarts="Error"),
    JobFault("bad command", change=bad_command, fails="StartError"),
    JobFault("missing image", change=no_image, fails="StartupTimeout"),
    JobFault("slow image", change=slow_image),
    JobFault("late ConfigMap", change=late_config),
    JobFault("late Secret", change=late_secret),
]


class Campaign:
    def __init__(self, cluster, chance, work):
        self.cluster, self.chance, self.work = cluster, chance, work
        self.nodes = real_node.all_nodes(cluster)
        self.counts = collections.Counter()
        self.violations, self.restarts = [], collections.Counter()
        self.space, self.late, self.lost, self.number = "", [], [], 0
        # The weights are of what they cost in time.
        self.node_faults = {
            self.kill_kubelet: 4, self.kill_containerd: 4, self.restart_plugin: 4,
            self.ill_gpu: 4, self.delete_pod: 6, self.drain: 4, self.stop_dns: 3,
            self.clock_off: 2, self.kill_both: 2, self.lose_node: 1, self.kubelet_away: 1}

    def count(self, fault, where=""):
        """Of those that have happened."""
        self.counts[fault] += 1
        print(f"{time.strftime('%H:%M:%S')} {sum(self.counts.values())}: {fault} {where}",
              flush=True)

    # -- parts of nodes; False: nothing has happened

    def kill_kubelet(self, node):
        node.renewed("kubelet", node.kill("kubelet"))

    def kill_containerd(self, node):
        node.renewed("containerd", node.kill("containerd"))

    def kill_both(self, node):
        """The device plug-in and the kubelet."""
        kubelet, plugin = node.kill("kubelet"), node.kill("device-plugin")
        node.renewed("kubelet", kubelet)
        node.renewed("device-plugin", plugin)

    def restart_plugin(self, node):
        with node.stopped("device-plugin"):
            self.until_gpus(node, 0)

    def ill_gpu(self, node):
        node.make_unhealthy(self.chance.randrange(GPUS_EACH))
        self.until_gpus(node, GPUS_EACH - 1)
        node.make_unhealthy()

    def delete_pod(self, _node):
        pods = self.cluster.history.all_now("pods", self.space)
        if pods:
            self.cluster.delete("pods", self.space, self.chance.choice(pods)["metadata"]["name"])
        return bool(pods)

    def drain(self, node):
        faults.drain(node)
        faults.uncordon(node)

    def stop_dns(self, _node):
        with faults.silent_dns():
            self.cluster.history.grown_beyond(len(self.cluster.history.changes()) + 50, 5)

    def clock_off(self, node):
        """Until its kubelet is started again."""
        seconds = self.chance.choice([-600, -60, 60, 3600])
        if not clock.can_be_put_off():
            return False
        clock.put_off(node.process("kubelet"), seconds)
        return True

    def lose_node(self, node):
        self.lost.append(node.name)
        node.lose()
        self.until_not_ready(node)
        node.bring_back()

    def kubelet_away(self, node):
        self.lost.append(node.name)
        with node.stopped("kubelet"):
            self.until_not_ready(node)

    def until_gpus(self, node, count):
        self.cluster.until(f"{node} has {count} GPUs", lambda: faults.has_gpus(
            self.now(node), count), ROUND_SECONDS)

    def until_not_ready(self, node):
        self.cluster.until(f"{node} is not Ready", lambda: not faults.is_true(
            self.now(node), "Ready"), ROUND_SECONDS)

    def now(self, node):
        return self.cluster.history.now("nodes", "", node.name)

    # -- jobs

    def gang(self, name, fault, workers, gpus):
        work = f"sleep {self.chance.randint(1, 6)} & wait $!; exit 0"
        own = fault.worker and (
            f'[ "$WEFT_ATTEMPT$WEFT_WORKER_INDEX" = 10 ] && {{ {fault.worker}; }}; ')
        job = cued_gang(self.space, name, ENDS_WHEN_TOLD + own + work, self.work, workers, gpus,
                        startupTimeoutSeconds=30 if fault.fails == "StartupTimeout" else 600,
                        failurePolicy={"maxRestarts": 0 if fault.fails else 5})
        if fault.change:
            fault.change(self, job["spec"]["workers"]["template"]["spec"], f"{self.space}-{name}")
        return job

    def bring_late(self):
        for plural, name in self.late:
            self.cluster.create(plural, {"metadata": {"namespace": self.space, "name": name},
                                         "data": {"k": "dg=="}})
        self.late = []

    # -- a round

    def play_round(self, most):
        """Returns when all is at rest again."""
        self.number += 1
        self.space, self.lost = f"round-{self.number}", []
        self.cluster.make_namespace(self.space)
        jobs, begun = {}, sum(self.counts.values())
        for number in range(JOBS_IN_A_ROUND):
            fault = JobFault("none")
            if self.chance.random() < FAULTS_OF_JOBS and (
                    sum(self.counts.values()) - begun < most):
                fault = self.chance.choice(JOB_FAULTS)
                self.count(fault.name)
            name = f"job-{number}"
            jobs[name] = fault
            self.cluster.create("trainingjobs", self.gang(
                name, fault, self.chance.randint(1, 3), self.chance.randint(1, GPUS_EACH)))
        for _ in range(NODE_FAULTS_IN_A_ROUND):
            if sum(self.counts.values()) - begun >= most:
                break
            fault = self.chance.choices(list(self.node_faults), self.node_faults.values())[0]
            node = self.chance.choice(self.nodes)
            if fault(node) is not False:
                self.count(fault.__name__.replace("_", " "), node)
            self.bring_late()
            self.look_at_laws()
        self.bring_late()
        self.look_at_ends(jobs)
        self.clear()

    def look_at_laws(self):
        broken = broken_laws(self.cluster.history.changes(self.space), self.lost)
        self.violations += [one for one in broken if one not in self.violations]

    def look_at_ends(self, jobs):
        for name, fault in jobs.items():
            def ended(name=name):
                job = self.cluster.job(self.space, name)
                return job if has_ended(job) else None
            try:
                job = self.cluster.until(f"{name} ({fault.name}) ends", ended, ROUND_SECONDS)
            except AssertionError as error:
                self.violations.append(f"{self.space}: {error}: {self.told(name)}")
                continue
            end = condition(job, "Failed") if has_ended(job) == "Failed" else None
            counted = job["status"].get("restarts", 0)
            self.restarts[fault.name] += counted
            if (end["reason"] if end else "") != fault.fails:
                self.violations.append(f"{self.space}/{name} ({fault.name}): {self.told(name)}")
            # What a node did is not the program's fault, and is not counted. The job's own fault may
            # not come to pass if a node's ends its first attempt.
            reasons = self.reasons_of_restarts(name)
            if counted > (1 if fault.restarts else 0) or (
                    counted and fault.restarts not in reasons):
                self.violations.append(
                    f"{self.space}/{name} ({fault.name}): {counted} restarts counted, for {reasons}")

    def reasons_of_restarts(self, name):
        """All that its condition has told."""
        told = [condition(change.thing, "Restarting") for change in
                self.cluster.history.changes(self.space)
                if change.plural == "trainingjobs" and change.thing["metadata"]["name"] == name]
        return {one["reason"] for one in told if one and one["status"] == "True"}

    def told(self, name):
        job = self.cluster.job(self.space, name) or {}
        return [(one["type"], one["status"], one.get("reason"), one.get("message"))
                for one in job.get("status", {}).get("conditions", [])]

    def all_well(self):
        return all(faults.is_well(self.now(node), GPUS_EACH) for node in self.nodes)

    def clear(self):
        """Nothing is left, and all GPUs are free: a gang that needs them all runs at once."""
        cluster = self.cluster
        cluster.until("all nodes are well", self.all_well, ROUND_SECONDS)
        sweep = self.gang("sweep", JobFault("none"), len(self.nodes), GPUS_EACH)
        cluster.create("trainingjobs", sweep)
        self.look_at_ends({"sweep": JobFault("none")})
        if (cluster.job(self.space, "sweep") or {}).get("status", {}).get("attempt") != 1:
            self.violations.append(f"{self.space}: the sweep needed attempts: {self.told('sweep')}")
        cluster.delete("trainingjobs", self.space)
        cluster.until("all pods are gone", lambda: not (
            cluster.history.all_now("trainingjobs", self.space)
            or cluster.history.all_now("pods", self.space)), ROUND_SECONDS)
        self.look_at_laws()
        cluster.delete("namespaces", "", self.space)
        for node in self.nodes:
            try:
                poll(lambda node=node: not node.left_of_pods(), "nothing is left", LEFT_SECONDS)
            except AssertionError:
                self.violations.append(f"{self.space}: left on {node}: {node.left_of_pods()[:20]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("faults", type=int, nargs="?", default=200, metavar="N")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("WEFT_SEED", "1")))
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    begun = time.monotonic()
    cluster = Cluster(("pods", "trainingjobs", "placements", "nodes"))
    with tempfile.TemporaryDirectory() as work, slow_registry.slow_registry(1 << 18):
        operator = Operator(work, "campaign", *faults.FLAGS)
        try:
            campaign = Campaign(cluster, random.Random(arguments.seed), work)
            while sum(campaign.counts.values()) < arguments.faults and not campaign.violations:
                campaign.play_round(arguments.faults - sum(campaign.counts.values()))
        finally:
            if sys.exc_info()[0] or campaign.violations:
                print(operator.tail(60))
            operator.stop()
    cluster.close()
    print(f"{sum(campaign.counts.values())} faults in {time.monotonic() - begun:.0f} s: "
          + ", ".join(f"{count} {fault}" for fault, count in sorted(campaign.counts.items())))
    print(f"counted restarts: {dict(campaign.restarts)}")
    for one in campaign.violations:
        print("VIOLATED:", one)
    return 1 if campaign.violations else 0


if __name__ == "__main__":
    sys.exit(main())
