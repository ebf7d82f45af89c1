#!/usr/bin/env python3
"""Pods of other controllers with the label weft.dev/place: each kind's example of job-kinds.md.

Jobs are run by kube-controller-manager, JobSets and TrainJobs by their real managers (WEFT_PEERS).
The pods of the other kinds are written here as their controllers write them:
  LeaderWorkerSet  kubernetes-sigs/lws, pkg/controllers/leaderworkerset_controller.go and
                   pod_controller.go, pkg/webhooks/pod_webhook.go, 2026
  PyTorchJob       kubeflow/training-operator v1.9, pkg/controller.v1/common/pod.go, CreateNewPod
  MPIJob           kubeflow/mpi-operator v0.6, pkg/controller/mpi_job_controller.go, newWorker and
                   newLauncherJob
  RayCluster       ray-project/kuberay v1.5, ray-operator/controllers/ray/common/pod.go, labelPod
"""

import copy
import json
import os
import re
import subprocess
import tempfile
import unittest

import yaml
from operator_lib import SOURCE, condition, poll, start_managers, training_job
from operator_scenarios import PATIENT, Scenarios, main

PAGE = os.path.join(SOURCE, "operator", "docs", "job-kinds.md")
PEERS = os.environ.get("WEFT_PEERS", "")
HAVE_PEERS = os.access(os.path.join(PEERS, "peers.py"), os.X_OK)
INDEX = "batch.kubernetes.io/job-completion-index"
LEAF = "fabric.topograph.run/tier-0"
CUSTOM = {"LeaderWorkerSet": ("leaderworkerset.x-k8s.io", "v1", "leaderworkersets"),
          "PyTorchJob": ("kubeflow.org", "v1", "pytorchjobs"),
          "MPIJob": ("kubeflow.org", "v2beta1", "mpijobs"),
          "RayCluster": ("ray.io", "v1", "rayclusters")}


def examples():
    """The page's objects by kind."""
    with open(PAGE, encoding="utf-8") as page:
        blocks = re.findall(r"```yaml\n(.*?)```", page.read(), re.DOTALL)
    return {thing["kind"]: thing for thing in map(yaml.safe_load, blocks)}


def kubectl(*command, text=None):
    done = subprocess.run(["kubectl", *command], input=text, text=True, capture_output=True,
                          check=False)
    if done.returncode:
        raise AssertionError(f"kubectl {' '.join(command)}: {done.stderr}")
    return done.stdout


def define(kind):
    """A definition that takes whatever its controller's would."""
    group, version, plural = CUSTOM[kind]
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {"group": group, "scope": "Namespaced",
                 "names": {"plural": plural, "singular": kind.lower(), "kind": kind},
                 "versions": [{"name": version, "served": True, "storage": True,
                               "schema": {"openAPIV3Schema": anything}}]}}
    kubectl("apply", "-f", "-", text=json.dumps(definition))
    kubectl("wait", "--for=condition=Established", "--timeout=60s", f"crd/{plural}.{group}")


def controller(kind, owner, version=None):
    meta = owner["metadata"]
    return [{"apiVersion": version or owner["apiVersion"], "kind": kind, "name": meta["name"],
             "uid": meta["uid"], "controller": True}]


class KindScenarios(Scenarios):
    flags = PATIENT

    def clean(self):
        for kind in ("jobs", "statefulsets", "jobsets.jobset.x-k8s.io",
                     "trainjobs.trainer.kubeflow.org"):
            if "." not in kind or HAVE_PEERS:
                subprocess.run(["kubectl", "delete", kind, "--all", "-n", self.space,
                                "--cascade=background"], capture_output=True, check=False)
        self.cluster.delete("placements", self.space)
        super().clean()

    def apply_yaml(self, thing):
        kubectl("apply", "-n", self.space, "-f", "-", text=json.dumps(thing))
        return json.loads(kubectl("get", thing["kind"], thing["metadata"]["name"], "-n",
                                  self.space, "-o", "json"))

    def placements(self):
        return self.cluster.history.all_now("placements", self.space)

    def live_pods(self):
        return [pod for pod in self.cluster.history.all_now("pods", self.space)
                if "deletionTimestamp" not in pod["metadata"]]

    def until_bound(self, gangs, in_order):
        """So many Placements, each verified, its nodes those of its pods in_order(pods)."""
        def bound(placement):
            wanted = placement["spec"]["podSelector"]["matchLabels"]
            pods = [pod for pod in self.live_pods()
                    if wanted.items() <= pod["metadata"]["labels"].items()]
            return [pod["spec"].get("nodeName") for pod in sorted(pods, key=in_order)]

        def holds():
            placed = [one for one in self.placements()
                      if (condition(one, "Verified") or {}).get("reason") == "AsPlaced"]
            if not len(placed) == gangs == len(self.placements()):
                return None
            # The history of pods may stand behind that of Placements.
            return placed if all(None not in bound(one) for one in placed) else None
        placed = self.cluster.until(f"{gangs} gangs are bound as placed", holds)
        for one in placed:
            self.assertEqual(bound(one), one["status"]["nodes"])
        return placed

    def leaves(self, placement):
        return {self.cluster.get("nodes", "", node)["metadata"]["labels"][LEAF]
                for node in placement["status"]["nodes"]}

    def event(self, kind, name, reason):
        def found():
            return next((one for one in self.cluster.list("events", self.space)
                         if one["involvedObject"]["kind"] == kind
                         and one["involvedObject"]["name"] == name
                         and one["reason"] == reason), None)
        return poll(found, f"an event {reason} on {kind} {name}")


def number(key):
    return lambda pod: int(pod["metadata"]["labels"][key])


class Kinds(KindScenarios):
    def pod(self, template, name, labels, owner, annotations=None):
        template = copy.deepcopy(template)
        meta = template.setdefault("metadata", {})
        meta.update(name=name, namespace=self.space, ownerReferences=owner)
        meta["labels"] = {**meta.get("labels", {}), **labels}
        meta["annotations"] = {**meta.get("annotations", {}), **(annotations or {})}
        return self.cluster.create("pods", {"apiVersion": "v1", "kind": "Pod", **template})

    def test_a_job(self):
        self.apply_yaml(examples()["Job"])
        [placed] = self.until_bound(1, number(INDEX))
        self.assertEqual(placed["spec"]["topology"], {"preferred": "leaf"})
        self.assertEqual(placed["metadata"]["ownerReferences"][0]["kind"], "Job")
        self.assertEqual(len(self.leaves(placed)), 1)
        self.assertIn("4 workers", self.event("Job", "sweep", "PlacementCreated")["message"])
        kubectl("delete", "job", "sweep", "-n", self.space)
        self.cluster.until("the Placement goes with its Job", lambda: not self.placements())

    def test_a_job_that_asks_for_the_impossible_says_so(self):
        job = examples()["Job"]
        meta = job["spec"]["template"]["metadata"]
        meta["annotations"] = {"weft.dev/parallelism": '{"tensor": 7}'}
        self.apply_yaml(job)
        why = "annotation weft.dev/parallelism: tensor x context x pipeline = 7 must divide"
        self.assertIn(why, self.event("Job", "sweep", "PlacementRefused")["message"])
        first = min(pod["metadata"]["name"] for pod in self.live_pods())
        self.assertIn(why, self.event("Pod", first, "PlacementRefused")["message"])
        self.assertEqual(self.placements(), [])

    def test_a_pod_without_an_accelerator_runs_where_it_likes(self):
        job = examples()["Job"]
        job["spec"]["template"]["spec"]["containers"][0].pop("resources")
        self.apply_yaml(job)
        self.cluster.until("all pods are bound", lambda: len(self.live_pods()) == 4 and all(
            pod["spec"].get("nodeName") for pod in self.live_pods()))
        self.assertEqual(self.placements(), [])

    def list_devices(self):
        """What a DRA driver writes: the GPUs of every node, whose plug-in tells of them too."""
        devices = [{"name": f"gpu-{gpu}", "attributes": {"type": {"string": "gpu"}}}
                   for gpu in range(8)]
        driver = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass",
                  "metadata": {"name": "gpu.nvidia.com"},
                  "spec": {"selectors": [{"cel": {
                      "expression": "device.driver == 'gpu.nvidia.com'"}}]}}
        things = [driver] + [
            {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
             "metadata": {"name": f"{name}-gpu"},
             "spec": {"driver": "gpu.nvidia.com", "nodeName": name, "devices": devices,
                      "pool": {"name": name, "generation": 1, "resourceSliceCount": 1}}}
            for name in (node["metadata"]["name"] for node in self.cluster.list("nodes"))]
        kubectl("apply", "-f", "-", text=json.dumps(
            {"apiVersion": "v1", "kind": "List", "items": things}))
        self.addCleanup(kubectl, "delete", "resourceslices", "--all")
        self.addCleanup(kubectl, "delete", "deviceclass", "gpu.nvidia.com")

    def test_gpus_by_claim(self):
        """Pods of a Job that ask for GPUs by a claim, and nodes whose GPUs claims hold."""
        self.list_devices()
        requests = [{"name": "gpus", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 8}}]
        self.apply_yaml({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
                         "metadata": {"name": "eight-gpus"},
                         "spec": {"spec": {"devices": {"requests": requests}}}})
        job = examples()["Job"]
        job["spec"]["template"]["metadata"]["annotations"]["weft.test/run-seconds"] = str(10**6)
        pod = job["spec"]["template"]["spec"]
        pod["containers"][0]["resources"] = {"claims": [{"name": "gpus"}]}
        pod["resourceClaims"] = [{"name": "gpus", "resourceClaimTemplateName": "eight-gpus"}]
        self.apply_yaml(job)
        [placed] = self.until_bound(1, number(INDEX))
        self.assertEqual(placed["spec"]["accelerator"],
                         {"resourceName": "nvidia.com/gpu", "perWorker": 8})
        self.assertEqual(len(self.leaves(placed)), 1)
        # The rest of the fleet is free, no node more.
        rest = len(self.cluster.list("nodes")) - 4
        self.cluster.create("trainingjobs", training_job(self.space, "too-large", rest + 1))
        refused = self.cluster.until_condition(self.space, "too-large", "Placed", "False")
        self.assertIn(f"has room for {rest} of {rest + 1} workers",
                      condition(refused, "Placed")["message"])
        self.cluster.create("trainingjobs", training_job(self.space, "rest", rest))
        self.cluster.until_running(self.space, "rest")
        nodes = self.placed_nodes("rest")
        self.assertEqual(len(set(nodes)), rest)
        self.assertFalse(set(nodes) & set(placed["status"]["nodes"]))

    def leader_set(self, name, replicas, template, start=0):
        """A StatefulSet as the controller of LeaderWorkerSets makes them."""
        labels = template["metadata"]["labels"]
        return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name},
                "spec": {"replicas": replicas, "podManagementPolicy": "Parallel",
                         "serviceName": name, "ordinals": {"start": start},
                         "selector": {"matchLabels": labels}, "template": template}}

    def label_by_webhook(self, name, **labels):
        """What the webhook of LeaderWorkerSets adds to a pod."""
        prefix = "leaderworkerset.sigs.k8s.io/"
        poll(lambda: self.cluster.get("pods", self.space, name), f"pod {name}")
        self.cluster.patch("pods", self.space, name, {"metadata": {"labels": {
            prefix + key.replace("_", "-"): str(value) for key, value in labels.items()}}})

    def test_a_leader_worker_set(self):
        define("LeaderWorkerSet")
        lws = self.apply_yaml(examples()["LeaderWorkerSet"])
        spec = lws["spec"]["leaderWorkerTemplate"]
        template = copy.deepcopy(spec["workerTemplate"])
        template["metadata"]["annotations"]["leaderworkerset.sigs.k8s.io/size"] = str(spec["size"])
        labels = template["metadata"]["labels"]
        labels["leaderworkerset.sigs.k8s.io/name"] = "serving"
        leaders = copy.deepcopy(template)
        leaders["metadata"]["labels"]["leaderworkerset.sigs.k8s.io/worker-index"] = "0"
        self.apply_yaml(self.leader_set("serving", lws["spec"]["replicas"], leaders))
        for group in range(lws["spec"]["replicas"]):
            self.label_by_webhook(f"serving-{group}", group_index=group, group_key=f"key-{group}")
            labels["leaderworkerset.sigs.k8s.io/group-index"] = str(group)
            name = f"serving-{group}"
            self.apply_yaml(self.leader_set(name, spec["size"] - 1, template, start=1))
            self.label_by_webhook(f"{name}-1", worker_index=1, group_key=f"key-{group}")
        placed = self.until_bound(2, number("leaderworkerset.sigs.k8s.io/worker-index"))
        for one in placed:
            self.assertEqual(len(self.leaves(one)), 1)
            self.assertEqual(one["metadata"]["ownerReferences"][0]["name"], "serving")

    def test_a_py_torch_job(self):
        define("PyTorchJob")
        job = self.apply_yaml(examples()["PyTorchJob"])
        for kind, spec in job["spec"]["pytorchReplicaSpecs"].items():
            for index in range(spec["replicas"]):
                labels = {"training.kubeflow.org/job-name": "bert",
                          "training.kubeflow.org/operator-name": "pytorchjob-controller",
                          "training.kubeflow.org/replica-type": kind.lower(),
                          "training.kubeflow.org/replica-index": str(index)}
                if kind == "Master":
                    labels["training.kubeflow.org/job-role"] = "master"
                self.pod(spec["template"], f"bert-{kind.lower()}-{index}", labels,
                         controller("PyTorchJob", job))
        [placed] = self.until_bound(1, lambda pod: pod["metadata"]["name"])
        self.assertEqual(placed["spec"]["workers"], 4)

    def test_an_mpi_job(self):
        define("MPIJob")
        job = self.apply_yaml(examples()["MPIJob"])
        specs = job["spec"]["mpiReplicaSpecs"]
        common = {"training.kubeflow.org/job-name": "allreduce",
                  "training.kubeflow.org/operator-name": "mpi-operator"}
        self.pod(specs["Launcher"]["template"], "allreduce-launcher-x2kq9",
                 {**common, "training.kubeflow.org/job-role": "launcher"},
                 controller("MPIJob", job))
        for index in range(specs["Worker"]["replicas"]):
            self.pod(specs["Worker"]["template"], f"allreduce-worker-{index}",
                     {**common, "training.kubeflow.org/job-role": "worker",
                      "training.kubeflow.org/replica-index": str(index)},
                     controller("MPIJob", job))
        [placed] = self.until_bound(1, lambda pod: pod["metadata"]["name"])
        self.assertEqual(placed["spec"]["workers"], 4)

    def test_a_ray_cluster(self):
        define("RayCluster")
        ray = self.apply_yaml(examples()["RayCluster"])
        [group] = ray["spec"]["workerGroupSpecs"]
        for suffix in ("8zq7f", "k2x9d", "m4t6w", "zz1aa"):
            self.pod(group["template"], f"ray-gpu-worker-{suffix}",
                     {"ray.io/cluster": "ray", "ray.io/group": "gpu", "ray.io/node-type": "worker",
                      "ray.io/is-ray-node": "yes"}, controller("RayCluster", ray))
        self.until_bound(1, lambda pod: pod["metadata"]["name"])

    def test_pods_that_are_pinned_already_go_where_they_are_pinned(self):
        """As Kueue's topology-aware scheduling leaves the pods of a group."""
        template = examples()["Job"]["spec"]["template"]
        template["metadata"]["annotations"] = {
            "weft.dev/topology": '{"required": "leaf"}',
            "kueue.x-k8s.io/pod-group-total-count": "4"}
        pinned = ["dgx-h100-041", "dgx-h100-003", "dgx-h100-044", "dgx-h100-002"]
        for index, host in enumerate(pinned):
            template["spec"]["nodeSelector"] = {"kubernetes.io/hostname": host}
            self.pod(template, f"tas-{index}",
                     {"kueue.x-k8s.io/pod-group-name": "tas",
                      "kueue.x-k8s.io/pod-group-pod-index": str(index)}, [])
        [placed] = self.until_bound(1, number("kueue.x-k8s.io/pod-group-pod-index"))
        self.assertEqual(placed["status"]["nodes"], pinned)
        says = condition(placed, "Placed")
        self.assertEqual(says["reason"], "PodsPinned")
        self.assertIn("Weft chose no nodes", says["message"])


class Admitted(Scenarios):
    """The pod that counts is the one that admission makes of the template."""

    def test_what_admission_adds_is_planned_with(self):
        nodes = ["dgx-h100-061", "dgx-h100-063"]
        taint = {"key": "team", "value": "x", "effect": "NoSchedule"}
        for node in nodes:
            self.cluster.patch("nodes", "", node, {"metadata": {"labels": {"pool": "x"}},
                                                   "spec": {"taints": [taint]}})
            self.addCleanup(self.cluster.patch, "nodes", "", node, {
                "metadata": {"labels": {"pool": None}}, "spec": {"taints": None}})
        mutation = """[
            JSONPatch{op: "add", path: "/spec/nodeSelector", value: Object.spec.nodeSelector{}},
            JSONPatch{op: "add", path: "/spec/nodeSelector/pool", value: "x"},
            JSONPatch{op: "add", path: "/spec/tolerations/-",
                      value: Object.spec.tolerations{key: "team", operator: "Exists"}}]"""
        rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
                "resources": ["pods"]}
        policy = {"apiVersion": "admissionregistration.k8s.io/v1",
                  "kind": "MutatingAdmissionPolicy", "metadata": {"name": "team-x"},
                  "spec": {"failurePolicy": "Fail", "reinvocationPolicy": "Never",
                           "matchConstraints": {"resourceRules": [rule], "namespaceSelector": {
                               "matchLabels": {"kubernetes.io/metadata.name": self.space}}},
                           "mutations": [{"patchType": "JSONPatch",
                                          "jsonPatch": {"expression": mutation}}]}}
        binding = {"apiVersion": policy["apiVersion"], "kind": policy["kind"] + "Binding",
                   "metadata": {"name": "team-x"}, "spec": {"policyName": "team-x"}}
        for thing in (policy, binding):
            kubectl("apply", "-f", "-", text=json.dumps(thing))
            self.addCleanup(kubectl, "delete", thing["kind"], "team-x")
        self.until_admission_mutates()
        self.apply(training_job(self.space, "job", 2))
        job = self.cluster.until_running(self.space, "job")
        self.assertEqual(self.placed_nodes("job"), nodes)
        self.assertEqual(job["status"]["admission"], {
            "observedGeneration": 1, "nodeSelector": {"pool": "x"},
            "tolerations": [{"key": "team", "operator": "Exists"}]})

    def until_admission_mutates(self):
        """A policy takes effect a moment after it is created."""
        probe = {"apiVersion": "v1", "kind": "Pod",
                 "metadata": {"name": "probe", "namespace": self.space},
                 "spec": {"containers": [{"name": "c", "image": "registry.example/x:1"}]}}
        poll(lambda: self.cluster.create("pods", probe, "?dryRun=All")["spec"].get("nodeSelector"),
             "the policy changes pods")


@unittest.skipUnless(HAVE_PEERS, "no managers of JobSet and Trainer (WEFT_PEERS)")
class Managed(KindScenarios):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.peers = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.peers.cleanup)
        peers = [os.path.join(PEERS, "peers.py")]
        cls.addClassCleanup(lambda: subprocess.run([*peers, "down", "--dir", cls.peers.name],
                                                   check=True))
        start_managers(*peers, cls.peers.name, "jobset", "trainer")

    @staticmethod
    def by_job(pod):
        labels = pod["metadata"]["labels"]
        return int(labels["jobset.sigs.k8s.io/job-index"]), int(labels[INDEX])

    def test_a_job_set_and_its_restart(self):
        job_set = examples()["JobSet"]
        workers = job_set["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
        workers["metadata"]["annotations"]["weft.test/run-seconds"] = str(10**6)
        self.apply_yaml(job_set)
        [placed] = self.until_bound(1, self.by_job)
        self.assertEqual(placed["spec"]["workers"], 4)
        self.assertEqual(placed["spec"]["topology"]["required"], "leaf")
        self.assertEqual(placed["metadata"]["ownerReferences"][0]["kind"], "JobSet")
        self.assertEqual(len(self.leaves(placed)), 1)
        # kwok's own word that a pod runs would undo a failure that is written before it.
        self.cluster.until("every pod runs", lambda: all(
            pod["status"].get("phase") == "Running" for pod in self.live_pods()))
        # A container fails: the JobSet makes all its Jobs anew.
        failed = self.live_pods()[0]["metadata"]["name"]
        self.cluster.call("PATCH", self.cluster.path("pods", self.space, failed) + "/status",
                          {"status": {"phase": "Failed"}}, "application/merge-patch+json")
        def anew():
            names = [one["metadata"]["name"] for one in self.placements()]
            return names == [placed["metadata"]["name"][:-2] + "-1"]
        self.cluster.until("the next attempt has a Placement, the first none", anew)
        self.until_bound(1, self.by_job)

    def test_a_train_job(self):
        self.apply_yaml(examples()["ClusterTrainingRuntime"])
        self.apply_yaml(examples()["TrainJob"])
        [placed] = self.until_bound(1, number(INDEX))
        self.assertEqual(placed["spec"]["workers"], 4)
        self.assertEqual(placed["spec"]["topology"], {"required": "spine"})
        self.assertEqual(placed["spec"]["parallelism"]["tensor"], 8)


if __name__ == "__main__":
    main()
