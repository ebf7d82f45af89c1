"""Writes jobs into the etcd of a local cluster as an earlier weft-operator would have left them.

One real job of two workers is the pattern: its TrainingJob, Placement and Pods are copied under
other names, uids and nodes. A hundred thousand pods are there within a minute this way, where the
API server would take half an hour.
"""

import base64
import copy
import http.client
import json
import os
import re
import uuid

GPUS_A_NODE = 8
PUTS_A_REQUEST = 64  # etcd takes 128 of a transaction, and 1.5 MiB
PLURALS = {"TrainingJob": "weft.dev/trainingjobs", "Placement": "weft.dev/placements", "Pod": "pods"}


class Etcd:
    def __init__(self):
        ports = os.path.join(os.path.dirname(os.environ["KUBECONFIG"]), "ports")
        with open(ports, encoding="utf-8") as file:
            port = int(re.search(r"^etcd_port=(\d+)$", file.read(), re.MULTILINE).group(1))
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.waiting = []

    def put(self, thing):
        meta = thing["metadata"]
        key = f"/registry/{PLURALS[thing['kind']]}/{meta['namespace']}/{meta['name']}"
        self.waiting.append({"requestPut": {"key": coded(key), "value": coded(json.dumps(thing))}})
        if len(self.waiting) == PUTS_A_REQUEST:
            self.flush()

    def flush(self):
        if not self.waiting:
            return
        self.connection.request("POST", "/v3/kv/txn", json.dumps({"success": self.waiting}))
        answer = self.connection.getresponse()
        told = answer.read().decode()
        if answer.status != 200:
            raise AssertionError(f"etcd: {answer.status} {told}")
        self.waiting = []


def coded(text):
    return base64.b64encode(text.encode()).decode()


class Pattern:
    """A job of two workers that runs, as the API server shows it."""

    def __init__(self, cluster, space, name):
        self.space, self.name = space, name
        self.job = bare("TrainingJob", cluster.get("trainingjobs", space, name))
        self.placement = bare("Placement", cluster.get("placements", space, f"{name}-1"))
        self.pod = bare("Pod", cluster.get("pods", space, f"{name}-1-0"))

    def copy(self, thing, name, uids):
        """With other names and uids wherever they stand."""
        text = json.dumps(thing).replace(self.name, name)
        for was, becomes in uids.items():
            text = text.replace(was, becomes)
        return json.loads(text)

    def write(self, etcd, name, workers, first_slot, nodes, finished):
        uids = {one["metadata"]["uid"]: str(uuid.uuid4()) for one in (self.job, self.placement)}
        job = self.copy(self.job, name, uids)
        job["spec"]["workers"]["replicas"] = workers
        status = job["status"]
        status["workers"] = {"desired": workers, "ready": 0 if finished else workers,
                             "succeeded": workers if finished else 0, "failed": 0}
        if finished:
            now = status["startTime"]
            status["completionTime"] = now
            status["phase"] = "Complete"
            status["conditions"] = [
                {**one, "status": "False", "reason": "Complete"} if one["type"] == "PodsReady"
                else one for one in status["conditions"]]
            status["conditions"].append({"type": "Complete", "status": "True", "reason": "Succeeded",
                                         "message": "every worker succeeded",
                                         "lastTransitionTime": now})
        etcd.put(job)
        placement = self.copy(self.placement, name, uids)
        placement["spec"]["workers"] = workers
        at = [nodes[(first_slot + i) // GPUS_A_NODE % len(nodes)] for i in range(workers)]
        placement["status"]["nodes"] = at
        etcd.put(placement)
        digits = len(str(workers - 1))
        pattern = self.copy(self.pod, name, uids)
        for worker in range(workers):
            etcd.put(worker_pod(pattern, name, f"{worker:0{digits}}", at[worker],
                                first_slot + worker, finished))


def worker_pod(pattern, job, worker, node, number, finished):
    pod = copy.deepcopy(pattern)
    pod["metadata"]["name"] = f"{job}-1-{worker}"
    pod["metadata"]["uid"] = str(uuid.uuid4())
    pod["metadata"]["labels"]["weft.dev/worker-index"] = str(int(worker))
    spec, status = pod["spec"], pod["status"]
    spec["hostname"] = f"{job}-{worker}"
    spec["nodeName"] = node
    terms = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    for term in terms["nodeSelectorTerms"]:
        for field in term["matchFields"]:
            field["values"] = [node]
    address = f"10.{128 + (number >> 16)}.{number >> 8 & 255}.{number & 255}"
    status["podIP"], status["podIPs"] = address, [{"ip": address}]
    if finished:
        status["phase"] = "Succeeded"
        for one in status["conditions"]:
            if one["type"] in ("Ready", "ContainersReady"):
                one["status"] = "False"
        for container in status["containerStatuses"]:
            ended = {"exitCode": 0, "reason": "Completed"}
            container.update(ready=False, started=False, state={"terminated": ended})
    return pod


def bare(kind, thing):
    """As etcd holds it: its revision is the key's."""
    thing = copy.deepcopy(thing)
    thing["metadata"].pop("resourceVersion")
    thing["metadata"].pop("managedFields", None)
    version = "v1" if kind == "Pod" else "weft.dev/v1alpha1"
    return {**thing, "kind": kind, "apiVersion": version}
