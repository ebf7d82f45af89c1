#!/usr/bin/env python3
"""What it costs kube-scheduler to preempt for a gang: pods of high priority, pinned to full nodes.

Every node of the cluster, up to --nodes, gets five pods of low priority that hold all its GPUs. Then
a plain client creates a PodGroup and its pods, each pinned to a node of its own and asking for all of
the node's GPUs. Measured is the time from the first request to the last pod's nominatedNodeName and
to the last pod bound; then the same pods once more without a group. Which pods go is checked: those
on the nodes of the gang, and no other. See pod_groups.sh.
"""

import argparse
import collections
import concurrent.futures
import os
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
from operator_lib import GPUS, Cluster, server_process  # noqa: E402
from servers import processor_seconds, until_quiet  # noqa: E402

SPACE = "preemption"
THREADS = 16
PATIENCE_SECONDS = 900
LOOK_SECONDS = 0.1
OF_A_NODE = (2, 2, 2, 1, 1)  # GPUs of the pods that hold it
URGENT = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
          "metadata": {"name": "urgent-gang"}, "value": 1000}


def pod(name, gpus, spec):
    container = {"name": "main", "image": "registry.example/none:1",
                 "resources": {"limits": {GPUS: gpus}}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": SPACE},
            "spec": {"containers": [container], **spec}}


def pin(node):
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchFields": [field]}]}}}


Run = collections.namedtuple("Run", "created nominated bound processor")


class Preemption:
    def __init__(self, nodes, workers):
        self.cluster = Cluster(watched=("pods",))
        self.cluster.make_namespace(SPACE)
        self.cluster.create("priorityclasses", URGENT)
        names = sorted(one["metadata"]["name"] for one in self.cluster.list("nodes"))[:nodes]
        self.nodes, self.workers = names, workers
        # Not side by side: every other node, as a gang among others has them.
        self.gang_nodes = (names[::2] + names[1::2])[:workers]

    def pods(self, prefix):
        return [one for one in self.cluster.history.all_now("pods", SPACE)
                if one["metadata"]["name"].startswith(prefix)]

    def create_all(self, things):
        with concurrent.futures.ThreadPoolExecutor(THREADS) as threads:
            list(threads.map(lambda one: self.cluster.create("pods", one), things))

    def until(self, what, holds):
        """Looks rarely: the watch of so many pods is this process' work too."""
        end = time.monotonic() + PATIENCE_SECONDS
        while not holds():
            if time.monotonic() > end:
                raise AssertionError(f"not within {PATIENCE_SECONDS} s: {what}")
            self.cluster.history.expect_whole()
            time.sleep(LOOK_SECONDS)

    def fill(self):
        there = {one["metadata"]["name"] for one in self.pods("low-")}
        wanted = [pod(f"low-{node}-{number}", gpus, {"nodeName": node})
                  for node in self.nodes for number, gpus in enumerate(OF_A_NODE)]
        self.create_all(one for one in wanted if one["metadata"]["name"] not in there)
        self.until("the low pods run", lambda: sum(
            one["status"].get("phase") == "Running" for one in self.pods("low-")) == len(wanted))
        until_quiet(PATIENCE_SECONDS)

    def gang(self, group):
        for number, node in enumerate(self.gang_nodes):
            spec = {"affinity": pin(node), "priorityClassName": URGENT["metadata"]["name"]}
            if group:
                spec["schedulingGroup"] = {"podGroupName": group}
            yield pod(f"gang-{number:04}", sum(OF_A_NODE), spec)

    def run(self, group):
        """Seconds from the first request, and kube-scheduler's processor seconds until all are
        nominated."""
        self.fill()
        before = processor_seconds(server_process("kube-scheduler"))
        nominated = set()

        def all_nominated():
            nominated.update(one["metadata"]["name"] for one in self.pods("gang-")
                             if one["status"].get("nominatedNodeName") or "nodeName" in one["spec"])
            return len(nominated) == self.workers
        begun = time.monotonic()
        if group:
            self.cluster.create("podgroups", {
                "apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup",
                "metadata": {"name": group, "namespace": SPACE},
                "spec": {"schedulingPolicy": {"gang": {"minCount": self.workers}},
                         "disruptionMode": {"all": {}},
                         "priorityClassName": URGENT["metadata"]["name"]}})
        self.create_all(self.gang(group))
        created = time.monotonic() - begun
        self.until("all are nominated", all_nominated)
        chosen = time.monotonic() - begun
        processor = processor_seconds(server_process("kube-scheduler")) - before
        self.until("all are bound", lambda: sum(
            "nodeName" in one["spec"] for one in self.pods("gang-")) == self.workers)
        run = Run(created, chosen, time.monotonic() - begun, processor)
        self.expect_victims()
        self.cluster.delete("pods", SPACE, options={"gracePeriodSeconds": 0})
        if group:
            self.cluster.delete("podgroups", SPACE, group)
        self.until("the pods are gone", lambda: not self.pods(""))
        return run

    def expect_victims(self):
        left = {one["spec"]["nodeName"] for one in self.pods("low-")
                if "deletionTimestamp" not in one["metadata"]}
        spared = set(self.nodes) - set(self.gang_nodes)
        kept = sum(1 for one in self.pods("low-") if one["spec"]["nodeName"] in spared)
        if left & set(self.gang_nodes) or kept != len(spared) * len(OF_A_NODE):
            raise AssertionError(f"{kept} pods are left on {len(spared)} nodes beside the gang's")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=1)
    arguments = parser.parse_args()
    bench = Preemption(arguments.nodes, arguments.workers)
    taken = {"PodGroup": [], "pins alone": []}
    for number in range(arguments.rounds):
        for mode, runs in taken.items():
            run = bench.run(f"gang-{number}" if mode == "PodGroup" else "")
            print(f"{mode:>12}  created {run.created:.2f} s  nominated {run.nominated:.2f} s  "
                  f"bound {run.bound:.2f} s  kube-scheduler {run.processor:.1f} processor s",
                  flush=True)
            runs.append(run)
    print(f"{arguments.workers} pods among {len(bench.nodes) * len(OF_A_NODE)} on "
          f"{len(bench.nodes)} nodes, medians:")
    for mode, runs in taken.items():
        median = Run(*map(statistics.median, zip(*runs)))
        print(f"{mode:>12}  nominated {median.nominated:.2f} s  bound {median.bound:.2f} s  "
              f"kube-scheduler {median.processor:.1f} processor s")


if __name__ == "__main__":
    main()
