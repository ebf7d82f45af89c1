"""Plays the kubelets of nodes of its own on this machine, with real processes.

Every pod that is bound to one of its nodes gets a network namespace with an address, its host name,
the volumes of its spec and a root folder; then its init containers and containers run as the spec
says: that command, that environment, those mounts. Names of headless Services resolve as the
cluster's EndpointSlices say. Phases, conditions, exit codes and termination messages are reported
to the API server, and pods that are deleted are ended with SIGTERM first.
"""

import threading
import time
import traceback

from operator_history import History
import network
from pod_runtime import PodRuntime

HEARTBEAT_SECONDS = 5
STATUS = "application/merge-patch+json"
LABEL = "weft.test/kubelet"  # kwok leaves nodes with it alone


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class Feed(History):
    """Every change of a pod or an EndpointSlice, as it is told."""

    def __init__(self, on_change):
        self.on_change = on_change
        super().__init__(["pods", "endpointslices"],
                         {"pods": "/api/v1", "endpointslices": "/apis/discovery.k8s.io/v1"})

    def _record(self, plural, kind, thing):
        version = super()._record(plural, kind, thing)
        self.on_change(plural, thing, kind == "DELETED")
        return version


class Kubelet:
    """For the nodes of one scenario, in a Cluster of operator_lib."""

    nodes_count = 12
    cpu_of_a_node = "40"  # a second worker does not fit

    def __init__(self, cluster, images, work):
        self.cluster, self.images, self.work = cluster, images, work
        self.network = network.Network()
        self.nodes = set()
        self.pods = {}  # by uid
        self.hosts = ""  # what all of them resolve
        self.lock = threading.RLock()
        self.ended = threading.Event()
        self.feed = Feed(self._on_change)
        threading.Thread(target=self._beat, daemon=True).start()

    def add_nodes(self, prefix, gpus, labels_of):
        """Twelve, whose names follow no order that matters. Each has the labels of its number."""
        for number in range(self.nodes_count):
            self.add_node(f"{prefix}-{(number * 5) % self.nodes_count}", gpus, labels_of(number))

    @staticmethod
    def dress(pod, container):
        """A container is as its image's name says."""

    def add_node(self, name, gpus, labels):
        self.cluster.create("nodes", {
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": {
                LABEL: "yes", "kubernetes.io/hostname": name, **labels}}})
        room = {"cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": str(gpus)}
        self._report_node(name, {"capacity": room, "allocatable": room})
        self.nodes.add(name)

    def _report_node(self, name, more):
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "",
                 "lastHeartbeatTime": now(), "lastTransitionTime": now()}
        self.cluster.call("PATCH", self.cluster.path("nodes", "", name) + "/status",
                          {"status": {"conditions": [ready], **more}}, STATUS)

    def _beat(self):
        while not self.ended.wait(HEARTBEAT_SECONDS):
            for name in list(self.nodes):
                try:
                    self._report_node(name, {})
                except Exception:  # pylint: disable=broad-except
                    traceback.print_exc()  # as a kubelet it tries again

    def _on_change(self, plural, thing, gone):
        try:
            if plural == "endpointslices":
                self._resolve()
            if plural == "pods" and thing["spec"].get("nodeName") in self.nodes:
                self._on_pod(thing, gone)
        except Exception:  # pylint: disable=broad-except
            traceback.print_exc()

    def _on_pod(self, pod, gone):
        uid = pod["metadata"]["uid"]
        with self.lock:
            runtime = self.pods.get(uid)
            if runtime is None and not gone and not pod["metadata"].get("deletionTimestamp"):
                runtime = self.pods[uid] = PodRuntime(self, pod)
                runtime.start()
        if runtime is None:
            if not gone:
                self._forget(pod)
        elif gone:
            runtime.end(0)
        elif pod["metadata"].get("deletionTimestamp"):
            runtime.end(pod["metadata"].get("deletionGracePeriodSeconds", 30))

    def _forget(self, pod):
        meta = pod["metadata"]
        self.cluster.delete("pods", meta["namespace"], meta["name"],
                            {"gracePeriodSeconds": 0, "preconditions": {"uid": meta["uid"]}})

    def report(self, pod, status):
        """False where the pod is gone."""
        meta = pod["metadata"]
        path = self.cluster.path("pods", meta["namespace"], meta["name"]) + "/status"
        return self.cluster.call("PATCH", path, {"metadata": {"uid": meta["uid"]},
                                                 "status": status}, STATUS) is not None

    def remove(self, pod):
        self._forget(pod)

    def _resolve(self):
        """As a cluster's DNS: <hostname>.<service> for each endpoint, ready or published so."""
        lines = []
        for slice_ in self.feed.all_now("endpointslices"):
            service = slice_["metadata"]["labels"].get("kubernetes.io/service-name", "")
            space = slice_["metadata"]["namespace"]
            for endpoint in slice_.get("endpoints") or []:
                if not endpoint.get("hostname"):
                    continue
                name = f"{endpoint['hostname']}.{service}"
                for address in endpoint["addresses"]:
                    lines.append(f"{address} {name}.{space}.svc.cluster.local {name}.{space}.svc"
                                 f" {name}.{space} {name}\n")
        with self.lock:
            self.hosts = "".join(sorted(lines))
            for runtime in self.pods.values():
                runtime.write_hosts()

    def close(self):
        self.ended.set()
        self.feed.close()
        for name in self.nodes:
            self.cluster.delete("nodes", "", name)
        with self.lock:
            runtimes = list(self.pods.values())
        for runtime in runtimes:
            runtime.end(0)
        for runtime in runtimes:
            runtime.join()
        self.network.close()

    def runtime(self, pod):
        return self.pods[pod["metadata"]["uid"]]

