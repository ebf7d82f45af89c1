#!/usr/bin/env python3
"""The chart's narrower ways to install the operator, each with its rights and with no others."""

from chart_lib import AccountAudit, Deployed, granted, kubectl
from operator_foreign import ForeignScenarios, is_gated
from operator_lib import poll, training_job
from operator_scenarios import main

OURS, OTHERS = "its-namespace", "another-namespace"
JOBS = "trainingjobs"


class Modes(ForeignScenarios):
    operator_type = Deployed

    @classmethod
    def setUpClass(cls):
        cls.audit = AccountAudit(from_now=True)
        for space in (OURS, OTHERS):
            kubectl("create", "namespace", space)
            cls.addClassCleanup(kubectl, "delete", "namespace", space, "--ignore-not-found")
        super().setUpClass()

    def setUp(self):
        self.space = OURS
        self.addCleanup(self.clean)

    def can(self, verb, resource, space):
        answer = self.cluster.call(
            "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {
                "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
                "spec": {"user": "system:serviceaccount:weft-system:weft-operator",
                         "resourceAttributes": {"verb": verb, "resource": resource,
                                                "namespace": space}}})
        return answer["status"]["allowed"]

    def asks_for_a_place(self, space):
        """What the API server would make of such a pod: nothing is written."""
        return self.cluster.create("pods", {
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "asks", "namespace": space, "labels": {"weft.dev/place": "true"}},
            "spec": {"containers": [{"name": "c", "image": "registry.example/train:1"}]}},
            "?dryRun=All")

    def expect_gates_only_here(self):
        """Elsewhere nobody would remove them."""
        poll(lambda: is_gated(self.asks_for_a_place(OURS)) and not is_gated(
            self.asks_for_a_place(OTHERS)), f"only pods in {OURS} get the gate")

    def expect_our_job_to_run(self):
        for space in (OTHERS, OURS):
            self.cluster.create(JOBS, training_job(space, "job", 2))
        self.cluster.until_running(OURS, "job")
        self.assertTrue(self.can("create", "pods", OURS))
        self.assertFalse(self.can("create", "pods", OTHERS))
        self.expect_gates_only_here()


class OneNamespace(Modes):
    flags = (f"watchNamespace={OURS}",)

    def test_it_follows_one_namespace_and_asks_for_nothing_else(self):
        self.expect_our_job_to_run()
        self.assertNotIn("status", self.cluster.job(OTHERS, "job"))
        self.assertEqual(self.audit.refused(), set())
        self.assertEqual(self.operator.forbidden(), [])


class SomeNamespaces(Modes):
    flags = (f"rbac.namespaces={{{OURS}}}",)

    def test_it_runs_jobs_only_where_it_may(self):
        self.expect_our_job_to_run()
        self.assertNotIn("status", self.cluster.job(OTHERS, "job"))


class LooksOn(Modes):
    flags = ("readOnly=true",)

    def test_it_has_no_right_to_write_but_for_its_lease(self):
        self.cluster.create(JOBS, training_job(OURS, "job", 2))
        poll(lambda: "synced" in self.operator.said(), "it has read the cluster")
        poll(lambda: ("coordination.k8s.io", "leases", "update") in self.audit.used(),
             "it keeps its Lease")
        writes = {right for right in granted() if right[2] not in ("get", "list", "watch")}
        self.assertEqual({resource for _, resource, _ in writes},
                         {"leases", "secrets", "tokenreviews", "subjectaccessreviews"})
        self.assertEqual(self.audit.refused(), set())
        self.assertEqual(self.operator.forbidden(), [])


if __name__ == "__main__":
    main()
