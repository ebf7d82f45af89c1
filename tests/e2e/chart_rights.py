#!/usr/bin/env python3
"""The operator runs with the rights that the chart gives it: none is missing, none is unused."""

import base64
import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import urllib.request

from chart_lib import ACCOUNT, NAME, SPACE, AccountAudit, Deployed, granted, health, kubectl
from operator_devices import DRIVER, apply, device_class, gpus_of
from operator_foreign import ForeignScenarios, is_gated, job, placement
from operator_lib import QUIET_NODES, poll, server_process, training_job
from operator_scenarios import main
from operator_shapes import transformer

RESTART_SECONDS = 900  # of an API server, where the machine does much else
# Asked by the API server's admission (OwnerReferencesPermissionEnforcement), not by a request.
BY_ADMISSION = {("weft.dev", "trainingjobs/finalizers", "update")}
# Asked of an object that is there before it was expected: the last leader's, as it died.
AFTER_A_DEATH = {("weft.dev", "placements", "get"),
                 ("resource.k8s.io", "resourceclaimtemplates", "get")}
# Of a kind that this API server does not serve. Days of tests/world need these rights.
NOT_SERVED = {("scheduling.k8s.io", "podgroups", verb)
              for verb in ("create", "get", "patch", "list", "watch")}
# Asked about pods that are bound and do not start, which kwok's do at once. Days of tests/world need
# this right.
OF_SLOW_PODS = {("", "events", "list")}
# Asked of controllers and kinds that are not in this cluster.
OF_OTHER_CONTROLLERS = {("jobset.x-k8s.io", "jobsets", "get"), ("ray.io", "rayclusters", "get"),
                        *(("resource.nvidia.com", "computedomains", verb)
                          for verb in ("create", "get", "delete")),
                        *(("kubeflow.org", f"{kind}jobs", "get") for kind in (
                            "pytorch", "tf", "xgboost", "paddle", "jax", "mpi"))}


class Rights(ForeignScenarios):
    operator_type = Deployed
    flags = ()

    @classmethod
    def setUpClass(cls):
        cls.audit = AccountAudit(from_now=False)
        super().setUpClass()

    def until_used(self, *rights):
        poll(lambda: set(rights) <= self.audit.used(), f"{rights} is used")

    def test_every_right_is_used_and_none_is_missing(self):
        self.cluster.history.expect_outages()
        self.run_to_its_end()
        self.scrape()
        self.tell_argo_cd()
        self.suspend_twice()
        self.place_by_label()
        self.claim_devices()
        self.meet_what_is_there()
        self.undo_a_gang()
        self.learn_twice()
        self.read_without_streams()
        self.assertEqual(self.audit.refused(), set())
        self.assertEqual(self.operator.forbidden(), [])
        self.assertEqual(granted() - self.audit.used() - BY_ADMISSION - AFTER_A_DEATH
                         - NOT_SERVED - OF_SLOW_PODS - OF_OTHER_CONTROLLERS, set())

    def run_to_its_end(self):
        probe = f"http://127.0.0.1:{self.operator.port}/readyz"
        self.apply(training_job(self.space, "short", 2, 0, ttlSecondsAfterFinished=1))
        self.cluster.until_condition(self.space, "short", "Complete")
        with urllib.request.urlopen(probe, timeout=10) as answer:
            self.assertEqual(answer.read(), b"ok\n")
        self.cluster.until_no_job(self.space, "short")

    def place_by_label(self):
        labelled = job(self.space, "labelled", 2)
        labelled["spec"]["template"]["metadata"]["labels"] = {"weft.dev/place": "true"}
        self.cluster.create("jobs", labelled)
        self.cluster.until("the labelled pods are bound", lambda: [
            bool(pod["spec"].get("nodeName")) for pod in self.pods("labelled")] == [True, True])
        self.remove("labelled")

    def claim_devices(self):
        apply(device_class(DRIVER), *(gpus_of(node["metadata"]["name"], "NVIDIA H100")
                                      for node in self.cluster.list("nodes")))
        self.addCleanup(kubectl, "delete", "resourceslices", "--all")
        claims = training_job(self.space, "claims", 1, 0, ttlSecondsAfterFinished=1)
        claims["spec"]["accelerator"] = {"deviceClassName": DRIVER, "perWorker": 8}
        del claims["spec"]["workers"]["template"]["spec"]["containers"][0]["resources"]
        self.apply(claims)
        self.cluster.until_condition(self.space, "claims", "Complete")
        self.cluster.until_no_job(self.space, "claims")

    def scrape(self):
        """As a Prometheus whose account may, and as others."""
        for name in ("prometheus", "stranger"):
            kubectl("create", "serviceaccount", name, "-n", self.space)
        kubectl("create", "clusterrolebinding", "scrapes",
                "--clusterrole=weft-operator-metrics-reader",
                f"--serviceaccount={self.space}:prometheus")
        self.addCleanup(kubectl, "delete", "clusterrolebinding", "scrapes")
        self.assertEqual(self.get_metrics("")[0], 401)
        token = {name: kubectl("create", "token", name, "-n", self.space).strip()
                 for name in ("prometheus", "stranger")}
        self.assertEqual(self.get_metrics(token["stranger"])[0], 403)
        code, text = self.get_metrics(token["prometheus"])
        self.assertEqual(code, 200)
        self.assertIn("weft_leader 1", text)

    def get_metrics(self, token):
        """As the ServiceMonitor tells Prometheus to: no answer of anybody else counts."""
        monitor = json.loads(kubectl("get", "servicemonitor", NAME, "-n", SPACE, "-o", "json"))
        known = monitor["spec"]["endpoints"][0]["tlsConfig"]
        secret = known["ca"]["secret"]
        data = json.loads(kubectl("get", "secret", secret["name"], "-n", SPACE, "-o", "json"))
        context = ssl.create_default_context(
            cadata=base64.b64decode(data["data"][secret["key"]]).decode())
        connection = http.client.HTTPSConnection("127.0.0.1", self.operator.metrics_port)
        with socket.create_connection(("127.0.0.1", self.operator.metrics_port), 10) as plain:
            connection.sock = context.wrap_socket(plain, server_hostname=known["serverName"])
            connection.request("GET", "/metrics", headers={
                "Authorization": f"Bearer {token}"} if token else {})
            answer = connection.getresponse()
            text = answer.read().decode()
            connection.close()
        return answer.status, text

    def tell_argo_cd(self):
        jobs = [("no-room", "Progressing", "Placed", "False", training_job(self.space, "", 33)),
                ("failing", "Degraded", "Failed", "True", training_job(
                    self.space, "", 2, annotations={"weft.test/exit-code": "3"})),
                ("running", "Healthy", "PodsReady", "True", training_job(self.space, "", 2)),
                ("asleep", "Suspended", "Suspended", "True", training_job(
                    self.space, "", 2, suspend=True)),
                ("ended", "Healthy", "Complete", "True", training_job(self.space, "", 2, 0))]
        for name, *_, thing in jobs:
            thing["metadata"]["name"] = name
            self.assertEqual(health(self.apply(thing)), "Progressing")
        for name, says, kind, status, _ in jobs:
            one = self.cluster.until_condition(self.space, name, kind, status)
            self.assertEqual(health(one), says, f"{name}: {one['status']}")
        self.assertEqual(health(self.cluster.get("placements", self.space, "running-1")), "Healthy")
        for name, preset, says in (("sound", "TopographV1", "Healthy"), ("odd", "Tea", "Degraded")):
            self.assertEqual(self.fabric_health(name, preset), says)
        for name, *_ in jobs:
            self.cluster.delete("trainingjobs", self.space, name)
            self.cluster.until_no_job(self.space, name)

    def fabric_health(self, name, preset):
        fabric = {"apiVersion": "weft.dev/v1alpha1", "kind": "Fabric",
                  "metadata": {"name": name}, "spec": {"preset": preset}}
        kubectl("create", "-f", "-", text=json.dumps(fabric))
        seen = poll(lambda: (one := json.loads(kubectl("get", "fabric", name, "-o", "json"))).get(
            "status") and one, "the Fabric is looked at")
        kubectl("delete", "fabric", name)
        return health(seen)

    def suspend_twice(self):
        """The second time is the same event once more."""
        self.apply(training_job(self.space, "pause", 2))
        for attempt in (1, 2):
            self.cluster.until_running(self.space, "pause", attempt)
            self.cluster.patch("trainingjobs", self.space, "pause", {"spec": {"suspend": True}})
            self.cluster.until_condition(self.space, "pause", "Suspended")
            self.cluster.patch("trainingjobs", self.space, "pause", {"spec": {"suspend": False}})
        self.until_used(("events.k8s.io", "events", "patch"))

    def meet_what_is_there(self):
        """Objects of others with the names that a job's would have are looked at and left alone."""
        self.cluster.create("pods", {
            "metadata": {"name": "taken-1-0", "namespace": self.space, "labels": {"not": "ours"}},
            "spec": {"containers": [{"name": "c", "image": "registry.example/other:1"}]}})
        self.cluster.create("services", {
            "metadata": {"name": "other", "namespace": self.space},
            "spec": {"ports": [{"port": 80}]}})
        self.apply(training_job(self.space, "taken", 2))
        self.apply(training_job(self.space, "other", 2))
        self.until_used(("", "pods", "get"), ("", "services", "get"))
        for name in ("taken", "other"):
            self.cluster.delete("trainingjobs", self.space, name)
            self.cluster.until_no_job(self.space, name)

    def learn_twice(self):
        """The first measurement creates the ConfigMap, the second changes it."""
        self.apply(training_job(self.space, "measured", 2, model=transformer(),
                                parallelism={"tensor": 8}))
        self.cluster.until_running(self.space, "measured")
        outlook = self.cluster.get("placements", self.space, "measured-1")["status"]["outlook"]
        for factor, verb in ((1.2, "create"), (1.3, "patch")):
            seconds = str(factor * outlook["stepMilliseconds"] / 1000)
            self.cluster.patch("trainingjobs", self.space, "measured", {"metadata": {
                "annotations": {"weft.dev/measured-step-seconds": seconds}}})
            poll(lambda factor=factor: f"percent: {100 * factor:.2f}" in kubectl(
                "get", "configmap", "-n", SPACE, "--ignore-not-found", "-o", "yaml",
                "weft-learned-steps"), f"the ConfigMap follows by {verb}")
        self.cluster.delete("trainingjobs", self.space, "measured")
        self.cluster.until_no_job(self.space, "measured")

    def undo_a_gang(self):
        """Of a stock Job whose pods kube-scheduler binds to no node, which Weft cannot know."""
        hopeless = job(self.space, "train", 2)
        hopeless["spec"]["template"]["spec"]["schedulerName"] = QUIET_NODES
        self.addCleanup(self.cluster.make_quiet)
        self.cluster.make_noisy(*(node["metadata"]["name"] for node in self.cluster.list("nodes")))
        self.cluster.create("placements", placement(self.space, "train", 2))
        self.cluster.create("jobs", hopeless)
        self.until_used(("", "pods/eviction", "create"))
        self.remove("train")

    def read_without_streams(self):
        """From an API server that does not stream lists the operator reads them in pages."""
        self.operator.stop()
        os.kill(server_process("kube-apiserver"), signal.SIGKILL)
        flags = os.environ["WEFT_API_SERVER_FLAGS"] + " --feature-gates=WatchList=false"
        subprocess.run([os.environ["WEFT_LOCAL_CLUSTER"], "up", "--name", "operator"], check=True,
                       capture_output=True, timeout=RESTART_SECONDS,
                       env={**os.environ, "WEFT_API_SERVER_FLAGS": flags})
        self.operator.start()
        self.until_used(*((group, resource, "list")
                          for group, resource, verb in granted() - NOT_SERVED - OF_SLOW_PODS
                          if verb == "list"))
        self.apply(training_job(self.space, "paged", 2))
        self.cluster.until_running(self.space, "paged")
        self.assertEqual(self.get_metrics("")[0], 401, "the certificate is the one from before")


class Policies(ForeignScenarios):
    """What RBAC allows and admission does not."""

    operator_type = Deployed
    flags = ()

    def refused(self, message, *arguments):
        """Asked for on trial, until admission has learned of the policy: that takes its own time."""
        def answer():
            try:
                kubectl(*arguments, "--dry-run=server")
            except AssertionError as error:
                return str(error)
            return None
        self.assertIn(message, poll(answer, f"it is refused: {message}", RESTART_SECONDS))

    def test_of_a_pod_of_others_the_operator_changes_where_it_goes_and_nothing_else(self):
        self.start("train", 3, pods=2)
        self.cluster.until("two pods", lambda: len(self.pods("train")) == 2)
        pod = self.pods("train")[0]["metadata"]["name"]
        patch = ("patch", "pod", pod, "-n", self.space, "--as", ACCOUNT, "--type=json", "-p")
        for what, change in (
                ("may not change a pod's containers", "replace /spec/containers/0/image other:1"),
                ("only the node affinity", 'add /spec/nodeSelector {"a":"b"}'),
                ("only the node affinity", 'add /spec/activeDeadlineSeconds 7'),
                ("may not change a label, owner or finalizer", "add /metadata/labels/team other"),
                ("may not change a label, owner or finalizer",
                 'add /metadata/finalizers ["a.example/b"]'),
                ("only annotations of weft.dev", "add /metadata/annotations/note other"),
                ("only annotations of weft.dev",
                 "remove /metadata/annotations/weft.test~1run-seconds")):
            self.refused(what, *patch, operation(change))
        kubectl(*patch, operation("add /metadata/annotations/weft.dev~1worker-index 1"))
        kubectl(*patch, operation("remove /spec/schedulingGates"))

    def test_only_who_may_place_takes_the_gate_away(self):
        self.start("train", 3, pods=2)
        self.cluster.until("two pods", lambda: len(self.pods("train")) == 2)
        first, second = [one["metadata"]["name"] for one in self.pods("train")]
        for role in ("edit", "admin"):
            kubectl("create", "rolebinding", role, f"--clusterrole={role}", f"--user={role}", "-n",
                    self.space)
        ungate = ("-n", self.space, "--type=json", "-p", operation("remove /spec/schedulingGates"))
        self.refused("only Weft, and accounts that may patch", "patch", "pod", first, "--as=edit",
                     *ungate)
        self.assertTrue(all(is_gated(pod) for pod in self.pods("train")))
        kubectl("label", "pod", first, "-n", self.space, "--as=edit", "team=a")
        poll(lambda: kubectl("auth", "can-i", "patch", "placements/status", "-n", self.space,
                             "--as=admin"), "the roles are aggregated")
        kubectl("patch", "pod", first, "--as=admin", *ungate)
        kubectl("delete", "pod", second, "-n", self.space, "--as=edit", "--wait=false")

    def test_nobody_passes_a_pod_off_as_weft_s(self):
        kubectl("create", "rolebinding", "edit", "--clusterrole=edit", "--user=edit", "-n",
                self.space)
        run_pod = ("run", "forged", "--image=registry.example/other:1", "-n", self.space,
                   "--as=edit")
        self.refused("only Weft creates pods with the label", *run_pod,
                     "--labels=weft.dev/job-uid=7")
        kubectl(*run_pod)
        self.refused("only Weft creates pods with the label", "label", "pod", "forged", "-n",
                     self.space, "--as=edit", "weft.dev/job-uid=7")


def operation(text):
    """As JSON: "add /path value"."""
    verb, path, *value = text.split(" ", 2)
    rest = ""
    if value:
        is_json = value[0][0] in "{[0123456789" and not path.endswith("index")
        rest = f', "value": {value[0]}' if is_json else f', "value": "{value[0]}"'
    return f'[{{"op": "{verb}", "path": "{path}"{rest}}}]'


if __name__ == "__main__":
    main()
