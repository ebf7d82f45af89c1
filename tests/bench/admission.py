#!/usr/bin/env python3
"""How fast Weft answers Kueue, on a running cluster of admission.sh.

    admission.py JOBS WORKERS FOLDER

One Job after the other waits in a queue with Weft's check. When all its pods run it is evicted
(spec.active: false), as by a preemption. All times are those at which this process saw the change in
its watches; a first job is not counted.
"""

import os
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
from kueue_world import (CHECK, CLUSTER_QUEUE, LABEL, OBJECTS, apply, checks_of, gpus_job,  # noqa: E402
                         has, owner_of, start_peers)
from operator_lib import Cluster, Operator, poll  # noqa: E402
from servers import processor_seconds  # noqa: E402

SPACE, QUEUE = "bench", "team"
PATIENCE_SECONDS = 120
GOALS = {"reserved to Ready": 0.1, "last pod's end to nodes free": 2}


class Watched:
    """When the steps of the job at hand were seen."""

    def __init__(self):
        self.begin()

    def begin(self):
        self.reserved = self.ready = self.pod_ended = self.freed = None

    def __call__(self, change):
        now, thing = time.monotonic(), change.thing
        if change.plural == "workloads" and has(thing, "QuotaReserved"):
            self.reserved = self.reserved or now
            if any(check["state"] == "Ready" for check in checks_of(thing)):
                self.ready = self.ready or now
        ended = change.type == "DELETED" or thing.get("status", {}).get("phase") == "Succeeded"
        if change.plural == "pods" and LABEL in thing["metadata"].get("labels", {}) and ended:
            self.pod_ended = now
        if change.plural == "placements" and change.type == "DELETED":
            self.freed = now


def workload_of(cluster, name):
    return next((one for one in cluster.history.all_now("workloads", SPACE) if owner_of(one) == name),
                None)


def running(cluster):
    return sum(pod.get("status", {}).get("phase") == "Running"
               for pod in cluster.history.all_now("pods", SPACE))


def play(cluster, watched, name, workers):
    """One job's life: its two times in seconds."""
    watched.begin()
    job = gpus_job(SPACE, name, workers)
    job["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": QUEUE}
    job["spec"]["template"]["spec"]["schedulingGates"] = [{"name": LABEL}]
    cluster.create("jobs", job)
    cluster.until(f"{name} runs", lambda: running(cluster) == workers, PATIENCE_SECONDS)
    cluster.patch("workloads", SPACE, workload_of(cluster, name)["metadata"]["name"],
                  {"spec": {"active": False}})
    cluster.until(f"{name}'s nodes are free", lambda: watched.freed, PATIENCE_SECONDS)
    cluster.delete("jobs", SPACE, name, {"propagationPolicy": "Background"})
    cluster.until(f"{name} is gone", lambda: not workload_of(cluster, name)
                  and not cluster.history.all_now("pods", SPACE), PATIENCE_SECONDS)
    return watched.ready - watched.reserved, watched.freed - watched.pod_ended


def make_queue(cluster):
    nodes = len(cluster.list("nodes"))
    queue = CLUSTER_QUEUE % {"name": QUEUE, "check": CHECK, "gpus": nodes * 8}
    apply(OBJECTS + queue.replace("100000}", "10000000}"))
    apply("apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\n"
          f"metadata: {{name: {QUEUE}, namespace: {SPACE}}}\nspec: {{clusterQueue: {QUEUE}}}\n")
    poll(lambda: has(cluster.get("clusterqueues", "", QUEUE), "Active"), "the ClusterQueue is active")
    return nodes


def report(what, values):
    values = sorted(values)
    most = values[min(len(values) - 1, len(values) * 99 // 100)]
    verdict = "met" if most <= GOALS[what] else "MISSED"
    print(f"| {what} | {1e3 * statistics.median(values):.0f} | {1e3 * most:.0f} | "
          f"{1e3 * values[-1]:.0f} | {1e3 * GOALS[what]:.0f}: {verdict} |")


def main():
    jobs, workers, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    cluster = Cluster(("trainingjobs",))
    cluster.make_namespace(SPACE)
    operator = Operator(folder, "bench", "--kueue")
    start_peers("kueue")
    nodes = make_queue(cluster)
    cluster.close()
    cluster, watched = Cluster(("pods", "placements", "workloads")), Watched()
    cluster.history.observers.append(watched)
    play(cluster, watched, "first", workers)
    before, begin, times = processor_seconds(operator.process.pid), time.monotonic(), []
    for number in range(jobs):
        times.append(play(cluster, watched, f"j{number:03}", workers))
    took, used = time.monotonic() - begin, processor_seconds(operator.process.pid) - before
    print(f"{nodes} nodes, {jobs} jobs of {workers} workers, one after the other in {took:.0f} s; "
          f"weft-operator: {used / jobs:.2f} s of processor time a job, "
          f"{operator.resident_kib() / 1024:.0f} MiB\n")
    print("| ms | median | 99 % | most | goal |\n| --- | --- | --- | --- | --- |")
    report("reserved to Ready", [ready for ready, _ in times])
    report("last pod's end to nodes free", [freed for _, freed in times])
    cluster.close()
    operator.stop()


if __name__ == "__main__":
    main()
