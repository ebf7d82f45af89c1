"""The servers of a local cluster as benchmarks look at them, and pods as a plain client creates them."""

import copy
import os
import time

from operator_lib import server_process

SERVERS = ("etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager", "kwok")
QUIET = 0.3  # of a processor, that all servers together take while nothing is asked of them


def servers():
    return {name: server_process(name) for name in SERVERS}


def processor_seconds(process):
    with open(f"/proc/{process}/stat", encoding="utf-8") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def until_quiet(patience_seconds):
    """kwok still visits every node a while after the nodes are ready, and deletes pods late."""
    end = time.monotonic() + patience_seconds
    spent = 0
    while True:
        before, spent = spent, sum(map(processor_seconds, servers().values()))
        if spent - before < QUIET:
            return
        if time.monotonic() > end:
            raise AssertionError(f"the servers are not quiet within {patience_seconds} s")
        time.sleep(1)


def bare(pod):
    """As its creator wrote it, owned by nobody: nothing would delete it otherwise."""
    pod = copy.deepcopy(pod)
    meta, spec = pod["metadata"], pod["spec"]
    spec.pop("nodeName", None)
    kept = {key: meta[key] for key in ("namespace", "labels", "annotations")}
    return {"apiVersion": "v1", "kind": "Pod", "spec": spec,
            "metadata": {"name": "bare-" + meta["name"], **kept}}
