#!/usr/bin/env python3
"""Nodes that go, fall silent, are cordoned, drained or relabelled under a running gang."""

import time

from operator_lib import MERGE, PATIENCE_SECONDS, condition, poll, training_job
from operator_scenarios import Scenarios, main

# The API server's words for a node that has told nothing for its grace period.
SILENT_SECONDS = 300
LEAF = "fabric.topograph.run/tier-0"


class Nodes(Scenarios):
    def run_job(self, **spec):
        """(the job, the node of its worker 1)"""
        job = training_job(self.space, "job", 3, **spec)
        # Of a pod on a lost node nobody confirms the end: it counts as gone after its grace period.
        job["spec"]["workers"]["template"]["spec"]["terminationGracePeriodSeconds"] = 1
        self.apply(job)
        self.cluster.until_running(self.space, "job")
        return self.placed_nodes("job")[1]

    def put_back(self, node):
        kept = ("name", "labels", "annotations")
        self.cluster.create("nodes", {
            "apiVersion": "v1", "kind": "Node", "spec": {"taints": node["spec"].get("taints", [])},
            "metadata": {key: node["metadata"][key] for key in kept if key in node["metadata"]},
            "status": {key: node["status"][key] for key in ("capacity", "allocatable")}})
        poll(lambda: self.is_ready(node["metadata"]["name"]), "the node is back")

    def is_ready(self, name):
        node = self.cluster.get("nodes", "", name)
        return any(one["type"] == "Ready" and one["status"] == "True"
                   for one in node["status"].get("conditions", [])) and not any(
                       taint["key"].startswith("node.kubernetes.io/")
                       for taint in node["spec"].get("taints", []))

    def change_node(self, name, change, undo):
        self.cluster.patch("nodes", "", name, change)
        self.addCleanup(poll, lambda: self.is_ready(name), f"{name} is well again")
        self.addCleanup(self.cluster.patch, "nodes", "", name, undo)

    def expect_elsewhere(self, lost, restarts, seconds=PATIENCE_SECONDS):
        job = self.cluster.until_running(self.space, "job", attempt=2, seconds=seconds)
        self.assertEqual(job["status"]["restarts"], restarts)
        self.assertEqual(job["status"]["lastFailure"]["attempt"], 1)
        nodes = self.placed_nodes("job", 2)
        self.assertNotIn(lost, nodes)
        self.assertEqual(self.nodes_of_pods("job", 2), nodes)
        self.expect_names_of("job", 2)
        return job["status"]["lastFailure"]

    def expect_names_of(self, job, attempt):
        """DNS leads to the pods of this attempt alone, also where others of that host name are
        left on a node that is silent."""
        wanted = {pod["metadata"]["name"] for pod in self.cluster.pods(self.space, job, attempt)}

        def told():
            slices = self.cluster.list("endpointslices", self.space,
                                       f"kubernetes.io/service-name={job}")
            return {one["targetRef"]["name"] for each in slices
                    for one in each["endpoints"] or []} == wanted
        poll(told, f"the names of {job} lead to attempt {attempt}")

    def test_a_deleted_node(self):
        lost = self.run_job(failurePolicy={"maxRestarts": 0})
        node = self.cluster.get("nodes", "", lost)
        self.addCleanup(self.put_back, node)
        self.cluster.delete("nodes", "", lost)
        failure = self.expect_elsewhere(lost, restarts=0)
        self.assertIn(failure["reason"], ("NodeLost", "PodDeleted", "Disrupted"))

    def test_a_silent_node_counts_where_the_policy_says_so(self):
        lost = self.run_job(
            failurePolicy={"maxRestarts": 1, "infrastructure": "RestartCounted"})
        self.change_node(lost, {"metadata": {"labels": {"weft.test/lost": "yes"}}},
                         {"metadata": {"labels": {"weft.test/lost": None}}})
        failure = self.expect_elsewhere(lost, restarts=1, seconds=SILENT_SECONDS)
        self.assertEqual((failure["reason"], failure["node"], failure["worker"]),
                         ("NodeLost", lost, 1))

    def test_programs_that_die_of_a_silent_node_are_not_to_blame(self):
        lost = self.run_job(failurePolicy={"maxRestarts": 1})
        self.change_node(lost, {"metadata": {"labels": {"weft.test/lost": "yes"}}},
                         {"metadata": {"labels": {"weft.test/lost": None}}})
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        ended = {"terminated": {"exitCode": 1, "reason": "Error", "startedAt": now,
                                "finishedAt": now}}
        for pod in self.cluster.pods(self.space, "job"):
            if pod["spec"]["nodeName"] == lost:
                continue
            path = self.cluster.path("pods", self.space, pod["metadata"]["name"]) + "/status"
            containers = [{**one, "ready": False, "started": False, "state": ended}
                          for one in pod["status"]["containerStatuses"]]
            self.cluster.call("PATCH", path, {"status": {
                "phase": "Failed", "containerStatuses": containers}}, MERGE)
        failure = self.expect_elsewhere(lost, restarts=0, seconds=SILENT_SECONDS)
        self.assertEqual((failure["cause"], failure["node"], failure["worker"]),
                         ("NodeLost", lost, 1))

    def test_a_cordoned_node_keeps_its_gang_until_it_is_drained(self):
        drained = self.run_job()
        self.change_node(drained, {"spec": {"unschedulable": True}},
                         {"spec": {"unschedulable": None}})
        self.apply(training_job(self.space, "other", 2, 0))
        self.cluster.until_condition(self.space, "other", "Complete")
        self.assertEqual(self.cluster.job(self.space, "job")["status"]["attempt"], 1)

        [pod] = [pod for pod in self.cluster.pods(self.space, "job")
                 if pod["spec"]["nodeName"] == drained]
        name = pod["metadata"]["name"]
        self.cluster.call("POST", self.cluster.path("pods", self.space, name) + "/eviction", {
            "apiVersion": "policy/v1", "kind": "Eviction",
            "metadata": {"name": name, "namespace": self.space}})
        self.expect_elsewhere(drained, restarts=0)

    def relabel(self, name):
        leaf = self.cluster.get("nodes", "", name)["metadata"]["labels"][LEAF]
        self.change_node(name, {"metadata": {"labels": {LEAF: "elsewhere"}}},
                         {"metadata": {"labels": {LEAF: leaf}}})

    def test_a_relabelled_node_keeps_its_gang(self):
        self.relabel(self.run_job())
        free = next(name for node in self.cluster.list("nodes")
                    if (name := node["metadata"]["name"]) not in self.placed_nodes("job"))
        self.relabel(free)
        # That this one is placed shows that the operator has seen both changes.
        other = training_job(self.space, "other", 1)
        other["spec"]["workers"]["template"]["spec"]["nodeSelector"] = {LEAF: "elsewhere"}
        self.apply(other)
        self.cluster.until_running(self.space, "other")
        self.assertEqual(self.placed_nodes("other"), [free])
        job = self.cluster.job(self.space, "job")
        self.assertEqual((job["status"]["attempt"], condition(job, "PodsReady")["status"]),
                         (1, "True"))

    def test_nodes_that_come_while_a_job_waits(self):
        """As an autoscaler adds them: first without accelerators, and without a place in the fabric."""
        nodes = self.cluster.list("nodes")
        names = [f"scaled-up-{number}" for number in range(2)]
        for name in names:
            self.addCleanup(self.cluster.delete, "nodes", "", name)
        self.apply(training_job(self.space, "job", len(nodes) + len(names), startupTimeoutSeconds=120))
        self.cluster.until_condition(self.space, "job", "Placed", "False")
        pattern = nodes[-1]
        host = "kubernetes.io/hostname"
        for name in names:
            self.cluster.create("nodes", {
                "apiVersion": "v1", "kind": "Node", "spec": {},
                "metadata": {"name": name, "labels": {host: name},
                             "annotations": pattern["metadata"].get("annotations", {})},
                "status": {"capacity": {"cpu": "64"}, "allocatable": {"cpu": "64"}}})
        for name in names:
            poll(lambda name=name: self.is_ready(name), f"{name} is ready")
        labels = {**pattern["metadata"]["labels"]}
        labels.pop(host)
        for name in names:
            self.cluster.patch("nodes", "", name, {"metadata": {"labels": labels}})
            self.cluster.call("PATCH", self.cluster.path("nodes", "", name) + "/status", {"status": {
                key: pattern["status"][key] for key in ("capacity", "allocatable")}}, MERGE)
        self.cluster.until_running(self.space, "job")
        self.assertLessEqual(set(names), set(self.placed_nodes("job")))
        self.cluster.delete("trainingjobs", self.space, "job")
        self.cluster.until("the job's pods are gone", lambda: not self.cluster.pods(self.space, "job"))

    def test_a_lost_node_ends_a_job_that_wants_it_so(self):
        lost = self.run_job(failurePolicy={"infrastructure": "Fail"})
        self.addCleanup(self.put_back, self.cluster.get("nodes", "", lost))
        self.cluster.delete("nodes", "", lost)
        self.cluster.until_condition(self.space, "job", "Failed")


if __name__ == "__main__":
    main()
