#!/usr/bin/env python3
"""What RBAC allows the operator and the chart's policies do not: each write, as its account."""

import copy
import json

from chart_lib import ACCOUNT, SPACE, Deployed, install, kubectl
from operator_foreign import ForeignScenarios
from operator_lib import MERGE, ApiServer, Cluster, condition, poll, training_job
from operator_scenarios import main

CONTROLLER = {"apiVersion": "weft.dev/v1alpha1", "kind": "TrainingJob", "name": "job",
              "uid": "11111111-2222-3333-4444-555555555555", "controller": True}
LABELS = {"weft.dev/job-name": "job", "weft.dev/job-uid": CONTROLLER["uid"],
          "weft.dev/attempt": "1", "weft.dev/worker-index": "0"}
ENFORCE = "pod-security.kubernetes.io/enforce"


def changed(thing, path, value):
    """A copy with another value at that path of keys; None takes it away."""
    thing = copy.deepcopy(thing)
    *parents, last = path
    at = thing
    for part in parents:
        at = at[part] if isinstance(part, int) else at.setdefault(part, {})
    if value is None:
        del at[last]
    else:
        at[last] = value
    return thing


class Policies(ForeignScenarios):
    operator_type = Deployed
    flags = ()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.as_operator = ApiServer(impersonate=ACCOUNT)
        cls.addClassCleanup(cls.as_operator.close)

    def ask(self, method, plural, name="", body=None, space=None):
        """As the operator, and nothing is written: admission is asked all the same."""
        path = Cluster.path(plural, space or self.space, name) + "?dryRun=All"
        media = MERGE if method == "PATCH" else "application/json"
        status, answer = self.as_operator.request(method, path, body and json.dumps(body), media)
        if status not in (200, 201, 202):
            raise AssertionError(f"{method} {path}: {status} {answer.get('message')}")

    def create(self, thing):
        self.ask("POST", thing["kind"].lower() + "s", body=thing)

    def is_refused(self, thing):
        """Changes of policies and namespaces are told by watches."""
        try:
            if thing["kind"] == "Pod":
                self.create(thing)
            else:
                kubectl("create", "-f", "-", "--dry-run=server", text=json.dumps(thing))
            return False
        except AssertionError:
            return True

    def refused(self, message, call, *arguments, **named):
        with self.assertRaises(AssertionError) as raised:
            call(*arguments, **named)
        self.assertIn(message, str(raised.exception))
        self.assertIn("ValidatingAdmissionPolicy", str(raised.exception))

    def pod(self):
        container = {"name": "c", "image": "registry.example/train:1"}
        return {"apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": "job-1-0", "namespace": self.space, "labels": dict(LABELS),
                             "ownerReferences": [dict(CONTROLLER)]},
                "spec": {"containers": [container],
                         "initContainers": [{**container, "name": "i"}]}}

    def object(self, kind, version, **rest):
        owner = {**CONTROLLER, "kind": "Placement"}
        return {"apiVersion": version, "kind": kind,
                "metadata": {"name": "thing", "namespace": self.space, "ownerReferences": [owner]},
                **rest}

    def test_the_policies_have_no_type_warnings(self):
        def checked():
            policies = json.loads(kubectl(
                "get", "validatingadmissionpolicies", "-o", "json", "-l",
                "app.kubernetes.io/instance=weft"))["items"]
            return all("typeChecking" in one.get("status", {}) for one in policies) and policies
        policies = poll(checked, "the API server has checked the policies")
        self.assertEqual(len(policies), 8)
        for policy in policies:
            self.assertEqual(policy["status"]["typeChecking"], {}, policy["metadata"]["name"])

    def test_pods_are_created_only_for_a_training_job(self):
        self.create(self.pod())
        owners, labels = ("metadata", "ownerReferences"), ("metadata", "labels")
        controlled = "only pods that a TrainingJob controls"
        labelled = "with the labels of their job, attempt and worker"
        for message, path, value in (
                (controlled, owners, []),
                (controlled, (*owners, 0, "controller"), False),
                (controlled, (*owners, 0, "kind"), "Placement"),
                (controlled, (*owners, 0, "apiVersion"), "batch/v1"),
                (controlled, ("metadata", "name"), "another-1-0"),
                (labelled, labels, {}),
                (labelled, (*labels, "weft.dev/job-uid"), "7"),
                (labelled, (*labels, "weft.dev/job-name"), "another"),
                (labelled, (*labels, "weft.dev/attempt"), None),
                (labelled, (*labels, "weft.dev/worker-index"), None),
                ("leaves the choice of the node to kube-scheduler", ("spec", "nodeName"),
                 "any")):
            with self.subTest(path):
                self.refused(message, self.create, changed(self.pod(), path, value))

    def test_pods_reach_their_node_only_where_the_namespace_says_so(self):
        cases = [("hostNetwork, hostPID or hostIPC", ("spec", field), True)
                 for field in ("hostNetwork", "hostPID", "hostIPC")]
        cases += [("hostPath volume", ("spec", "volumes"),
                   [{"name": "v", "emptyDir": {}}, {"name": "h", "hostPath": {"path": "/etc"}}])]
        for among in ("containers", "initContainers"):
            where = ("spec", among, 0, "securityContext")
            cases += [("are privileged", where, {"privileged": True}),
                      ("are privileged", where, {"capabilities": {"add": ["SYS_ADMIN"]}}),
                      ("are privileged", where,
                       {"capabilities": {"add": ["IPC_LOCK", "NET_RAW"]}}),
                      ("are privileged", ("spec", among, 0, "ports"),
                       [{"containerPort": 80}, {"containerPort": 81, "hostPort": 81}])]
        plain = changed(self.pod(), ("spec", "containers", 0, "securityContext"),
                        {"capabilities": {"add": ["IPC_LOCK", "CHOWN"]}})
        self.create(changed(plain, ("spec", "volumes"), [{"name": "v", "emptyDir": {}}]))
        for message, path, value in cases:
            with self.subTest(path, value=value):
                self.refused(message, self.create, changed(self.pod(), path, value))
        kubectl("label", "namespace", self.space, f"{ENFORCE}=privileged")
        for _, path, value in cases:
            thing = changed(self.pod(), path, value)
            poll(lambda thing=thing: not self.is_refused(thing), f"{path} {value} is allowed")

    def test_a_job_with_host_access_says_in_its_condition_what_its_namespace_lacks(self):
        job = training_job(self.space, "asks", 2)
        job["spec"]["workers"]["template"]["spec"]["hostNetwork"] = True
        self.apply(job)
        seen = self.cluster.until_condition(self.space, "asks", "Accepted", "False")
        self.assertIn(f"{self.space} to have the label {ENFORCE}: privileged",
                      condition(seen, "Accepted")["message"])

    def test_only_pods_of_a_training_job_are_deleted(self):
        self.cluster.create("pods", {
            "metadata": {"name": "other", "namespace": self.space, "labels": {"a": "b"}},
            "spec": {"containers": [{"name": "c", "image": "registry.example/other:1"}]}})
        self.apply(training_job(self.space, "runs", 2))
        self.cluster.until_running(self.space, "runs")
        self.refused("deletes only pods that a TrainingJob controls", self.ask, "DELETE", "pods",
                     "other")
        self.ask("DELETE", "pods", "runs-1-0")

    def test_of_a_training_job_only_the_finalizer_is_changed(self):
        self.apply(training_job(self.space, "kept", 2, ttlSecondsAfterFinished=100_000))
        self.cluster.until_running(self.space, "kept")

        def patch(body):
            self.ask("PATCH", "trainingjobs", "kept", body)
        for body in ({"suspend": True}, {"startupTimeoutSeconds": 7}):
            self.refused("never changes the spec", patch, {"spec": body})
        only = "only its finalizer weft.dev/claims in a"
        self.cluster.patch("trainingjobs", self.space, "kept",
                           {"metadata": {"annotations": {"others": "stay"}}})
        for body in ({"labels": {"a": "b"}}, {"annotations": {"a": "b"}},
                     {"annotations": {"others": "change"}}, {"annotations": {"others": None}},
                     {"finalizers": ["weft.dev/claims", "a.example/b"]},
                     {"ownerReferences": [{**CONTROLLER, "kind": "Placement"}]}):
            self.refused(only, patch, {"metadata": body})
        patch({"metadata": {"finalizers": None}})
        patch({"metadata": {"finalizers": ["weft.dev/claims"]}})
        delete = ("DELETE", "trainingjobs")
        self.refused("only when it has finished", self.ask, *delete, "kept")
        for name, rest, ends in (("ends", {"ttlSecondsAfterFinished": 100_000}, True),
                                 ("stays", {}, False)):
            self.apply(training_job(self.space, name, 2, 0, **rest))
            self.cluster.until_condition(self.space, name, "Complete")
            if ends:
                self.ask(*delete, name)
            else:
                self.refused("has ttlSecondsAfterFinished", self.ask, *delete, name)

    def test_what_is_created_beside_pods_has_an_owner(self):
        headless = {"clusterIP": "None", "ports": [{"port": 80}],
                    "selector": {"weft.dev/job-uid": "7"}}
        things = [self.object("ConfigMap", "v1", data={"a": "b"}),
                  self.object("Service", "v1", spec=headless),
                  self.object("Placement", "weft.dev/v1alpha1", spec={
                      "workers": 2, "accelerator": {"perWorker": 8}})]
        # A Service has no owner, but the labels of its job.
        things[1] = changed(changed(things[1], ("metadata", "ownerReferences"), []),
                            ("metadata", "labels"), LABELS)
        self.create(things[1])
        self.refused("with the labels of a job", self.create,
                     changed(things[1], ("metadata", "labels"), {}))
        for thing in (things[0], things[2]):
            self.create(thing)
            self.refused("that a TrainingJob or a Placement owns", self.create,
                         changed(thing, ("metadata", "ownerReferences"), []))
        kubectl("delete", "secret", "weft-operator-metrics", "-n", SPACE)
        secret = {"kind": "Secret", "metadata": {"name": "weft-operator-metrics"}}
        self.ask("POST", "secrets", body=secret, space=SPACE)
        self.refused("that a TrainingJob or a Placement owns", self.ask, "POST", "secrets",
                     body=changed(secret, ("metadata", "name"), "another"), space=SPACE)
        service = things[1]
        for field, value in (("clusterIP", None), ("type", "NodePort"),
                            ("selector", {"app": "other"}),
                            ("externalIPs", ["192.0.2.1"])):
            thing = changed(service, ("spec", field), value)
            if field == "type":
                del thing["spec"]["clusterIP"]
            self.refused("only headless Services", self.create, thing)
        self.cluster.create("placements", {**changed(things[2], ("metadata", "ownerReferences"), []),
                                           "apiVersion": "weft.dev/v1alpha1"})
        self.refused("that a TrainingJob or a Placement owns", self.ask, "DELETE",
                     "placements", "thing")

    def test_a_running_job_and_its_namespace_can_be_deleted(self):
        for name in ("first", "second"):
            self.apply(training_job(self.space, name, 2))
            self.cluster.until_running(self.space, name)
        self.cluster.delete("trainingjobs", self.space, "first",
                            {"propagationPolicy": "Foreground"})
        self.cluster.until_no_job(self.space, "first")
        self.cluster.delete("namespaces", "", self.space)
        poll(lambda: self.cluster.get("namespaces", "", self.space) is None,
             "the namespace is gone")
        self.cluster.make_namespace(self.space)

    def test_in_a_namespace_that_is_left_out_no_job_runs(self):
        left_out = ("kube-system", "kube-public", "kube-node-lease")
        for space in (*left_out, SPACE):
            self.refused("runs no jobs in this namespace", kubectl, "create", "-f", "-",
                         "--dry-run=server", text=json.dumps(training_job(space, "job", 2)))
        for space in left_out:
            pod = changed(self.pod(), ("metadata", "namespace"), space)
            self.refused("runs no jobs in this namespace", self.ask, "POST", "pods", body=pod,
                         space=space)
        self.apply(training_job(self.space, "before", 2, suspend=True))
        self.cluster.until_condition(self.space, "before", "Suspended")
        install(f"excludedNamespaces={{{self.space}}}")
        self.addCleanup(install)
        poll(lambda: self.is_refused(training_job(self.space, "job", 2)), "the policy has changed")
        self.cluster.patch("trainingjobs", self.space, "before", {"spec": {"suspend": False}})
        seen = self.cluster.until_condition(self.space, "before", "Accepted", "False")
        self.assertIn("runs no jobs in this namespace", condition(seen, "Accepted")["message"])


if __name__ == "__main__":
    main()
