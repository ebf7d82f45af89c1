#!/usr/bin/env python3
"""An attempt's PodGroup: kube-scheduler binds its pods at once or not at all, and preempts for them."""

import re

from operator_lib import PATIENCE_SECONDS, condition, poll, training_job
from operator_refusals import HOST, foreign_pod
from operator_scenarios import Scenarios, main
from operator_servers import start_servers, stop_server

FINALIZER = "scheduling.k8s.io/podgroup-protection"
URGENT = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
          "metadata": {"name": "urgent"}, "value": 1000}
BIND_DEADLINE = 5
STOP_SECONDS = 12  # that a victim takes to end: more than twice the deadline


def name_of_group(pod):
    return pod["spec"].get("schedulingGroup", {}).get("podGroupName")


class GroupScenarios(Scenarios):
    """What scenarios of PodGroups ask for."""

    def until_pods(self, name, count, attempt=1):
        def all_there():
            pods = self.cluster.pods(self.space, name, attempt)
            return pods if len(pods) == count else None
        return self.cluster.until(f"{count} pods of {name} exist", all_there)

    def group_of(self, name, attempt=1):
        """The PodGroup that all pods of the attempt are in."""
        names = {name_of_group(pod) for pod in self.cluster.pods(self.space, name, attempt)}
        self.assertEqual(len(names), 1, names)
        return self.cluster.get("podgroups", self.space, names.pop() or "none")

    def until_no_groups(self, seconds=PATIENCE_SECONDS):
        poll(lambda: not self.cluster.list("podgroups", self.space), "the PodGroups are gone",
             seconds)

    def until_no_namespace(self, seconds=PATIENCE_SECONDS):
        self.cluster.delete("namespaces", "", self.space)
        poll(lambda: self.cluster.get("namespaces", "", self.space) is None,
             "the namespace is gone", seconds)
        self.cluster.make_namespace(self.space)  # which the end of the test deletes

    def first_nodes(self, workers):
        """Where a job would go now: it goes there, and is deleted again."""
        self.apply(training_job(self.space, "probe", workers))
        self.cluster.until_running(self.space, "probe")
        nodes = self.placed_nodes("probe")
        self.cluster.delete("trainingjobs", self.space, "probe")
        self.cluster.until_no_job(self.space, "probe")
        return nodes

    def ever_bound(self, name, attempt):
        """Workers of the attempt that were bound at any time."""
        return {change.thing["metadata"]["labels"]["weft.dev/worker-index"]
                for change in self.cluster.history.changes(self.space)
                if change.plural == "pods" and change.thing["spec"].get("nodeName")
                and change.thing["metadata"].get("labels", {}).get("weft.dev/job-name") == name
                and change.thing["metadata"]["labels"]["weft.dev/attempt"] == str(attempt)}


class PodGroups(GroupScenarios):
    flags = ("--bind-deadline", str(BIND_DEADLINE), "--node-loss", "3", "--node-news", "3")
    watched = (*Scenarios.watched, "podgroups")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster.create("priorityclasses", URGENT)

    def take_before_the_gang(self, name, nodes, job, **pod):
        """The nodes are given to others after the job's plan and before kube-scheduler looks at its
        pods. A scheduler that starts knows all bound pods before it binds any."""
        stop_server("kube-scheduler")
        self.apply(job)
        self.until_pods(name, job["spec"]["workers"]["replicas"])
        for number, node in enumerate(nodes):
            other = foreign_pod(self.space, f"foreign-{number}", node, 8)
            del other["spec"]["nodeSelector"]
            other["spec"].update(nodeName=node, **pod.get("spec", {}))
            other["metadata"].update(pod.get("metadata", {}))
            self.cluster.create("pods", other)
        start_servers()

    def test_a_gang_has_a_pod_group_and_is_bound_as_one(self):
        self.apply(training_job(self.space, "job", 16, run_seconds=3, ttlSecondsAfterFinished=1))
        self.cluster.until_running(self.space, "job")
        self.assertEqual(self.nodes_of_pods("job"), self.placed_nodes("job"))
        group = self.group_of("job")
        self.assertRegex(group["metadata"]["name"], r"^job-1-weft-[0-9a-z]{4,5}$")
        placement = self.cluster.get("placements", self.space, "job-1")
        owner = group["metadata"]["ownerReferences"][0]
        self.assertEqual((owner["kind"], owner["uid"]),
                         ("Placement", placement["metadata"]["uid"]))
        self.assertEqual(group["spec"]["schedulingPolicy"], {"gang": {"minCount": 16}})
        self.assertEqual(group["spec"]["disruptionMode"], {"all": {}})
        self.assertEqual(condition(group, "PodGroupInitiallyScheduled")["status"], "True")
        self.cluster.until_condition(self.space, "job", "Complete")
        self.cluster.until_no_job(self.space, "job")
        self.until_no_groups()

    def test_the_node_that_refuses_is_left_out_and_no_other(self):
        taken = self.first_nodes(16)[7]
        self.take_before_the_gang("job", [taken], training_job(self.space, "job", 16))
        job = self.cluster.until_running(self.space, "job", attempt=2)
        self.assertEqual(self.ever_bound("job", 1), set())
        self.assertEqual([one["node"] for one in job["status"]["excludedNodes"]], [taken])
        self.assertEqual(job["status"]["restarts"], 0)
        self.assertIn(taken, condition(job, "Restarting")["message"])
        self.assertNotIn(taken, self.placed_nodes("job", 2))
        self.assertEqual(self.nodes_of_pods("job", 2), self.placed_nodes("job", 2))
        first, second = (self.history_of_groups(attempt) for attempt in (1, 2))
        self.assertNotEqual(first, second)

    def history_of_groups(self, attempt):
        """Names of the job's PodGroups of the attempt that ever were."""
        pattern = re.compile(rf"^job-{attempt}-weft-")
        return {change.thing["metadata"]["name"]
                for change in self.cluster.history.changes(self.space)
                if change.plural == "podgroups" and pattern.match(change.thing["metadata"]["name"])}

    def test_an_urgent_gang_waits_for_the_pod_that_it_preempts(self):
        taken = self.first_nodes(4)[1]
        bystander = foreign_pod(self.space, "bystander", taken, 8)
        bystander["spec"]["nodeSelector"] = {}
        bystander["spec"]["affinity"] = {"nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
                {"matchExpressions": [{"key": HOST, "operator": "NotIn",
                                       "values": self.first_nodes(4)}]}]}}}
        self.cluster.create("pods", bystander)
        self.cluster.until("the bystander runs", lambda: (self.cluster.history.now(
            "pods", self.space, "bystander") or {"status": {}})["status"].get("phase") == "Running")
        job = training_job(self.space, "job", 4)
        job["spec"]["workers"]["template"]["spec"]["priorityClassName"] = "urgent"
        self.take_before_the_gang("job", [taken], job, metadata={
            "annotations": {"weft.test/stop-seconds": str(STOP_SECONDS)}})
        group = self.group_of("job")
        self.assertEqual((group["spec"]["priorityClassName"], group["spec"]["priority"]),
                         ("urgent", 1000))
        self.cluster.until("kube-scheduler preempts for the gang", lambda: any(
            pod["status"].get("nominatedNodeName")
            for pod in self.cluster.pods(self.space, "job")))
        job = self.cluster.until_running(self.space, "job")  # the first attempt
        self.assertEqual(self.nodes_of_pods("job"), self.placed_nodes("job"))
        self.assertIn(taken, self.placed_nodes("job"))
        self.assertNotIn("excludedNodes", job["status"])
        left = {pod["metadata"]["name"] for pod in self.cluster.history.all_now("pods", self.space)}
        self.assertEqual(left & {"bystander", "foreign-0"}, {"bystander"})

    def pending_gang(self):
        """A job whose pods kube-scheduler has not looked at, and the name of its PodGroup."""
        stop_server("kube-scheduler")
        self.addCleanup(start_servers)
        self.apply(training_job(self.space, "job", 4))
        self.until_pods("job", 4)
        return self.group_of("job")["metadata"]["name"]

    def test_a_deleted_pod_group_does_not_hang_its_job(self):
        group = self.pending_gang()
        self.cluster.delete("podgroups", self.space, group)
        start_servers()
        self.cluster.until_condition(self.space, "job", "PodsReady")
        self.cluster.delete("trainingjobs", self.space, "job")
        self.cluster.until_no_job(self.space, "job")
        self.until_no_groups()

    def test_a_pod_group_that_is_gone_does_not_hang_its_job(self):
        group = self.pending_gang()
        self.cluster.delete("podgroups", self.space, group)
        self.cluster.patch("podgroups", self.space, group, {"metadata": {"finalizers": None}})
        start_servers()
        self.cluster.until_condition(self.space, "job", "PodsReady")

    def test_suspended_resumed_and_deleted(self):
        self.apply(training_job(self.space, "job", 4))
        self.cluster.until_running(self.space, "job")
        first = self.group_of("job")["metadata"]["name"]
        self.cluster.patch("trainingjobs", self.space, "job", {"spec": {"suspend": True}})
        self.cluster.until_condition(self.space, "job", "Suspended")
        self.until_no_groups()
        self.cluster.patch("trainingjobs", self.space, "job", {"spec": {"suspend": False}})
        self.cluster.until_running(self.space, "job", attempt=2)
        self.assertNotEqual(self.group_of("job", 2)["metadata"]["name"], first)
        self.cluster.delete("trainingjobs", self.space, "job")
        self.cluster.until_no_job(self.space, "job")
        self.until_no_groups()

    def test_a_namespace_ends_with_its_gangs(self):
        self.apply(training_job(self.space, "runs", 4))
        self.cluster.until_running(self.space, "runs")
        self.assertTrue(self.group_of("runs"))
        self.until_no_namespace()


if __name__ == "__main__":
    main()
