#!/usr/bin/env python3
"""Pods that Weft does not create: Placements of stock Jobs, and an operator that only looks on."""

import os
import subprocess

from operator_lib import (GPUS, PATIENCE_SECONDS, QUIET_NODES, REFUSED_AS_NOISY, SOURCE, Audit,
                          Operator, condition, poll, training_job)
from operator_scenarios import PATIENT, Scenarios, main

GATE = "weft.dev/placement"
INDEX = "batch.kubernetes.io/job-completion-index"
HOST = "kubernetes.io/hostname"


def job(space, name, pods, run_seconds=None):
    """An Indexed Job whose pods are gated and ask for a whole node each."""
    annotations = {"weft.test/run-seconds": str(10**6 if run_seconds is None else run_seconds)}
    container = {"name": "trainer", "image": "registry.example/train:1",
                 "resources": {"limits": {GPUS: 8}}}
    somewhere = {"nodeSelectorTerms": [{"matchExpressions": [{"key": HOST, "operator": "Exists"}]}]}
    return {
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": name, "namespace": space},
        "spec": {"completionMode": "Indexed", "completions": pods, "parallelism": pods,
                 "podFailurePolicy": {"rules": [
                     {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]},
                 "template": {
                     "metadata": {"annotations": annotations},
                     "spec": {"restartPolicy": "Never", "schedulingGates": [{"name": GATE}],
                              "affinity": {"nodeAffinity": {
                                  "requiredDuringSchedulingIgnoredDuringExecution": somewhere}},
                              "containers": [container]}}}}


def placement(space, name, workers):
    return {
        "apiVersion": "weft.dev/v1alpha1", "kind": "Placement",
        "metadata": {"name": name, "namespace": space},
        "spec": {"workers": workers, "accelerator": {"resourceName": GPUS, "perWorker": 8},
                 "podSelector": {"matchLabels": {"batch.kubernetes.io/job-name": name}},
                 "workerIndexLabels": [{"key": INDEX}]}}


def is_gated(pod):
    return bool(pod["spec"].get("schedulingGates"))


class ForeignScenarios(Scenarios):
    def clean(self):
        """Controllers first, for they would make new pods."""
        self.cluster.delete("jobs", self.space, options={"propagationPolicy": "Background"})
        poll(lambda: not self.cluster.list("jobs", self.space), "the Jobs are gone")
        self.cluster.delete("placements", self.space)
        super().clean()

    def remove(self, name):
        self.cluster.delete("jobs", self.space, name, {"propagationPolicy": "Foreground"})
        self.cluster.delete("placements", self.space, name)
        self.cluster.until(f"{self.space}/{name} is gone", lambda: not (
            self.placement(name) or self.pods(name, all_of_them=True)))

    def start(self, name, workers, pods=None, run_seconds=None):
        self.cluster.create("placements", placement(self.space, name, workers))
        self.cluster.create("jobs", job(self.space, name, pods or workers, run_seconds))

    def placement(self, name):
        return self.cluster.history.now("placements", self.space, name)

    def nodes(self, name):
        return (self.placement(name) or {}).get("status", {}).get("nodes", [])

    def pods(self, name, all_of_them=False):
        """Those that are there to stay, by index."""
        pods = [pod for pod in self.cluster.history.all_now("pods", self.space)
                if pod["metadata"]["labels"].get("batch.kubernetes.io/job-name") == name
                and (all_of_them or "deletionTimestamp" not in pod["metadata"])]
        return sorted(pods, key=lambda pod: int(pod["metadata"]["labels"][INDEX]))

    def until(self, name, kind, status, reason, seconds=PATIENCE_SECONDS):
        def holds():
            is_so = condition(self.placement(name), kind)
            return is_so and (is_so["status"], is_so["reason"]) == (status, reason) and is_so
        return self.cluster.until(f"{self.space}/{name}: {kind}={status} {reason}", holds, seconds)

    def until_bound(self, name, seconds=PATIENCE_SECONDS):
        """Each pod to its worker's node; the nodes."""
        def holds():
            nodes = self.nodes(name)
            return nodes and [pod["spec"].get("nodeName") for pod in self.pods(name)] == nodes
        self.cluster.until(f"{self.space}/{name} is bound to its nodes", holds, seconds)
        self.until(name, "Verified", "True", "AsPlaced")
        return self.nodes(name)


class Foreign(ForeignScenarios):
    def test_the_example_runs_as_it_is(self):
        example = os.path.join(SOURCE, "deploy", "examples", "indexed-job.yaml")
        subprocess.run(["kubectl", "apply", "-n", self.space, "-f", example], check=True,
                       capture_output=True)
        poll(lambda: condition(self.cluster.get("jobs", self.space, "sweep"), "Complete"),
             "the example completes")
        seen = {pod.thing["metadata"]["labels"][INDEX]: pod.thing["spec"].get("nodeName")
                for pod in self.cluster.history.changes(self.space)
                if pod.plural == "pods" and pod.thing["spec"].get("nodeName")}
        self.assertEqual([seen[str(i)] for i in range(8)], self.nodes("sweep"))
        self.assertEqual(condition(self.placement("sweep"), "Placed")["status"], "True")

    def test_pods_land_on_the_nodes_of_their_index(self):
        self.start("train", 6)
        nodes = self.until_bound("train")
        self.assertEqual(len(set(nodes)), 6)
        for pod in self.pods("train"):
            terms = pod["spec"]["affinity"]["nodeAffinity"][
                "requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
            self.assertEqual([term["matchExpressions"][0]["key"] for term in terms], [HOST])

    def test_a_lost_pod_comes_back_to_its_node(self):
        self.start("train", 3)
        nodes = self.until_bound("train")
        lost = self.pods("train")[1]
        self.cluster.call("POST", self.cluster.path("pods", self.space, lost["metadata"]["name"])
                          + "/eviction", {"apiVersion": "policy/v1", "kind": "Eviction",
                                          "metadata": {"name": lost["metadata"]["name"]}})
        self.cluster.until("there is another pod", lambda: len(self.pods("train")) == 3 and (
            self.pods("train")[1]["metadata"]["uid"] != lost["metadata"]["uid"]))
        self.assertEqual(self.until_bound("train"), nodes)

    def test_too_few_pods_wait_and_say_so(self):
        self.start("train", 4, pods=3)
        self.cluster.until("three pods exist", lambda: len(self.pods("train")) == 3)
        waits = self.until("train", "Placed", "False", "WaitingForPods")
        self.cluster.until("three pods are counted", lambda: "3 of 4 pods" in condition(
            self.placement("train"), "Placed")["message"])
        self.assertIn("of 4", waits["message"])
        self.assertTrue(all(is_gated(pod) for pod in self.pods("train")))
        self.cluster.patch("jobs", self.space, "train",
                           {"spec": {"parallelism": 4, "completions": 4}})
        self.until_bound("train")

    def test_what_cannot_be_is_refused_and_nothing_is_ungated(self):
        self.start("large", 33)
        self.cluster.create("jobs", job(self.space, "many", 3))
        self.cluster.until("all three pods exist", lambda: len(self.pods("many")) == 3)
        self.cluster.create("placements", placement(self.space, "many", 2))  # two would be a gang
        short = self.until("large", "Placed", "False", "InsufficientCapacity")
        self.assertIn(GPUS, short["message"])
        many = self.until("many", "Placed", "False", "WorkerIndexInvalid")
        self.assertIn("is not one of workers 0 to 1", many["message"])
        self.start("good", 2)
        self.until_bound("good")
        for name in ("large", "many"):
            self.assertEqual(self.nodes(name), [])
            self.assertTrue(all(is_gated(pod) for pod in self.pods(name)))

    def test_a_gang_that_is_not_bound_whole_is_placed_anew(self):
        # The probe tells where a gang would go now.
        self.start("probe", 2)
        taken = self.until_bound("probe")[1]
        self.remove("probe")
        quiet = job(self.space, "train", 2)
        quiet["spec"]["template"]["spec"]["schedulerName"] = QUIET_NODES
        self.addCleanup(self.cluster.make_quiet)
        self.cluster.make_noisy(taken)
        self.cluster.create("jobs", quiet)
        self.cluster.create("placements", placement(self.space, "train", 2))
        self.cluster.until("all pods are ungated", lambda: len(self.pods("train")) == 2 and (
            not any(is_gated(pod) for pod in self.pods("train"))))
        first = [pod["metadata"]["uid"] for pod in self.pods("train")]
        refused = self.until("train", "Verified", "False", "BindRefused")
        self.assertIn(REFUSED_AS_NOISY, refused["message"])
        # A Job makes new pods ten seconds after the first that failed, doubling for each.
        self.cluster.until("the pods are others", lambda: len(self.pods("train")) == 2 and all(
            pod["metadata"]["uid"] not in first for pod in self.pods("train")))
        self.assertNotIn(taken, self.until_bound("train"))
        excluded = self.placement("train")["status"]["excludedNodes"]
        self.assertEqual([one["node"] for one in excluded], [taken])
        self.assertIsNone(condition(self.cluster.get("jobs", self.space, "train"), "Failed"))


class ReadOnly(ForeignScenarios):
    flags = (*PATIENT, "--read-only")

    @classmethod
    def setUpClass(cls):
        cls.audit = Audit()
        super().setUpClass()

    def leases(self):
        return sum(one["objectRef"]["resource"] == "leases" and one["verb"] == "update"
                   for one in self.audit.requests())

    def test_a_read_only_operator_writes_nothing(self):
        self.start("train", 2)
        self.apply(training_job(self.space, "job", 2))
        poll(lambda: "synced" in self.operator.said(), "it has read the cluster")
        before = self.leases()
        poll(lambda: self.leases() >= before + 2, "it keeps the Lease")
        self.assertEqual(self.audit.writes(), [])
        type(self).operator.stop()
        type(self).operator = Operator(self.work.name, "writing", *PATIENT)
        self.cluster.until_running(self.space, "job")
        self.until_bound("train")
        self.assertNotEqual(self.audit.writes(), [])


if __name__ == "__main__":
    main()
