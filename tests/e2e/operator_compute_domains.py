#!/usr/bin/env python3
"""spec.topology.computeDomain: Auto: a ComputeDomain for each attempt, and claims of its pods.

The definition has the fields of NVIDIA's (dra-driver 25.12, resource.nvidia.com_computedomains.yaml).
Its controller cannot run here, so the scenario makes the ResourceClaimTemplate that the controller
would make; kube-controller-manager makes the claims and kube-scheduler allocates them.
"""

import json

from operator_kinds import kubectl
from operator_lib import GPUS, ROOTS, condition, poll, training_job
from operator_scenarios import PATIENT, Scenarios, main

DRIVER = "compute-domain.nvidia.com"
ROOTS["computedomains"] = "/apis/resource.nvidia.com/v1beta1"


def text(**more):
    return {"type": "string", **more}


def fields(required=(), **properties):
    return {"type": "object", "properties": properties, **(
        {"required": list(required)} if required else {})}


DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "computedomains.resource.nvidia.com"},
    "spec": {
        "group": "resource.nvidia.com", "scope": "Namespaced",
        "names": {"kind": "ComputeDomain", "listKind": "ComputeDomainList",
                  "plural": "computedomains", "singular": "computedomain"},
        "versions": [{
            "name": "v1beta1", "served": True, "storage": True, "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": fields(
                apiVersion=text(), kind=text(), metadata={"type": "object"},
                spec={**fields(
                    ["channel", "numNodes"],
                    channel=fields(
                        ["resourceClaimTemplate"],
                        allocationMode=text(default="Single", enum=["All", "Single"]),
                        resourceClaimTemplate=fields(["name"], name=text())),
                    numNodes={"type": "integer"}),
                    "x-kubernetes-validations": [{
                        "message": "A computeDomain.spec is immutable",
                        "rule": "self == oldSelf"}]},
                status=fields(["status"], status=text(
                    default="NotReady", enum=["Ready", "NotReady"])))}}]}}


def channels(nodes):
    """The DeviceClass of channels, and one channel of each node, as the driver lists them."""
    selector = f"device.driver == '{DRIVER}' && device.attributes['{DRIVER}'].type == 'channel'"
    return [{"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass",
             "metadata": {"name": f"compute-domain-default-channel.{DRIVER.split('.', 1)[1]}"},
             "spec": {"selectors": [{"cel": {"expression": selector}}]}}] + [
        {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
         "metadata": {"name": f"{node}-channels"},
         "spec": {"driver": DRIVER, "nodeName": node,
                  "pool": {"name": node, "generation": 1, "resourceSliceCount": 1},
                  "devices": [{"name": "channel-0", "attributes": {
                      "type": {"string": "channel"}, "id": {"int": 0}}}]}} for node in nodes]


def apply(*things, space="default"):
    kubectl("apply", "-n", space, "-f", "-", text=json.dumps(
        {"apiVersion": "v1", "kind": "List", "items": list(things)}))


class ComputeDomains(Scenarios):
    flags = PATIENT

    def job(self, name, workers):
        job = training_job(self.space, name, workers, topology={"computeDomain": "Auto"},
                           failurePolicy={"maxRestarts": 1})
        job["spec"]["accelerator"]["perWorker"] = 4
        template = job["spec"]["workers"]["template"]["spec"]
        template["containers"][0]["resources"] = {"limits": {GPUS: 4}}
        return job

    def domains(self):
        return {one["metadata"]["name"]: one
                for one in self.cluster.list("computedomains", self.space)}

    def serve(self, name):
        """What NVIDIA's controller makes for a ComputeDomain."""
        domain = poll(lambda: self.domains().get(name), f"ComputeDomain {name}")
        request = {"name": "channel", "exactly": {
            "deviceClassName": "compute-domain-default-channel.nvidia.com"}}
        apply({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
               "metadata": {"name": domain["spec"]["channel"]["resourceClaimTemplate"]["name"]},
               "spec": {"spec": {"devices": {"requests": [request]}}}}, space=self.space)
        return domain

    def test_a_cluster_without_the_kind_is_told(self):
        self.apply(self.job("without", 2))
        job = self.cluster.until_condition(self.space, "without", "Restarting", "True",
                                           "CreateRefused")
        self.assertIn("no kind ComputeDomain (resource.nvidia.com/v1beta1): install NVIDIA's DRA",
                      condition(job, "Restarting")["message"])
        # A worker alone shares no NVLink domain with another.
        self.apply(self.job("alone", 1))
        self.cluster.until_running(self.space, "alone")

    def test_each_attempt_has_its_own(self):
        apply(DEFINITION)
        self.addCleanup(kubectl, "delete", "crd", "computedomains.resource.nvidia.com")
        kubectl("wait", "--for=condition=Established", "--timeout=600s",
                "crd/computedomains.resource.nvidia.com")
        path = self.cluster.path("computedomains")
        poll(lambda: self.cluster.server.request("GET", path, None)[0] == 200, "the kind is served")
        apply(*channels([node["metadata"]["name"] for node in self.cluster.list("nodes")]))
        self.addCleanup(kubectl, "delete", "resourceslices", "--all")
        self.apply(self.job("job", 3))
        domain = self.serve("job-1-weft")
        self.assertEqual(domain["spec"], {"numNodes": 3, "channel": {
            "allocationMode": "Single", "resourceClaimTemplate": {"name": "job-1-weft"}}})
        self.assertEqual((domain["metadata"].get("ownerReferences"),
                          domain["metadata"]["labels"]["weft.dev/job-name"]), (None, "job"))
        self.cluster.until_running(self.space, "job")
        self.assertEqual(self.nodes_of_pods("job"), self.placed_nodes("job"))
        pods = self.cluster.pods(self.space, "job", 1)
        self.assertEqual([pod["spec"]["resourceClaims"] for pod in pods], 3 * [[
            {"name": "compute-domain-channel", "resourceClaimTemplateName": "job-1-weft"}]])
        # The next attempt has another, and that of the first is gone.
        lost = pods[0]["metadata"]["name"]
        self.cluster.delete("pods", self.space, lost)
        self.serve("job-2-weft")
        self.cluster.until_running(self.space, "job", attempt=2)
        poll(lambda: list(self.domains()) == ["job-2-weft"], "the first ComputeDomain is gone")
        # A worker that still stores its state keeps it, and its name, whatever the propagation.
        slow = self.cluster.pods(self.space, "job", 2)[0]["metadata"]["name"]
        kubectl("patch", "pod", "-n", self.space, slow, "--type=merge",
                "-p", '{"metadata": {"finalizers": ["test.weft.dev/slow"]}}')
        self.cluster.delete("trainingjobs", self.space, "job", {"propagationPolicy": "Foreground"})
        poll(lambda: not self.cluster.list("placements", self.space), "the Placement is collected")
        poll(lambda: len(self.cluster.pods(self.space, "job", 2)) == 1, "the others have ended")
        services = self.cluster.list("services", self.space)
        self.assertEqual([(one["metadata"]["name"], "deletionTimestamp" in one["metadata"])
                          for one in services + list(self.domains().values())],
                         [("job", False), ("job-2-weft", False)])
        kubectl("patch", "pod", "-n", self.space, slow, "--type=merge",
                "-p", '{"metadata": {"finalizers": null}}')
        self.cluster.until_no_job(self.space, "job")
        poll(lambda: not self.domains() and not self.cluster.list("services", self.space),
             "both go with their job")


if __name__ == "__main__":
    main()
