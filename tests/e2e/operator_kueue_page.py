#!/usr/bin/env python3
"""The commands of operator/docs/kueue.md in their order, as a platform engineer would type them."""

import os
import re
import subprocess
import tempfile
import unittest

from chart_lib import PLAY, kubectl, run
from kueue_world import (KUEUE, LABEL, apply, checks_of, condition, gpus_job, has, owner_of,
                         start_peers)
from operator_laws import nodes_of
from operator_lib import SOURCE, Cluster, free_ports, poll, training_job

PAGE = os.path.join(SOURCE, "operator", "docs", "kueue.md")
SPACE = "default"  # the page names no namespace
GPUS = 48  # of the queue: six nodes
IN_USE = f"""
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {{name: gpu}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {{name: team-a}}
spec:
  namespaceSelector: {{}}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors: [{{name: gpu, resources: [{{name: nvidia.com/gpu, nominalQuota: {GPUS}}}]}}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {{name: team-a, namespace: {SPACE}}}
spec: {{clusterQueue: team-a}}
"""


def blocks():
    """The page's shell blocks, without the indent of a list."""
    with open(PAGE, encoding="utf-8") as page:
        found = re.findall(r"^( *)```sh\n(.*?)^ *```", page.read(), re.DOTALL | re.MULTILINE)
    return [re.sub(f"^{indent}", "", text, flags=re.MULTILINE) for indent, text in found]


def type_in(block):
    """What it prints; any command that fails ends it."""
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=SOURCE, text=True,
                          capture_output=True, check=False)
    print(f"$ {block}{done.stdout}", flush=True)
    if done.returncode:
        raise AssertionError(f"{block}\n{done.stderr}")
    return done.stdout


def last_line(block):
    return block.strip().splitlines()[-1] + "\n"


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        start_peers("kueue", "jobset")
        apply(IN_USE)
        cls.work = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.work.cleanup)
        probes, metrics, grpc = free_ports(3)
        run("helm", "install", "weft", os.path.join(SOURCE, "charts", "weft"), "-n", "weft-system",
            "--create-namespace", "--take-ownership", "--set",
            f"probes.port={probes},metrics.port={metrics},config.grpc-address=127.0.0.1:{grpc}")
        cls.cluster = Cluster(("pods", "placements", "workloads", "trainingjobs"))
        cls.addClassCleanup(cls.cluster.close)

    def start_operator(self):
        """With the arguments and the rights that the chart now gives it."""
        # pylint: disable-next=consider-using-with
        log = open(os.path.join(self.work.name, "operator.log"), "w", encoding="utf-8")
        self.addCleanup(log.close)
        # pylint: disable-next=consider-using-with
        process = subprocess.Popen([PLAY, "weft-system/weft-operator"], stdout=log, stderr=log)
        self.addCleanup(process.wait, 30)
        self.addCleanup(process.terminate)

    def workload(self, owner):
        return next((one for one in self.cluster.history.all_now("workloads", SPACE)
                     if owner_of(one) == owner), None)

    def until(self, expectation, holds):
        return self.cluster.until(expectation, holds)

    def test_page(self):
        switch_on, check, patch, job, queued = blocks()
        type_in(switch_on)
        self.start_operator()
        type_in(check)
        type_in(patch)
        poll(lambda: has(self.cluster.call("GET", f"{KUEUE}/clusterqueues/team-a"), "Active"),
             "the queue is active")
        self.start_job(job)
        self.queue_a_training_job(queued)

    def start_job(self, block):
        type_in(block)
        self.until("train is admitted", lambda: has(self.workload("train"), "Admitted"))
        self.assertEqual([one["state"] for one in checks_of(self.workload("train"))], ["Ready"])
        told = type_in(last_line(block))
        self.assertRegex(told, r"job-train-\S+ +Ready +main: 4 workers on \S+")
        self.until("its pods are bound", lambda: len(self.seats()) == 4)
        placement = next(change.thing for change in self.cluster.history.changes(SPACE)
                         if change.plural == "placements" and nodes_of(change.thing))
        self.assertEqual(self.seats(), dict(enumerate(placement["status"]["nodes"])))
        self.assertEqual(placement["spec"]["parallelism"]["tensor"], 8)

    def seats(self):
        """The node of each bound pod of the job, by completion index."""
        return {int(pod["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"]):
                pod["spec"]["nodeName"]
                for pod in self.cluster.history.all_now("pods", SPACE)
                if LABEL in pod["metadata"]["labels"] and "nodeName" in pod["spec"]}

    def queue_a_training_job(self, block):
        """Beside a Job that leaves the queue two nodes, until that is gone."""
        holder = gpus_job(SPACE, "holder", 4)
        holder["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "team-a"}
        self.cluster.create("jobs", holder)
        self.until("holder is admitted", lambda: has(self.workload("holder"), "Admitted"))
        suspended = training_job(SPACE, "llama3-70b", 4, suspend=True)
        self.cluster.create("trainingjobs", suspended)
        label, table, message = block.splitlines(keepends=True)
        type_in(label)
        self.cluster.patch("trainingjobs", SPACE, "llama3-70b", {"spec": {"suspend": False}})
        self.cluster.until_condition(SPACE, "llama3-70b", "Placed", "False", "QuotaPending")
        self.until("in Kueue's words", lambda: "insufficient unused quota" in condition(
            self.cluster.job(SPACE, "llama3-70b"), "Placed")["message"])
        head, row = type_in(table).splitlines()[:2]
        self.assertIn("QUEUE", head)
        self.assertIn("team-a", row)
        self.assertIn("insufficient unused quota for nvidia.com/gpu in flavor gpu", type_in(message))
        kubectl("delete", "job", "holder")
        self.cluster.until_running(SPACE, "llama3-70b")
        self.assertIn("Running", type_in(table))
        kubectl("delete", "trainingjob/llama3-70b", "job/train")
        self.until("nothing is left", lambda: not (
            self.cluster.history.all_now("workloads", SPACE)
            or self.cluster.history.all_now("placements", SPACE)
            or self.cluster.history.all_now("pods", SPACE)))


if __name__ == "__main__":
    unittest.main(verbosity=2)
