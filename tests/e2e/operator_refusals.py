#!/usr/bin/env python3
"""What is refused, by Weft or by kube-scheduler, and what comes of it."""

from operator_lib import (GPUS, QUIET_NODES, REFUSED_AS_NOISY, Paused, condition, poll,
                          server_process, training_job)
from operator_scenarios import Scenarios, main

HOST = "kubernetes.io/hostname"


def foreign_pod(space, name, node, gpus):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": space},
            "spec": {"nodeSelector": {HOST: node},
                     "containers": [{"name": "c", "image": "registry.example/other:1",
                                     "resources": {"limits": {GPUS: gpus}}}]}}


class Refusals(Scenarios):
    def first_nodes(self, workers):
        """Where a job would go now: it goes there, and is deleted again."""
        self.apply(training_job(self.space, "probe", workers))
        self.cluster.until_running(self.space, "probe")
        nodes = self.placed_nodes("probe")
        self.cluster.delete("trainingjobs", self.space, "probe")
        self.cluster.until_no_job(self.space, "probe")
        return nodes

    def expect_elsewhere(self, taken):
        """Undone as a whole, the node left out, no restart counted."""
        job = self.cluster.until_running(self.space, "job", attempt=2)
        self.assertEqual(job["status"]["restarts"], 0)
        nodes = self.placed_nodes("job", 2)
        self.assertNotIn(taken, nodes)
        self.assertEqual(self.nodes_of_pods("job", 2), nodes)
        restarting = condition(job, "Restarting")
        self.assertEqual((restarting["status"], restarting["reason"]), ("False", "BindRefused"))
        self.assertIn(taken, restarting["message"])
        self.assertEqual(self.cluster.pods(self.space, "job", 1), [])
        return restarting["message"]

    def test_a_node_taken_between_plan_and_bind(self):
        taken, *_ = self.first_nodes(4)
        with Paused(server_process("kube-scheduler")):
            # It waits longer than the gang, so the scheduler sees to it first.
            self.cluster.create("pods", foreign_pod(self.space, "foreign", taken, 8))
            self.apply(training_job(self.space, "job", 4))
            self.cluster.until("all pods exist",
                               lambda: len(self.cluster.pods(self.space, "job")) == 4)
            self.assertIn(taken, self.placed_nodes("job"))
        self.expect_elsewhere(taken)

    def test_a_rule_that_only_the_scheduler_knows(self):
        taken, *_ = self.first_nodes(2)
        job = training_job(self.space, "job", 2)
        job["spec"]["workers"]["template"]["spec"]["schedulerName"] = QUIET_NODES
        self.addCleanup(self.cluster.make_quiet)
        self.cluster.make_noisy(taken)
        self.apply(job)
        self.assertIn(REFUSED_AS_NOISY, self.expect_elsewhere(taken))

    def test_bad_jobs_are_told_why_and_others_go_on(self):
        limits = training_job(self.space, "limits", 2)
        container = limits["spec"]["workers"]["template"]["spec"]["containers"][0]
        container["resources"] = {"limits": {GPUS: 4}}
        self.apply(limits)
        self.apply(training_job(self.space, "level", 2, topology={"required": "rack"}))
        self.apply(training_job(self.space, "large", 33))
        self.apply(training_job(self.space, "good", 2))
        self.cluster.until_running(self.space, "good")

        job = self.cluster.until_condition(self.space, "limits", "Accepted", "False")
        self.assertIn("spec.accelerator.perWorker", condition(job, "Accepted")["message"])
        job = self.cluster.until_condition(self.space, "level", "Placed", "False", "Invalid")
        self.assertIn("spec.topology.required", condition(job, "Placed")["message"])
        job = self.cluster.until_condition(self.space, "large", "Placed", "False",
                                           "InsufficientCapacity")
        self.assertIn(GPUS, condition(job, "Placed")["message"])
        for name in ("limits", "level", "large"):
            self.assertEqual(self.cluster.pods(self.space, name), [])

    def test_what_does_not_fit_starts_when_it_does(self):
        self.apply(training_job(self.space, "first", 30))
        self.cluster.until_running(self.space, "first")
        self.apply(training_job(self.space, "second", 4))
        job = self.cluster.until_condition(self.space, "second", "Placed", "False",
                                           "InsufficientCapacity")
        self.assertIn("2", condition(job, "Placed")["message"])
        self.cluster.delete("trainingjobs", self.space, "first")
        self.cluster.until_running(self.space, "second")

    def test_a_quota_holds_a_job_up_only_while_it_stands(self):
        self.cluster.create("resourcequotas", {
            "metadata": {"name": "none", "namespace": self.space},
            "spec": {"hard": {"pods": "0"}}})
        poll(lambda: self.cluster.get("resourcequotas", self.space, "none").get("status"),
             "the quota is in force")
        self.apply(training_job(self.space, "job", 2))
        self.cluster.until(
            "the job tells of the quota", lambda: "quota" in str(
                (self.cluster.job(self.space, "job") or {}).get("status")))
        self.cluster.delete("resourcequotas", self.space, "none")
        self.cluster.until_running(self.space, "job")


if __name__ == "__main__":
    main()
