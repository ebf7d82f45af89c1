#!/usr/bin/env python3
"""TrainingJobs in queues of the real Kueue: from the wait for quota to their end."""

import json
import os
import subprocess

from kueue_world import (QUEUES, KueueScenarios, apply, checks_of, condition, has, node_fillers,
                         owner_of)
from operator_lib import GPUS, Operator, as_user, label, training_job
from operator_scenarios import PATIENT, main

QUEUE = "jobs"  # four nodes, without Weft's check
POOL = "weft.test/pool"
OBJECTS = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: pooled}
spec:
  nodeLabels: {weft.test/pool: queued}
  nodeTaints: [{key: weft.test/queued, value: "yes", effect: NoSchedule}]
  tolerations: [{key: weft.test/queued, operator: Exists}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: jobs}
spec:
  namespaceSelector: {}
  preemption: {withinClusterQueue: LowerPriority}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors:
    - name: pooled
      resources: [{name: nvidia.com/gpu, nominalQuota: 32}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: urgent}
value: 100
"""


# The operator has the rights of the chart, and no more.
ACCOUNT = "system:serviceaccount:weft-system:weft-operator"
GROUPS = ("system:serviceaccounts", "system:serviceaccounts:weft-system", "system:authenticated")


class Restricted(Operator):
    def __init__(self, work, name, *flags):
        super().__init__(work, name, "--kubeconfig", as_user(work, ACCOUNT, GROUPS), *flags)


class KueueJobs(KueueScenarios):
    operator_type = Restricted
    flags = (*PATIENT, "--kueue", "--kueue-hold", "5")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        apply(OBJECTS)
        nodes = sorted(node["metadata"]["name"] for node in cls.cluster.list("nodes"))
        cls.pool = nodes[8:16]
        for node in cls.pool:
            cls.cluster.patch("nodes", "", node, {
                "metadata": {"labels": {POOL: "queued"}},
                "spec": {"taints": [
                    {"key": "weft.test/queued", "value": "yes", "effect": "NoSchedule"}]}})

    @classmethod
    def tearDownClass(cls):
        for node in cls.pool:
            cls.cluster.patch("nodes", "", node, {
                "metadata": {"labels": {POOL: None}}, "spec": {"taints": None}})
        super().tearDownClass()

    def setUp(self):
        super().setUp()
        apply(json.dumps({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue",
                          "metadata": {"name": QUEUE, "namespace": self.space},
                          "spec": {"clusterQueue": QUEUE}}))

    def start(self, name, workers, run_seconds=None, queue=QUEUE, **labels):
        job = training_job(self.space, name, workers, run_seconds)
        job["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": queue, **{
            f"kueue.x-k8s.io/{key.replace('_', '-')}": value for key, value in labels.items()}}
        return self.apply(job)

    def edit(self, name, **spec):
        self.cluster.patch("trainingjobs", self.space, name, {"spec": spec})

    def until_waits(self, name, reason, text):
        def waits():
            said = condition(self.cluster.job(self.space, name), "Placed")
            return said and said["reason"] == reason and text in said["message"]
        self.cluster.until(f"{name} waits: {reason}, '{text}'", waits)

    def until_complete(self, name):
        return self.cluster.until_condition(self.space, name, "Complete")

    def test_an_admitted_job_runs_on_its_flavor_and_completes(self):
        self.start("train", 4, run_seconds=1)
        self.until_complete("train")
        done = self.until_workload("train", lambda one: not one["metadata"].get("finalizers"),
                                   "its finalizer is removed")
        self.assertEqual(condition(done, "Finished")["reason"], "Succeeded")
        self.assertEqual(done["spec"]["podSets"][0]["count"], 4)
        steps = self.changes("workloads", done)
        admitted = min(step.version for step in steps if has(step.thing, "Admitted"))
        self.assertTrue(any(has(step.thing, "PodsReady") for step in steps))
        self.assertEqual(len(done["spec"]["podSets"]), 1)
        pods = self.cluster.pods(self.space, "train")
        self.assertEqual(len(pods), 4)
        for pod in pods:
            self.assertLess(admitted, self.changes("pods", pod)[0].version)
            self.assertIn(pod["spec"]["nodeName"], self.pool)
            self.assertEqual(pod["spec"]["nodeSelector"], {POOL: "queued"})
            self.assertEqual(pod["metadata"]["annotations"]["kueue.x-k8s.io/workload"],
                             done["metadata"]["name"])

    def test_without_quota_it_waits_in_kueues_words_until_another_is_suspended(self):
        self.start("first", 3)
        self.cluster.until_running(self.space, "first")
        self.start("second", 2)
        self.until_waits("second", "QuotaPending", f"insufficient unused quota for {GPUS}")
        wide = subprocess.run(["kubectl", "get", "tj", "--namespace", self.space, "--output",
                               "wide"], check=True, capture_output=True, text=True).stdout
        self.assertEqual(wide.splitlines()[0].split()[-2], "QUEUE")
        self.assertEqual(wide.splitlines()[1].split()[-2], QUEUE)
        self.edit("first", suspend=True)
        self.cluster.until_running(self.space, "second")
        self.assertIsNone(self.workload("first"))
        self.edit("first", suspend=False)
        self.until_waits("first", "QuotaPending", "insufficient unused quota")
        self.cluster.delete("trainingjobs", self.space, "second")
        job = self.cluster.until_running(self.space, "first", attempt=2)
        self.assertEqual(job["status"]["restarts"], 0)

    def test_a_preempted_job_is_queued_again_without_a_counted_restart(self):
        self.start("low", 4)
        self.cluster.until_running(self.space, "low")
        self.start("high", 2, run_seconds=1, priority_class="urgent")
        self.until_complete("high")
        job = self.cluster.until_running(self.space, "low", attempt=2)
        self.assertEqual(job["status"]["restarts"], 0)
        [evicted] = {step.thing["status"]["schedulingStats"]["evictions"][0]["reason"]
                     for step in self.changes("workloads", self.workload("low"))
                     if step.thing.get("status", {}).get("schedulingStats", {}).get("evictions")}
        self.assertEqual(evicted, "Preempted")
        high, low = (self.changes("workloads", self.workload(name)) for name in ("high", "low"))
        admitted = min(step.version for step in high if has(step.thing, "Admitted"))
        gone = max(change.version for change in self.cluster.history.changes(self.space)
                   if change.plural == "pods" and change.type == "DELETED"
                   and label(change.thing, "attempt") == "1"
                   and label(change.thing, "job-name") == "low")
        self.assertLess(gone, admitted)  # its quota is free when its pods are gone
        self.assertTrue(any(has(step.thing, "Requeued") for step in low))

    def test_deactivated_by_hand_it_waits_until_it_is_active_again(self):
        self.start("train", 2)
        self.cluster.until_running(self.space, "train")
        name = self.workload("train")["metadata"]["name"]
        self.cluster.patch("workloads", self.space, name, {"spec": {"active": False}})
        self.until_waits("train", "Deactivated", "is not active")
        self.until_workload("train", lambda one: not has(one, "QuotaReserved"), "no quota")
        self.cluster.patch("workloads", self.space, name, {"spec": {"active": True}})
        self.cluster.until_running(self.space, "train", attempt=2)

    def test_in_a_queue_that_does_not_exist_it_says_so_and_leaves_nothing(self):
        self.start("train", 2, queue="none")
        self.until_waits("train", "QuotaPending", "none")
        self.cluster.delete("trainingjobs", self.space, "train")
        self.cluster.until_no_job(self.space, "train")
        self.cluster.until("its Workload is gone", lambda: self.workload("train") is None)

    def test_a_part_of_its_workers_is_refused(self):
        self.start("filler", 2)
        self.cluster.until_running(self.space, "filler")
        self.start("train", 4)
        self.until_waits("train", "QuotaPending", "insufficient unused quota")
        self.cluster.patch("workloads", self.space, self.workload("train")["metadata"]["name"], {
            "spec": {"podSets": [{**self.workload("train")["spec"]["podSets"][0], "minCount": 1}]}})
        self.until_waits("train", "AssignmentRefused", "Kueue admitted 2 of 4 workers")
        self.until_workload("train", lambda one: not has(one, "QuotaReserved"), "no quota")
        self.cluster.delete("trainingjobs", self.space, "filler")
        self.edit("train", suspend=True)
        self.cluster.until("it is withdrawn", lambda: self.workload("train") is None)
        self.edit("train", suspend=False)
        self.cluster.until_running(self.space, "train")

    def test_with_wefts_check_its_nodes_come_before_its_admission(self):
        self.start("train", 4, run_seconds=1, queue=QUEUES[0])
        self.until_complete("train")
        workload = self.workload("train")
        [check] = checks_of(workload)
        self.assertTrue(check["message"].startswith("4 workers on "), check)
        admitted = min(step.version for step in self.changes("workloads", workload)
                       if has(step.thing, "Admitted"))
        [placement] = self.placements(ever=True)
        self.assertEqual(owner_of(placement), "train")
        self.assertLess(self.changes("placements", placement)[0].version, admitted)

    def test_with_wefts_check_quota_without_room_goes_back(self):
        with node_fillers(self, free=2):
            self.start("train", 4, queue=QUEUES[0])
            says = self.until_check("train", "Pending", "room for 2 of 4 workers")
            self.assertIn(GPUS, says["message"])
            evicted = self.until_workload("train", lambda one: has(one, "Evicted"), "it is evicted")
            self.assertEqual(condition(evicted, "Evicted")["reason"], "AdmissionCheck")
        self.cluster.until_running(self.space, "train")


if __name__ == "__main__":
    os.environ.setdefault("WEFT_PEERS_PROGRAM", "../shared/peers/peers.py")
    main()
