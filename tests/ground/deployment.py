#!/usr/bin/env python3
"""weft-operator as its chart's Deployment on real nodes: from the image, with its ServiceAccount
and probes, in a namespace that enforces the restricted Pod Security Standard; through an upgrade,
the end of a container, and the end of a node's processes."""

import json
import os
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "ranks"))
from rank_scenarios import RankScenarios  # noqa: E402
import faults  # noqa: E402
import real_node  # noqa: E402
from ground_scenarios import GPUS_EACH, LONG_SECONDS  # noqa: E402
from chart_lib import SPACE, kubectl, run  # noqa: E402
from operator_lib import condition, poll  # noqa: E402
from operator_scenarios import main  # noqa: E402

UNTIL_THE_TEST_ENDS_IT = ["sh", "-c",
                          "trap 'exit 0' TERM; until [ -e /tmp/end ]; do sleep 0.1; done"]


class Deployment:
    """With the interface of operator_lib.Operator."""

    def __init__(self, work, name, *flags):
        del work, name, flags
        self.helm("install", "--take-ownership")

    @staticmethod
    def helm(verb, *more):
        run("helm", verb, "weft", os.environ["WEFT_CHART"], "-n", SPACE, "--wait",
            "--timeout", "600s", "--set", "verification.enabled=true", *more)

    @staticmethod
    def pods():
        return json.loads(kubectl("get", "pods", "-n", SPACE, "-o", "json"))["items"]

    @staticmethod
    def holder():
        """Of the Lease: its host's name and a number that each process has for itself."""
        lease = json.loads(kubectl("get", "lease", "-n", SPACE, "weft-operator", "-o", "json"))
        return lease["spec"].get("holderIdentity") or "-"

    def leader(self):
        """The pod that holds the Lease."""
        holder = self.holder()
        return next((pod for pod in self.pods() if pod["metadata"]["name"] in holder), None)

    @staticmethod
    def tail():
        return run("kubectl", "logs", "-n", SPACE, "-l", "app.kubernetes.io/name=weft", "--tail=30",
                   "--prefix")

    @staticmethod
    def stop():
        run("helm", "uninstall", "weft", "-n", SPACE, "--wait")


class WithDeployment(RankScenarios):
    operator_type = Deployment
    image = "registry.example/none:1"

    @classmethod
    def setUpClass(cls):
        os.environ["PATH"] = os.path.dirname(os.environ["WEFT"]) + ":" + os.environ["PATH"]
        kubectl("label", "--overwrite", "namespace", SPACE,
                "pod-security.kubernetes.io/enforce=restricted")
        super().setUpClass()
        cls.images.add(cls.image)

    def start_gang(self):
        job = self.gang({"type": "Custom"}, UNTIL_THE_TEST_ENDS_IT)
        # The chart's policies refuse folders of the node in this namespace, and none is needed.
        pod = job["spec"]["workers"]["template"]["spec"]
        del pod["volumes"], pod["containers"][0]["volumeMounts"]
        self.apply(job)
        self.cluster.until_running(self.space, "ring")

    def end_gang(self):
        """It has run without a restart."""
        for pod in self.cluster.pods(self.space, "ring"):
            kubectl("exec", "-n", self.space, pod["metadata"]["name"], "--", "touch", "/tmp/end")
        self.assertEqual(self.ended("ring")["status"]["attempt"], 1)


class DeploymentScenarios(WithDeployment):
    def test_a_job_runs_and_the_image_reports_where(self):
        self.start_gang()
        verified = self.cluster.until_condition(self.space, "ring", "PlacementVerified", "True")
        self.assertEqual(condition(verified, "PlacementVerified")["reason"], "HostsMatch")
        self.end_gang()

    def test_a_job_runs_through_an_upgrade(self):
        self.start_gang()
        before = {pod["metadata"]["uid"] for pod in self.operator.pods()}
        self.operator.helm("upgrade", "--set", "log.level=debug")
        poll(self.operator.leader, "a leader of the new release")
        after = [pod for pod in self.operator.pods() if "deletionTimestamp" not in pod["metadata"]]
        self.assertFalse(before & {pod["metadata"]["uid"] for pod in after})
        self.end_gang()

    def test_a_leader_whose_container_ends_is_followed_by_another(self):
        self.start_gang()
        leader, holder = poll(self.operator.leader, "a leader"), self.operator.holder()
        node, uid = leader["spec"]["nodeName"], leader["metadata"]["uid"]
        before = leader["status"]["containerStatuses"][0]["restartCount"]
        real_node.local_cluster("exec", node, "pkill", "-KILL", "-x", "weft-operator")
        poll(lambda: any(pod["metadata"]["uid"] == uid and
                         pod["status"]["containerStatuses"][0]["restartCount"] > before
                         for pod in self.operator.pods()), "the kubelet starts the container again")
        poll(lambda: self.operator.holder() not in ("-", holder), "another process leads")
        self.end_gang()

    def test_the_plug_in_and_probes_reach_it(self):
        self.start_gang()
        shown = json.loads(kubectl("weft", "top", "-n", self.space, "-o", "json"))
        self.assertEqual([(job["name"], job["phase"]) for job in shown["jobs"]],
                         [("ring", "Running")])
        leader = poll(self.operator.leader, "a leader")["metadata"]["name"]
        probe = kubectl("get", "--raw",
                        f"/api/v1/namespaces/{SPACE}/pods/{leader}:8081/proxy/readyz")
        self.assertIn("ok", probe)
        self.end_gang()


class LostLeader(WithDeployment):
    def test_a_leader_whose_node_is_lost_is_followed_by_another(self):
        lost = poll(self.operator.leader, "a leader")["spec"]["nodeName"]
        real_node.Node(lost).lose()
        try:
            leads = poll(lambda: (self.operator.leader() or {}).get("spec", {}).get(
                "nodeName", lost) != lost, "a leader on another node")
        finally:
            real_node.Node.bring_back()
        self.assertTrue(leads)
        self.cluster.until("the node is back", lambda: faults.is_well(
            self.cluster.get("nodes", "", lost), GPUS_EACH), LONG_SECONDS)
        self.start_gang()
        self.end_gang()


if __name__ == "__main__":
    main()
