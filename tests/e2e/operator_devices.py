#!/usr/bin/env python3
"""spec.accelerator.deviceClassName: a claim of each worker, on nodes without a device plug-in.

No driver runs here: the scenario makes the DeviceClasses and ResourceSlices that NVIDIA's makes.
kube-controller-manager makes the claims and kube-scheduler allocates them.
"""

import json

from operator_kinds import kubectl
from operator_lib import GPUS, condition, poll, training_job
from operator_scenarios import Scenarios, main

DRIVER = "gpu.nvidia.com"
PRODUCTS = 3 * ["NVIDIA H100 80GB HBM3"] + ["NVIDIA B200"]


def apply(*things):
    kubectl("apply", "-f", "-", text=json.dumps(
        {"apiVersion": "v1", "kind": "List", "items": list(things)}))


def device_class(name, *more):
    rules = [f"device.driver == '{DRIVER}'", f"device.attributes['{DRIVER}'].type == 'gpu'", *more]
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": name},
            "spec": {"selectors": [{"cel": {"expression": " && ".join(rules)}}]}}


def gpus_of(node, product, slices=1, tainted=0):
    devices = [{"name": f"gpu-{g}", "attributes": {"type": {"string": "gpu"},
                                                   "productName": {"string": product}}}
               for g in range(8)]
    for device in devices[:tainted]:
        device["taints"] = [{"key": "gpu.nvidia.com/xid", "value": "79", "effect": "NoSchedule"}]
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
            "metadata": {"name": f"{node}-gpus"},
            "spec": {"driver": DRIVER, "nodeName": node, "devices": devices,
                     "pool": {"name": node, "generation": 1, "resourceSliceCount": slices}}}


class Devices(Scenarios):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.nodes = sorted(one["metadata"]["name"] for one in cls.cluster.list("nodes"))
        for node in cls.nodes:  # as a node without a device plug-in
            kubectl("patch", "node", node, "--subresource=status", "--type=merge", "-p", json.dumps(
                {"status": {"capacity": {GPUS: None}, "allocatable": {GPUS: None}}}))
        # The first has a broken GPU, of the second the driver has not written all slices.
        apply(device_class(DRIVER),
              device_class("b200", f"device.attributes['{DRIVER}'].productName == 'NVIDIA B200'"),
              *(gpus_of(node, product, slices=2 if n == 1 else 1, tainted=1 if n == 0 else 0)
                for n, (node, product) in enumerate(zip(cls.nodes, PRODUCTS))))

    def job(self, name, workers, each=8, of=DRIVER, **spec):
        job = training_job(self.space, name, workers, **spec)
        job["spec"]["accelerator"] = {"deviceClassName": of, "perWorker": each}
        del job["spec"]["workers"]["template"]["spec"]["containers"][0]["resources"]
        return job

    def found(self, kind):
        return json.loads(kubectl("get", kind, "-n", self.space, "-o", "json"))["items"]

    def test_a_job_runs_on_claimed_devices_to_its_end(self):
        self.apply(self.job("job", 2, run_seconds=4, ttlSecondsAfterFinished=1))
        self.cluster.until_running(self.space, "job")
        # Whole nodes: those with all their GPUs, and with one product each.
        self.assertEqual(self.nodes_of_pods("job"), self.placed_nodes("job"))
        claims = self.found("resourceclaims")
        self.assertEqual([len(one["status"]["allocation"]["devices"]["results"])
                          for one in claims], [8, 8])
        placement = self.cluster.get("placements", self.space, "job-1")
        self.assertEqual(placement["spec"]["accelerator"]["deviceClassName"], DRIVER)
        self.cluster.until_no_job(self.space, "job")
        poll(lambda: not self.found("resourceclaims"), "the claims go with their pods")
        poll(lambda: not self.found("resourceclaimtemplates"), "the template goes with its Placement")

    def test_a_tainted_device_and_an_incomplete_pool_do_not_count(self):
        self.apply(self.job("large", 3))
        self.apply(self.job("seven", 1, each=7))
        self.cluster.until_running(self.space, "seven")
        refused = self.cluster.until_condition(self.space, "large", "Placed", "False")
        self.assertIn("lack", condition(refused, "Placed")["message"])

    def test_a_job_that_asks_for_an_extended_resource_is_told_why(self):
        self.apply(training_job(self.space, "resource", 1))
        job = self.cluster.until_condition(self.space, "resource", "Placed", "False")
        self.assertIn("by ResourceClaims only", condition(job, "Placed")["message"])

    def test_a_node_that_the_class_refuses_is_not_tried_twice(self):
        self.apply(self.job("exact", 1, of="b200", failurePolicy={"maxRestarts": 0}))
        self.cluster.until_condition(self.space, "exact", "PodsReady")
        self.assertEqual(self.cluster.pods(self.space, "exact")[0]["spec"]["nodeName"],
                         self.nodes[3])


if __name__ == "__main__":
    main()
