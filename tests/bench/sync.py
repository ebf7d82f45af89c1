#!/usr/bin/env python3
"""Fills the cluster of $KUBECONFIG with 10,000 Nodes of about 5 kB and 50,000 Pods of about 4 kB
that are bound to them, with kubelets, controllers and scheduler stopped, so that the server has
nothing else to do. See sync.sh."""

import concurrent.futures
import json
import os
import signal
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
from operator_lib import ApiServer, server_process  # noqa: E402

NODES, PODS = 10_000, 50_000
IN_FLIGHT = 16
RESOURCES = {"cpu": "224", "memory": "2113519664Ki", "nvidia.com/gpu": "8", "pods": "110"}


def node(number):
    labels = {f"feature.example/label-{i}": "value" for i in range(16)}
    labels["fabric.topograph.run/tier-0"] = f"leaf-{number // 32}"
    return "/api/v1/nodes", {
        "metadata": {"name": f"node-{number}", "labels": labels,
                     "annotations": {f"example.com/note-{i}": "x" * 100 for i in range(12)}},
        "status": {"capacity": RESOURCES, "allocatable": RESOURCES, "images": [
            {"names": [f"registry.example/team/image-{i}@sha256:{'a' * 64}"], "sizeBytes": 1}
            for i in range(16)]}}


def pod(number):
    return "/api/v1/namespaces/default/pods", {
        "metadata": {"name": f"pod-{number}", "labels": {"app": "train", "tier": "batch"},
                     "annotations": {f"example.com/note-{i}": "x" * 100 for i in range(8)}},
        "spec": {"nodeName": f"node-{number % NODES}", "automountServiceAccountToken": False,
                 "containers": [{"name": "c", "image": "registry.example/t:1", "env": [
                     {"name": f"VARIABLE_{i}", "value": "twenty bytes of text"} for i in range(12)],
                     "resources": {"limits": {"cpu": "4", "memory": "8Gi",
                                              "nvidia.com/gpu": "1"}}}]}}


def main():
    server = ApiServer()
    while server.request("GET", "/api/v1/namespaces/default/serviceaccounts/default")[0] != 200:
        time.sleep(0.1)  # no pod is admitted without
    for name in ("kwok", "kube-controller-manager", "kube-scheduler"):
        os.kill(server_process(name), signal.SIGSTOP)

    def create(of):
        path, thing = of
        status, answer = server.request("POST", path, json.dumps(thing).encode())
        if status != 201:
            raise SystemExit(f"sync.py: {answer.get('message', status)}")
    with concurrent.futures.ThreadPoolExecutor(IN_FLIGHT) as pool:
        for make, count in ((node, NODES), (pod, PODS)):
            for _ in pool.map(create, map(make, range(count)), chunksize=64):
                pass
    for path in ("/api/v1/nodes?limit=1", "/api/v1/pods?limit=1"):
        one = server.request("GET", path)[1]["items"][0]
        print(f"{path.split('?', 1)[0]}: {len(json.dumps(one)) / 1e3:.1f} kB each")


if __name__ == "__main__":
    main()
