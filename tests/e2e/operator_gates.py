#!/usr/bin/env python3
"""The feature gate GenericWorkload is missing in one server: jobs start, end and are deleted all the
same, no PodGroup and no namespace stays, and one event says which server lacks it."""

import itertools

from operator_lib import Operator, poll, training_job
from operator_pod_groups import GroupScenarios, name_of_group
from operator_scenarios import PATIENT, main
from operator_servers import restart_server

REASON = "PodGroupsUnused"
# Of a PodGroup without pods, until Weft takes the finalizer off that nobody else does.
LEFT_SECONDS = 60
FOUND_SECONDS = 300
NUMBERS = itertools.count()  # of operators: each has an identity of its own


class Gates(GroupScenarios):
    flags = PATIENT

    def setUp(self):
        super().setUp()
        self.cluster.history.expect_outages()
        self.begin()

    def begin(self, *flags):
        """Another operator, which has found nothing out yet."""
        self.end()
        name = f"gates-{next(NUMBERS)}"
        type(self).operator = Operator(self.work.name, name, *self.flags, *flags)

    def end(self):
        if self.operator.process.poll() is None:  # it handles signals once it leads
            poll(lambda: self.leader() == self.operator.name, "the operator leads")
            self.operator.stop()

    def leader(self):
        lease = self.cluster.get("leases", "weft-system", "weft-operator") or {"spec": {}}
        return lease["spec"].get("holderIdentity")

    def without_gate(self, server, flags=""):
        restart_server(server, flags)
        self.addCleanup(restart_server, server)

    def events(self, job=None):
        return [one for one in self.cluster.list("events", self.space) if one["reason"] == REASON
                and job in (None, one["involvedObject"]["name"])]

    def expect_told_once(self, server, job):
        """By an event of this job."""
        told = poll(lambda: self.events(job), f"an event of {job}", FOUND_SECONDS)
        self.assertEqual([one.get("count", 1) for one in told], [1])
        self.assertIn(server, told[0]["message"])
        self.assertIn("GenericWorkload", told[0]["message"])

    def lines_of_log(self, text):
        return [line for line in self.operator.said().splitlines() if text in line]

    def run_and_delete(self, name, workers=4):
        """Whether its pods had a PodGroup."""
        self.apply(training_job(self.space, name, workers))
        self.cluster.until_running(self.space, name)
        self.assertEqual(self.nodes_of_pods(name), self.placed_nodes(name))
        groups = {name_of_group(pod) for pod in self.cluster.pods(self.space, name)}
        self.cluster.delete("trainingjobs", self.space, name)
        self.cluster.until_no_job(self.space, name)
        return groups != {None}

    def test_without_the_gate_in_the_scheduler(self):
        self.without_gate("kube-scheduler")
        self.apply(training_job(self.space, "first", 4))
        self.cluster.until_running(self.space, "first")
        self.expect_told_once("kube-scheduler", "first")
        self.assertTrue(self.run_and_delete("second"))
        self.cluster.delete("trainingjobs", self.space, "first")
        self.cluster.until_no_job(self.space, "first")
        self.until_no_groups()
        self.until_no_namespace()

    def test_without_the_gate_in_the_controllers(self):
        self.without_gate("kube-controller-manager")
        self.assertTrue(self.run_and_delete("first"))
        self.until_no_groups(LEFT_SECONDS + FOUND_SECONDS)
        self.assertEqual(len(self.lines_of_log(f"podGroup={self.space}/")), 1)
        self.assertTrue(self.run_and_delete("second"))
        self.until_no_namespace(LEFT_SECONDS + FOUND_SECONDS)

    def test_without_the_gate_in_the_api_server(self):
        """It serves no PodGroups then. On a busy machine it is away for longer than a lead lasts."""
        self.apply(training_job(self.space, "before", 4))
        self.cluster.until_running(self.space, "before")
        self.end()
        self.addCleanup(self.begin)
        self.without_gate("kube-apiserver")
        self.addCleanup(self.end)
        self.begin()
        self.assertFalse(self.run_and_delete("after"))
        self.cluster.delete("trainingjobs", self.space, "before")
        self.cluster.until_no_job(self.space, "before")
        self.until_no_namespace()

    def test_with_pod_groups_switched_off(self):
        self.begin("--pod-groups=false")
        self.assertFalse(self.run_and_delete("job"))
        self.assertEqual(self.events(), [])
        self.until_no_namespace()


if __name__ == "__main__":
    main()
