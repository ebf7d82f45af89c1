#!/usr/bin/env python3
"""A day of a cluster under a real Prometheus: every alert of the chart fires, and clears.

Jobs come and go, a leaf is drained, a node loses its label, kube-scheduler refuses gangs, admission
refuses Services, a Fabric is broken, the solver's crashes are recorded, a connection dies silently,
the operator dies. Two operators run: the leader, and one that only looks on (--read-only) over a
connection that can be stalled.
"""

import datetime
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest

from metrics_dashboards import check_dashboards
from metrics_prometheus import Page, Prometheus, alerts_of_rules, fetch
from metrics_stall import StalledConnection
from operator_lib import (GPUS, QUIET_NODES, SOURCE, Cluster, Operator, free_port, poll,
                          slowness, training_job)

LEAF = "fabric.topograph.run/tier-0"
SPACE, FORBIDDEN = "metrics-day", "metrics-forbidden"
PRICES = os.path.join(SOURCE, "deploy", "examples", "prices.yaml")
# Each fails at once and then ever more seldom: enough for WeftReconcileFailing by their first times.
UNSERVED = 12
MODEL = {"type": "Transformer", "transformer": {
    "parameters": 8030000000, "layers": 32, "hiddenSize": 4096, "attentionHeads": 32,
    "keyValueHeads": 8, "feedForwardSize": 14336, "vocabularySize": 128256,
    "sequenceLength": 8192, "microBatchSize": 1, "globalBatchSize": 1920}}
SHAPE = {"model": MODEL, "parallelism": {"tensor": 8, "sharding": "OptimizerState"}}
NO_SERVICES = [
    {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
     "metadata": {"name": "no-services"},
     "spec": {"failurePolicy": "Fail", "matchConstraints": {"resourceRules": [
         {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
          "resources": ["services"]}]},
         "validations": [{"expression": f"object.metadata.namespace != '{FORBIDDEN}'",
                          "message": "no Services here"}]}},
    {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding",
     "metadata": {"name": "no-services"},
     "spec": {"policyName": "no-services", "validationActions": ["Deny"]}},
]


def apply(*things):
    """By kubectl, as a user would."""
    text = "\n---\n".join(json.dumps(thing) for thing in things)
    subprocess.run(["kubectl", "apply", "-f", "-"], input=text.encode(), check=True,
                   stdout=subprocess.DEVNULL)


def foreign_job():
    """One pod in each leaf, as kube-scheduler prefers: what a job requires, the best keeps too."""
    labels = {"app": "foreign"}
    return {"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": "foreign", "namespace": SPACE},
            "spec": {"completions": 2, "parallelism": 2, "completionMode": "Indexed", "template": {
                "metadata": {"labels": labels, "annotations": {"weft.test/run-seconds": "3600"}},
                "spec": {"restartPolicy": "Never",
                         "topologySpreadConstraints": [
                             {"maxSkew": 1, "topologyKey": LEAF, "whenUnsatisfiable": "ScheduleAnyway",
                              "labelSelector": {"matchLabels": labels}}],
                         "containers": [{"name": "c", "image": "registry.example/other:1",
                                         "resources": {"limits": {GPUS: 8}}}]}}}}


def weft_report(prometheus, *more):
    """Of the last ten minutes: decoded with -o json, else as text."""
    told = subprocess.run(
        [os.environ["WEFT"], "report", "--since", "10m", "--prometheus",
         f"http://127.0.0.1:{prometheus.port}/", *more], check=True, capture_output=True, text=True)
    return json.loads(told.stdout) if "json" in more else told.stdout


class Day(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.work.cleanup)
        cls.cluster = Cluster()
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.make_namespace(SPACE)
        cls.cluster.make_namespace(FORBIDDEN)
        # On the design's network of equal levels no placement costs much more than another.
        fabric = cls.cluster.call("GET", "/apis/weft.dev/v1alpha1/fabrics/default")
        for level, percent in zip(fabric["spec"]["levels"], (800, 100)):
            level["link"]["oversubscriptionPercent"] = percent
            level["powerWatts"] = 100_000_000  # for the headroom; no job comes near
        cls.cluster.call("PUT", "/apis/weft.dev/v1alpha1/fabrics/default", fabric)
        cls.leader_port, cls.onlooker_port = free_port(), free_port()
        cls.leader = cls.start_leader()
        cls.addClassCleanup(lambda: cls.leader.stop())  # pylint: disable=unnecessary-lambda
        cls.connection = StalledConnection(cls.work.name)
        cls.addClassCleanup(cls.connection.close)
        cls.onlooker = Operator(cls.work.name, "onlooker", "--read-only", "--leader-elect=false",
                                "--kubeconfig", cls.connection.kubeconfig,
                                "--probe-address", f"127.0.0.1:{cls.onlooker_port}")
        cls.addClassCleanup(cls.onlooker.stop)
        cls.start_prometheus()

    @classmethod
    def start_leader(cls):
        return Operator(cls.work.name, "leader", "--prices", PRICES,
                        "--bind-deadline", str(round(3 * slowness())),
                        "--probe-address", f"127.0.0.1:{cls.leader_port}")

    @classmethod
    def start_prometheus(cls):
        exporters = {name: Page(lambda name=name: cls.dcgm(name)) for name in ("plain", "honoured")}
        for page in exporters.values():
            cls.addClassCleanup(page.close)
        pod = {"namespace": "gpu-operator", "pod": "dcgm-exporter-x", "container": "exporter"}
        operator = {"namespace": "weft-system", "pod": "weft-operator-x", "node": "control-plane"}
        cls.prometheus = Prometheus(cls.work.name, {
            "weft": (cls.leader_port, operator, False),
            "onlooker": (cls.onlooker_port, operator, False),
            "dcgm-plain": (exporters["plain"].port, pod, False),
            "dcgm-honoured": (exporters["honoured"].port, pod, True)})
        cls.addClassCleanup(cls.prometheus.close)
        cls.begin = time.time()
        cls.fired, cls.cleared = set(), set()

    @classmethod
    def dcgm(cls, exporter):
        """Samples as DCGM's exporter writes them: job left by one that is scraped plainly, job
        right by one with honorLabels."""
        job = {"plain": "left", "honoured": "right"}[exporter]
        text = ""
        for name in ("DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
                     "DCGM_FI_PROF_NVLINK_TX_BYTES", "DCGM_FI_DEV_POWER_USAGE"):
            text += f"# TYPE {name} gauge\n"
            for pod in cls.cluster.pods(SPACE, job)[:4]:
                if "nodeName" not in pod["spec"]:
                    continue  # the exporter of a node knows only what runs there
                for gpu in range(8):
                    text += (f'{name}{{gpu="{gpu}",UUID="GPU-{gpu}",Hostname='
                             f'"{pod["spec"]["nodeName"]}",namespace="{SPACE}",'
                             f'pod="{pod["metadata"]["name"]}",container="trainer"}} 0.9\n')
        return text

    def until_firing(self, name, **labels):
        """Now or since this part of the day began: on a busy machine some are over when one looks."""
        poll(lambda: self.prometheus.fired(name, labels, time.time() - self.part), f"{name} fires")
        self.fired.add(name)
        self.say(f"{name} fires")

    def until_clear(self, name):
        poll(lambda: all(name != alert for alert, _ in self.prometheus.firing()), f"{name} clears")
        self.cleared.add(name)
        self.say(f"{name} is clear")

    def say(self, what):
        print(f"{time.time() - self.begin:6.1f} s: {what}", flush=True)

    def until_value(self, query, want):
        poll(lambda: self.prometheus.value(query) == want, f"{query} is {want}")
        self.say(f"{query} is {want}")

    def apply_job(self, name, replicas, space=SPACE, **spec):
        self.cluster.create("trainingjobs", training_job(space, name, replicas, **spec))

    def delete_job(self, name, space=SPACE):
        self.cluster.delete("trainingjobs", space, name)
        self.cluster.until_no_job(space, name)

    def test_day(self):
        for part in (self.morning, self.fragmented, self.others, self.labels_and_drain,
                     self.refusals, self.crashes, self.broken):
            self.part = time.time()
            part()
        self.assertEqual(sorted(self.fired), sorted(alerts_of_rules()))
        self.assertEqual(self.cleared, self.fired)
        queries = check_dashboards(self, self.prometheus, (self.begin, time.time()), {
            "fabric": ".*", "namespace": SPACE, "trainingjob": "left"})
        self.say(f"{queries} queries of the dashboards return data")
        self.reports()

    def reports(self):
        """`weft report` against what Prometheus itself says of the same time."""
        report = weft_report(self.prometheus, "-o", "json")
        team, = [one for one in report["teams"] if one["namespace"] == SPACE]
        at = datetime.datetime.fromisoformat(report["until"]).timestamp()
        for name, record in (("allocatedHours", "allocated"), ("busyHours", "busy"),
                             ("strandedHours", "stranded")):
            want = self.prometheus.ask("query", time=at, query=(
                f'sum_over_time(team:weft_accelerators_{record}:sum'
                f'{{workload_namespace="{SPACE}"}}[599s:60s]) / 60'))["result"]
            self.assertAlmostEqual(team[name], float(want[0]["value"][1]), delta=0.002)
        self.assertGreater(team["allocatedHours"], 0)
        self.assertGreater(report["fleet"]["acceleratorHours"], team["allocatedHours"])
        self.assertGreater(team["lostHours"], 0)  # gangs that kube-scheduler refused
        text = weft_report(self.prometheus, "--prices", PRICES)
        for word in (SPACE, "GPU-HOURS", "STRANDED", "COST USD"):
            self.assertIn(word, text)
        print(text, flush=True)

    def morning(self):
        """Two jobs that leave twelve nodes in each of two leaves."""
        for port in (self.leader_port, self.onlooker_port):
            poll(lambda port=port: "weft_synced 1" in fetch(f"http://127.0.0.1:{port}/metrics"),
                 "the operator has read the cluster")
        self.until_value("count(weft_synced == 1)", 2)
        for name in ("left", "right"):
            self.apply_job(name, 20, topology={"required": "leaf"},
                           checkpoint={"intervalSeconds": 1}, **SHAPE)
            self.cluster.until_running(SPACE, name)
        self.checkpoints()
        self.until_value('max(weft_fabric_free_slots{level="leaf", slot_nodes="8"})', 2)
        self.until_value('max(weft_fabric_largest_free_block_nodes{level="leaf"})', 12)
        self.until_value('max(weft_trainingjob_domains{trainingjob="left", level="leaf"})', 1)
        self.until_firing("WeftSolverSlow")  # see HASTE
        self.apply_job("quick", 1, run_seconds=1)
        self.until_value('sum(weft_trainingjobs_ended_total{result="Complete"})', 1)
        for job in ("left", "right"):  # plain and with honorLabels
            self.until_value(f'count(weft:gpu_of_worker:info{{trainingjob="{job}"}})', 32)

    def checkpoints(self):
        """Job right never stores its state, job left does."""
        self.until_firing("WeftCheckpointLate", trainingjob="right")

        def kept():
            now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
            self.cluster.patch("trainingjobs", SPACE, "left", {"metadata": {"annotations": {
                "weft.dev/last-checkpoint-time": now}}})
            return self.prometheus.value(
                'max(weft_trainingjob_effective_time_ratio{trainingjob="left"})') == 1
        poll(kept, "all time of job left is in a checkpoint")
        for name in ("left", "right"):
            self.cluster.patch("trainingjobs", SPACE, name,
                               {"spec": {"checkpoint": {"intervalSeconds": 86400}}})
        self.until_clear("WeftCheckpointLate")

    def fragmented(self):
        self.apply_job("whole", 16, topology={"required": "leaf"})
        self.until_firing("WeftJobWaitsBesideFreeAccelerators", trainingjob="whole")
        # What takes the nodes runs in both leaves; then there are not enough for the other.
        self.apply_job("spread", 16, **SHAPE)
        self.cluster.until_running(SPACE, "spread")
        self.until_clear("WeftJobWaitsBesideFreeAccelerators")
        self.until_firing("WeftPlacementFarFromBest", trainingjob="spread")
        self.delete_job("spread")
        self.until_clear("WeftPlacementFarFromBest")
        self.delete_job("whole")
        self.until_value('count(weft_trainingjob_info{trainingjob="whole"})', None)

    def others(self):
        apply(foreign_job())
        self.until_firing("WeftGangFarFromBest", gang="foreign", gang_kind="Job")
        self.cluster.delete("jobs", SPACE, "foreign", {"propagationPolicy": "Background"})
        self.until_clear("WeftGangFarFromBest")
        self.connection.stall()  # noticed in half a minute; the day goes on meanwhile

    def labels_and_drain(self):
        nodes = [node["metadata"] for node in self.cluster.list("nodes")]
        lost = nodes[-1]
        self.cluster.patch("nodes", "", lost["name"], {"metadata": {"labels": {LEAF: None}}})
        self.until_firing("WeftNodesIncomplete", state="incomplete")
        label = {LEAF: lost["labels"][LEAF]}
        self.cluster.patch("nodes", "", lost["name"], {"metadata": {"labels": label}})
        leaf = [node["name"] for node in nodes if node["labels"][LEAF] == lost["labels"][LEAF]]
        for cordoned in (True, False):
            for name in leaf:
                self.cluster.patch("nodes", "", name, {"spec": {"unschedulable": cordoned}})
            self.until_value('weft_fabric_nodes{job="weft", state="cordoned"}',
                             len(leaf) if cordoned else 0)
        self.until_clear("WeftNodesIncomplete")

    def refusals(self):
        """Rules that only kube-scheduler and only admission know."""
        apply(*NO_SERVICES)
        self.until_services_are_refused()
        for number in range(UNSERVED):
            self.apply_job(f"unserved-{number}", 1, FORBIDDEN)
        self.cluster.make_noisy(*(node["metadata"]["name"] for node in self.cluster.list("nodes")))
        for number in range(4):
            job = training_job(SPACE, f"quiet-{number}", 1)
            job["spec"]["workers"]["template"]["spec"]["schedulerName"] = QUIET_NODES
            self.cluster.create("trainingjobs", job)
        self.until_firing("WeftBindsRefused", reason="BindRefused")
        self.until_firing("WeftReconcileFailing", controller="trainingjob")
        for number in range(4):
            self.delete_job(f"quiet-{number}")
        self.cluster.make_quiet()
        for number in range(UNSERVED):
            self.delete_job(f"unserved-{number}", FORBIDDEN)
        self.until_clear("WeftBindsRefused")
        self.until_clear("WeftReconcileFailing")

    def until_services_are_refused(self):
        def refused():
            status, _ = self.cluster.server.request(
                "POST", f"/api/v1/namespaces/{FORBIDDEN}/services?dryRun=All",
                json.dumps({"metadata": {"name": "x"}, "spec": {"ports": [{"port": 1}]}}))
            return status == 422
        poll(refused, "the policy is in force")

    def crashes(self):
        """Recorded by the process that a crashed leader becomes; operator_solver.py crashes it."""
        self.apply_job("poison", 1)
        self.cluster.until_running(SPACE, "poison")
        meta = self.cluster.job(SPACE, "poison")["metadata"]
        for _ in range(2):
            reporter = subprocess.run(
                [os.environ["WEFT_OPERATOR"], "report-crash", "TrainingJob", SPACE, "poison",
                 meta["uid"], str(meta["generation"]), "nodes", str(int(signal.SIGSEGV)),
                 "--kubeconfig", os.environ["KUBECONFIG"]], check=False, capture_output=True)
            self.assertEqual(reporter.returncode, 128 + signal.SIGSEGV, reporter.stderr)
        self.until_firing("WeftSolverFailed", kind="TrainingJob")
        self.delete_job("poison")
        self.until_clear("WeftSolverFailed")

    def broken(self):
        apply({"apiVersion": "weft.dev/v1alpha1", "kind": "Fabric", "metadata": {"name": "broken"},
               "spec": {"nodeSelector": {"matchLabels": {"none": "such"}}, "levels": [
                   {"name": "leaf", "labelKey": LEAF, "link": {"type": "Unknown"}}]}})
        self.until_firing("WeftFabricInvalid", fabric="broken")
        subprocess.run(["kubectl", "delete", "fabric", "broken"], check=True,
                       stdout=subprocess.DEVNULL)
        self.until_clear("WeftFabricInvalid")
        self.until_firing("WeftWatchStalled")
        self.connection.flow()
        self.until_clear("WeftWatchStalled")
        self.until_clear("WeftSolverSlow")  # nothing was placed for a while
        self.leader.kill()
        poll(lambda: self.prometheus.value('up{job="weft"}') == 0, "the leader is gone")
        self.onlooker_steps_down()
        self.until_firing("WeftNoLeader")
        type(self).leader = self.start_leader()
        self.until_clear("WeftNoLeader")

    def onlooker_steps_down(self):
        """It has no Lease and so leads for itself; nobody may."""
        self.onlooker.stop()


if __name__ == "__main__":
    os.environ.setdefault("WEFT_OPERATOR", "build/bin/weft-operator")
    unittest.main(verbosity=2)
