#!/usr/bin/env python3
"""What a plan knows of kube-scheduler's rules, against the real kube-scheduler.

    tests/e2e/scheduler_rules.py --rounds N [--seed S] [--nodes N] [--volumes SHARE] [--claims SHARE]

In each round some nodes (6, or --nodes) with random labels, taints and pods, and one gang with
random host ports, affinity, anti-affinity, spreads, selectors and tolerations; some pods are being
deleted, and stay. A third of the nodes have no GPUs and are in no Fabric, or in another one than
the gang, but pods run there too. In those shares of the rounds, also with claims of volumes
(scheduler_volumes.py) and of devices that are no accelerators (scheduler_claims.py). The gang has at
most one worker for each node with GPUs. Where `weft plan` places the gang, kube-scheduler must bind
each pod to the node of the plan. Where it does not, kube-scheduler, left to choose nodes, must leave
a pod of the gang pending too. A spread is the exception: Weft keeps it also where kube-scheduler
would not (operator/docs/placement.md), so such a gang counts one way only.

On the cluster of $KUBECONFIG, which has no other nodes. 1 if there was a difference.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

import scheduler_claims
import scheduler_volumes
from operator_lib import GPUS, Cluster, poll

NODES = 6
SPACES = ("rules-a", "rules-b")
TEAMS = {"rules-a": "red", "rules-b": "blue"}  # a label of the namespaces
ZONE, RACK, HOST = "example.com/zone", "example.com/rack", "kubernetes.io/hostname"
KEYS = (ZONE, RACK, HOST)
APPS = ("web", "cache", "train")
PORTS = (22, 8080, 9100)
TAINT = {"key": "example.com/team", "value": "a", "effect": "NoSchedule"}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
SETTLE_SECONDS = 60
LINGER_SECONDS = 3600  # a pod that is being deleted stays until its round ends
BIND_SECONDS = 40  # of pods that are pinned; kube-scheduler tries a refused one again within 10 s


def chance(rng, share):
    return rng.random() < share


def has_gpus(node):
    return GPUS in node["status"]["allocatable"]


class World:
    """One round's objects, all by chance."""

    def __init__(self, seed, volumes=0.0, claims=0.0, nodes=NODES):
        self.rng = random.Random(seed)
        self.zones = volumes > 0  # which volumes have too
        self.nodes = [self.node(f"n{number}") for number in range(nodes)]
        self.pods = [self.running(number) for number in range(self.rng.randrange(nodes * 3 // 2))]
        self.job = self.gang()
        self.volumes = None
        if self.rng.random() < volumes:
            self.volumes = scheduler_volumes.Volumes(self.rng, self.nodes, SPACES[0])
            self.volumes.add_to(self.job["spec"]["workers"]["template"], self.pods)
        self.claims = None
        if self.rng.random() < claims:
            self.claims = scheduler_claims.Claims(self.rng, self.nodes, SPACES[0])
            self.claims.add_to(self.job["spec"]["workers"]["template"])

    def node(self, name):
        rng = self.rng
        # Whose nodes: of the gang's Fabric, of another one, or of none.
        kind = "rules" if name == "n0" else rng.choice(("rules",) * 4 + ("other", "none"))
        labels = {HOST: name, "weft.test/node": kind}
        if chance(rng, 0.85):
            labels[ZONE] = rng.choice("ab")
            if self.zones:
                labels["topology.kubernetes.io/zone"] = labels[ZONE]
        if chance(rng, 0.85):
            labels[RACK] = rng.choice("xyz")
        spec = {}
        if chance(rng, 0.15):
            spec["taints"] = [TAINT]
        if chance(rng, 0.05):
            spec["unschedulable"] = True
        amounts = {"cpu": "16", "memory": "64Gi", "pods": "110"}
        if kind == "rules":
            amounts[GPUS] = "4"
        return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
                "spec": spec, "status": {"capacity": amounts, "allocatable": amounts,
                                         "conditions": [{"type": "Ready", "status": "True"}]}}

    def selector(self):
        rng, app = self.rng, self.rng.choice(APPS)
        return rng.choice((
            {"matchLabels": {"app": app}}, {"matchLabels": {"app": app}},
            {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": [app]}]},
            {"matchExpressions": [{"key": "app", "operator": "Exists"}]}))

    def term(self):
        term = {"topologyKey": self.rng.choice(KEYS), "labelSelector": self.selector()}
        if chance(self.rng, 0.25):
            term["namespaces"] = [self.rng.choice(SPACES)]
        if chance(self.rng, 0.3):
            term["namespaceSelector"] = self.space_selector()
        return term

    def space_selector(self):
        rng, team = self.rng, self.rng.choice(("red", "blue", "green"))
        return rng.choice((
            {}, {"matchLabels": {"team": team}}, {"matchLabels": {"team": team}},
            {"matchLabels": {"kubernetes.io/metadata.name": rng.choice(SPACES)}},
            {"matchExpressions": [{"key": "team", "operator": "NotIn", "values": [team]}]}))

    def ports(self):
        port = {"containerPort": self.rng.choice(PORTS)}
        if chance(self.rng, 0.7):
            port["hostPort"] = port["containerPort"]
        if chance(self.rng, 0.2):
            port["protocol"] = "UDP"
        if chance(self.rng, 0.2):
            port["hostIP"] = self.rng.choice(("10.0.0.1", "0.0.0.0"))
        return port

    def template(self, gpus):
        rng = self.rng
        container = {"name": "main", "image": "registry.example/none:1",
                     "resources": {"limits": {GPUS: str(gpus)}} if gpus else {}}
        spec = {"containers": [container], "terminationGracePeriodSeconds": 0}
        if chance(rng, 0.3):
            container["ports"] = [self.ports()]
        affinity = {}
        if chance(rng, 0.3):
            affinity["podAntiAffinity"] = {REQUIRED: [self.term()]}
        if chance(rng, 0.2):
            affinity["podAffinity"] = {REQUIRED: [self.term()]}
        if affinity:
            spec["affinity"] = affinity
        return {"metadata": {"labels": {"app": rng.choice(APPS), "rev": rng.choice("12")}},
                "spec": spec}

    def spread(self):
        rng = self.rng
        spread = {"topologyKey": rng.choice(KEYS), "maxSkew": rng.choice((1, 2)),
                  "whenUnsatisfiable": "DoNotSchedule", "labelSelector": self.selector()}
        for policy in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            if chance(rng, 0.5):
                spread[policy] = rng.choice(("Honor", "Ignore"))
        if chance(rng, 0.2):
            spread["minDomains"] = rng.choice((1, 2, 3))
        if chance(rng, 0.2):
            spread["matchLabelKeys"] = ["rev"]
        return spread

    def running(self, number):
        node = self.rng.choice(self.nodes)
        pod = self.template(self.rng.choice((0, 0, 1, 2)) if has_gpus(node) else 0)
        pod["spec"]["nodeName"] = node["metadata"]["name"]
        pod["metadata"].update(name=f"running-{number}", namespace=self.rng.choice(SPACES))
        if chance(self.rng, 0.2):
            pod["spec"]["terminationGracePeriodSeconds"] = LINGER_SECONDS
            pod["metadata"]["annotations"] = {"weft.test/stop-seconds": str(LINGER_SECONDS)}
        return {"apiVersion": "v1", "kind": "Pod", **pod}

    def gang(self):
        rng = self.rng
        gpus = rng.choice((1, 1, 2, 4))
        template = self.template(gpus)
        spec = template["spec"]
        if chance(rng, 0.3):
            spec["tolerations"] = [{"key": TAINT["key"], "operator": "Exists"}]
        if chance(rng, 0.15):
            spec["nodeSelector"] = {ZONE: rng.choice("ab")}
        if chance(rng, 0.15):
            expression = {"key": RACK, "operator": rng.choice(("In", "NotIn")),
                          "values": [rng.choice("xyz")]}
            spec.setdefault("affinity", {})["nodeAffinity"] = {
                REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
        if chance(rng, 0.25):
            spec["topologySpreadConstraints"] = [self.spread()]
            if chance(rng, 0.2):
                second = self.spread()
                # The API server refuses two constraints of one key.
                if second["topologyKey"] != spec["topologySpreadConstraints"][0]["topologyKey"]:
                    spec["topologySpreadConstraints"].append(second)
        if chance(rng, 0.1):
            spec["hostNetwork"] = True
            for port in spec["containers"][0].get("ports", ()):
                if "hostPort" in port:
                    port["hostPort"] = port["containerPort"]
        return {"apiVersion": "weft.dev/v1alpha1", "kind": "TrainingJob",
                "metadata": {"name": "gang", "namespace": SPACES[0]},
                "spec": {"framework": {"type": "Torch"}, "fabricName": "default",
                         "accelerator": {"resourceName": GPUS, "perWorker": gpus},
                         "workers": {"replicas": 1 + rng.randrange(sum(map(has_gpus, self.nodes))),
                                     "template": template}}}

    def spreads(self):
        return "topologySpreadConstraints" in self.job["spec"]["workers"]["template"]["spec"]


# The labels of zones are for volumes here: a fabric of their levels would leave nodes out that lack
# one.
def flat(name, nodes):
    return {"apiVersion": "weft.dev/v1alpha1", "kind": "Fabric", "metadata": {"name": name},
            "spec": {"levels": [], "nodeSelector": {"matchLabels": {"weft.test/node": nodes}}}}


FABRICS = [flat("default", "rules"), flat("other", "other")]


def plan(job):
    """The node of each worker, or none, and what was printed about it."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"apiVersion": "v1", "kind": "List", "items": [*FABRICS, job]}, file)
        file.flush()
        done = subprocess.run([os.environ["WEFT"], "plan", "--cluster", "-f", file.name, "-o",
                               "json"], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        raise AssertionError(f"weft plan: {done.returncode}: {done.stderr}")
    items = json.loads(done.stdout)["items"] if done.stdout.strip() else []
    nodes = [one["status"]["nodes"] for one in items
             if one.get("kind") == "Placement" and one.get("status", {}).get("nodes")]
    return nodes[0] if nodes else None, done.stderr


def workers(job, nodes):
    """The gang's pods, pinned as Weft pins them where nodes are given."""
    template = job["spec"]["workers"]["template"]
    for worker in range(job["spec"]["workers"]["replicas"]):
        pod = json.loads(json.dumps(template))
        pod.update(apiVersion="v1", kind="Pod")
        pod["metadata"].update(name=f"gang-{worker}", namespace=job["metadata"]["namespace"])
        pod["metadata"]["labels"].update({"weft.dev/job-name": "gang", "weft.test/gang": "yes"})
        if nodes:
            pin(pod["spec"], nodes[worker])
        yield pod


def pin(spec, node):
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    terms = (spec.setdefault("affinity", {}).setdefault("nodeAffinity", {})
             .setdefault(REQUIRED, {"nodeSelectorTerms": [{}]})["nodeSelectorTerms"])
    for term in terms:
        term["matchFields"] = [field]


def refusal(pod):
    for one in pod.get("status", {}).get("conditions", ()):
        if one["type"] == "PodScheduled" and one["status"] == "False":
            return one.get("message", "pending")
    return ""


class Rules:
    def __init__(self, volumes, claims, nodes):
        self.cluster, self.volumes, self.claims = Cluster(watched=("pods",)), volumes, claims
        self.nodes = nodes
        for space in SPACES:
            self.cluster.make_namespace(space, {"team": TEAMS[space]})
        if volumes:
            self.cluster.create("csidrivers", scheduler_volumes.CSI_DRIVER)
            for one in scheduler_volumes.CLASSES:
                self.cluster.create("storageclasses", one)
        self.counts = {"placed": 0, "refused": 0, "spread": 0, "volumes": 0, "claims": 0,
                       "pods": 0}

    def close(self):
        self.cluster.close()

    def all_pods(self):
        return [pod for space in SPACES for pod in self.cluster.history.all_now("pods", space)]

    def gang_pods(self):
        return [pod for pod in self.all_pods()
                if pod["metadata"]["labels"].get("weft.test/gang") == "yes"]

    def clean(self):
        for space in SPACES:
            self.cluster.delete("pods", space, options={"gracePeriodSeconds": 0})
        self.cluster.delete("nodes", "")
        self.cluster.until("all pods are gone", lambda: not self.all_pods())
        if self.volumes:
            self.clean_volumes()
        if self.claims:
            self.clean_claims()
        poll(lambda: not self.cluster.list("nodes"), "the nodes are gone")

    def clean_volumes(self):
        self.cluster.delete("persistentvolumeclaims", SPACES[0])
        self.cluster.delete("csinodes", "")
        poll(lambda: not self.cluster.list("persistentvolumeclaims"), "the claims are gone")
        self.cluster.delete("persistentvolumes", "")
        poll(lambda: not self.cluster.list("persistentvolumes"), "the volumes are gone")

    def clean_claims(self):
        for plural in scheduler_claims.PLURALS:
            space = SPACES[0] if plural.startswith("resourceclaim") else ""
            self.cluster.delete(plural, space)
            poll(lambda plural=plural: not self.cluster.list(plural), f"the {plural} are gone")

    def build_claims(self, claims):
        for plural, things in claims.objects.items():
            for thing in things:
                self.cluster.create(plural, thing)
        for pod in claims.holders:
            self.cluster.create("pods", pod)
        self.await_pods(len(claims.holders))

    def await_pods(self, total):
        self.cluster.until("the pods run", lambda: len(self.all_pods()) == total and all(
            pod["status"]["phase"] == "Running" for pod in self.all_pods()))

    def build_volumes(self, volumes):
        for node in volumes.csi_nodes:
            self.cluster.create("csinodes", node)
        for volume in volumes.volumes:
            self.cluster.create("persistentvolumes", volume)
        for claim in volumes.claims:
            self.cluster.create("persistentvolumeclaims", claim)
        poll(lambda: all(one["status"].get("phase") in ("Available", "Bound")
                         for one in self.cluster.list("persistentvolumes")), "volumes")
        poll(lambda: all(one["status"].get("phase") == "Bound" or "volumeName" not in one["spec"]
                         for one in self.cluster.list("persistentvolumeclaims")), "bound claims")

    def build(self, world):
        if world.volumes:
            self.build_volumes(world.volumes)
        for node in world.nodes:
            self.cluster.create("nodes", node)
        poll(lambda: all(self.is_ready(node) for node in self.cluster.list("nodes")), "ready nodes")
        if world.claims:
            self.build_claims(world.claims)
        for pod in world.pods:
            self.cluster.create("pods", pod)
        self.await_pods(len(world.pods) + len(world.claims.holders if world.claims else ()))
        ending = [pod["metadata"] for pod in world.pods if "annotations" in pod["metadata"]]
        for one in ending:
            self.cluster.delete("pods", one["namespace"], one["name"])
        self.cluster.until("pods are being deleted", lambda: len(ending) == sum(
            "deletionTimestamp" in pod["metadata"] for pod in self.all_pods()))

    @staticmethod
    def is_ready(node):
        """The controllers take off the taint that every new node gets."""
        taints = [one["key"] for one in node["spec"].get("taints", ())]
        return not any(key.startswith("node.kubernetes.io/not-ready") for key in taints) and any(
            one["type"] == "Ready" and one["status"] == "True"
            for one in node["status"].get("conditions", ()))

    def bound(self, job, nodes):
        """Whether kube-scheduler binds them all; else its words about the others."""
        for pod in workers(job, nodes):
            self.cluster.create("pods", pod)
        total = job["spec"]["workers"]["replicas"]

        def decided():
            pods = self.gang_pods()
            return len(pods) == total and all(pod["spec"].get("nodeName") for pod in pods)

        def settled():
            pods = self.gang_pods()
            return len(pods) == total and all(
                pod["spec"].get("nodeName") or refusal(pod) for pod in pods)

        self.cluster.until("every pod is judged", settled, SETTLE_SECONDS)
        try:  # a pod may have been refused before the one beside which it must run was bound
            self.cluster.until("all are bound", decided, BIND_SECONDS if nodes else 3)
            return ""
        except AssertionError:
            return "; ".join(sorted({refusal(pod) for pod in self.gang_pods()
                                     if not pod["spec"].get("nodeName")})) or "pending"

    def difference(self, seed):
        """Of a round. kube-scheduler may bind pods before it knows of those that were bound a
        moment ago, so only what a second look shows too is one."""
        return self.round(seed) and self.round(seed)

    def round(self, seed):
        """A sentence if Weft and kube-scheduler differ."""
        world = World(seed, self.volumes, self.claims, self.nodes)
        self.clean()
        self.build(world)
        nodes, words = plan(world.job)
        self.counts["spread"] += world.spreads()
        self.counts["volumes"] += world.volumes is not None
        self.counts["claims"] += world.claims is not None
        self.counts["pods"] += len(world.pods) + world.job["spec"]["workers"]["replicas"]
        if nodes:
            self.counts["placed"] += 1
            why = self.bound(world.job, nodes)
            return why and f"seed {seed}: placed on {nodes}, and kube-scheduler says: {why}"
        self.counts["refused"] += 1
        if world.spreads() or self.bound(world.job, None):
            return ""
        on = [pod["spec"]["nodeName"] for pod in self.gang_pods()]
        return f"seed {seed}: refused, and kube-scheduler binds it to {on}: {words}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--volumes", type=float, default=0)
    parser.add_argument("--claims", type=float, default=0)
    parser.add_argument("--nodes", type=int, default=NODES)
    arguments = parser.parse_args()
    rules = Rules(arguments.volumes, arguments.claims, arguments.nodes)
    try:
        differences = [sentence for number in range(arguments.rounds)
                       if (sentence := rules.difference(arguments.seed + number))]
        rules.clean()
    finally:
        rules.close()
    for sentence in differences:
        print(sentence)
    print(f"{arguments.rounds} rounds: {rules.counts}, {len(differences)} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
