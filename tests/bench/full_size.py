#!/usr/bin/env python3
"""One very large job through its whole life, in a cluster that knows 100,000 pods of other jobs.

The job is accepted, refused by kube-scheduler on one node and undone, bound, hit by the loss of a
node, restarted, and ended. Then a plain client of 16 threads creates and deletes the same pods.
Meanwhile small jobs come and go. Prints seconds from request to all bound, and of the restart,
against the client's; how long small jobs wait to be placed; the operator's peak of memory and its
processor seconds; whether it ever lost its Lease. See full_size.sh.
"""

import argparse
import collections
import concurrent.futures
import math
import os
import re
import statistics
import sys
import tempfile
import threading
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
from known_jobs import GPUS_A_NODE, Etcd, Pattern  # noqa: E402
from operator_lib import (  # noqa: E402
    ApiServer, Cluster, Operator, condition, free_port, poll, training_job)
from servers import bare, processor_seconds, servers, until_quiet  # noqa: E402

THREADS = 16
WORKERS_OF_KNOWN = 1000
PATIENCE_SECONDS = 1800
SMALL_PAUSE_SECONDS = 2
CLIENT = "client"  # label of its pods, where those of an operator have the number of their attempt
GOALS = {"bound": 1.2, "restart": 1.5, "memory_mb": 1000}


def peak_mb(process):
    with open(f"/proc/{process}/status", encoding="utf-8") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024


class Pods:
    """Of one namespace, by uid: counts alone, so that a hundred thousand changes cost little."""

    def __init__(self, space):
        self.changed = threading.Condition()
        self.bound, self.there = {}, {}
        self.broken = None
        threading.Thread(target=self._watch, args=(space,), daemon=True).start()

    def _watch(self, space):
        server, version = ApiServer(), "0"
        while True:
            try:
                path = f"/api/v1/namespaces/{space}/pods?watch=1&resourceVersion={version}"
                for change in server.watch(path):
                    version = change["object"]["metadata"].get("resourceVersion", "0")
                    self._take(change["type"], change["object"])
            except (OSError, ValueError) as error:
                self.broken = error

    def _take(self, kind, pod):
        meta = pod["metadata"]
        with self.changed:
            if kind == "DELETED":
                self.there.pop(meta["uid"], None)
                self.bound.pop(meta["uid"], None)
            else:
                attempt = meta.get("labels", {}).get("weft.dev/attempt", "")
                self.there[meta["uid"]] = attempt
                if "nodeName" in pod["spec"]:
                    self.bound[meta["uid"]] = attempt
            self.changed.notify_all()

    def until(self, what, holds):
        end = time.monotonic() + PATIENCE_SECONDS
        with self.changed:
            while not holds():
                if not self.changed.wait(max(0.0, end - time.monotonic())):
                    raise AssertionError(f"not within {PATIENCE_SECONDS} s: {what} "
                                         f"({len(self.bound)} bound of {len(self.there)})")

    def until_bound(self, count, attempt=None):
        self.until(f"{count} bound", lambda: sum(
            attempt in (None, one) for one in self.bound.values()) == count)

    def until_none(self):
        self.until("no pods", lambda: not self.there)


class SmallJobs(threading.Thread):
    """One after the other: created, placed, deleted."""

    def __init__(self, cluster, space):
        super().__init__(daemon=True)
        self.cluster, self.space = cluster, space
        self.seconds, self.ended, self.lock = [], threading.Event(), threading.Lock()

    def run(self):
        number = 0
        while not self.ended.wait(SMALL_PAUSE_SECONDS):
            number += 1
            name = f"small-{number}"
            begin = time.monotonic()
            self.cluster.create("trainingjobs", training_job(self.space, name, 2))

            def placed(name=name):
                job = self.cluster.get("trainingjobs", self.space, name)
                return (condition(job, "Placed") or {}).get("status") == "True"
            while not placed():
                time.sleep(0.02)
            with self.lock:
                self.seconds.append(time.monotonic() - begin)
            self.cluster.delete("trainingjobs", self.space, name)

    def take(self):
        with self.lock:
            taken, self.seconds = self.seconds, []
        return taken


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, math.ceil(share * len(values)) - 1)] if values else 0


class Bench:
    def __init__(self, arguments, work):
        self.workers, self.known = arguments.workers, arguments.known
        self.running = arguments.running
        self.work = work
        self.cluster = Cluster(["trainingjobs"])  # of a hundred thousand pods no history is kept
        for space in ("known", "large", "small"):
            self.cluster.make_namespace(space)
        self.port = free_port()
        self.operator = None
        self.pods = Pods("large")

    def start_operator(self):
        begin = time.monotonic()
        self.operator = Operator(self.work, "full-size", "--probe-address",
                                 f"127.0.0.1:{self.port}")
        return begin

    def nodes(self):
        return sorted(one["metadata"]["name"] for one in self.cluster.list("nodes"))

    def fill(self):
        """An operator runs the pattern, and is gone before its copies are there."""
        self.start_operator()
        job = training_job("known", "pattern", 2)
        narrow(job)
        self.cluster.create("trainingjobs", job)
        self.cluster.until_running("known", "pattern", seconds=300)
        pattern = Pattern(self.cluster, "known", "pattern")
        self.cluster.delete("trainingjobs", "known", "pattern")
        self.cluster.until_no_job("known", "pattern", seconds=300)
        self.operator.stop()
        nodes, etcd, begin = self.nodes(), Etcd(), time.monotonic()
        for number in range(self.known // WORKERS_OF_KNOWN):
            first = number * WORKERS_OF_KNOWN
            pattern.write(etcd, f"known-{number}", WORKERS_OF_KNOWN, first, nodes,
                          finished=first >= self.running)
        etcd.flush()
        print(f"{self.known} pods of {self.known // WORKERS_OF_KNOWN} jobs known, {self.running} "
              f"run: written in {time.monotonic() - begin:.0f} s", flush=True)

    def first_copy(self):
        """The servers take in what was written first: that is theirs, and is told apart."""
        self.measure("the servers are quiet again", servers(),
                     lambda: until_quiet(PATIENCE_SECONDS))
        self.start_operator()
        processes = {**servers(), "weft-operator": self.operator.process.pid}

        def run_first():
            self.cluster.create("trainingjobs", training_job("small", "first", 1))
            self.cluster.until_running("small", "first", seconds=600)
        self.measure("operator started, all read, a first job runs", processes, run_first)
        self.cluster.delete("trainingjobs", "small", "first")
        print(f"peak {peak_mb(self.operator.process.pid):.0f} MB", flush=True)

    def large(self):
        job = training_job("large", "giant", self.workers)
        narrow(job)
        job["spec"]["failurePolicy"] = {"maxRestarts": 3}
        return job

    def measure(self, what, processes, act):
        before = {name: processor_seconds(pid) for name, pid in processes.items()}
        begin = time.monotonic()
        act()
        seconds = time.monotonic() - begin
        spent = ", ".join(f"{name} {processor_seconds(pid) - before[name]:.0f}"
                          for name, pid in processes.items())
        print(f"{what}: {seconds:.1f} s; processor s: {spent}", flush=True)
        return seconds

    def processes(self):
        return {**servers(), "weft-operator": self.operator.process.pid}

    def until_ready(self):
        poll(lambda: (condition(self.cluster.get("trainingjobs", "large", "giant"), "PodsReady")
                      or {}).get("status") == "True", "the large job runs", 600)

    def bind(self):
        def create():
            self.cluster.create("trainingjobs", self.large())
            self.pods.until_bound(self.workers)
        bound = self.measure("accepted to all bound", self.processes(), create)
        self.until_ready()
        return bound

    def restart(self):
        def lose():
            placement = self.cluster.get("placements", "large", "giant-1")
            self.cluster.delete("nodes", "", placement["status"]["nodes"][0])
            self.pods.until("the first attempt's pods are gone",
                            lambda: "1" not in self.pods.there.values())
        # kwok plays all kubelets in one process: of the pods' end most is its time.
        gone = self.measure("a node is lost, until all pods are gone", self.processes(), lose)
        again = self.measure("all bound again", self.processes(), lambda: self.pods.until_bound(
            self.workers, attempt="2"))
        self.until_ready()
        return gone + again

    def refuse(self):
        """A node takes nothing more just after it was chosen: kube-scheduler says no, all is undone."""
        self.cluster.create("trainingjobs", self.large())
        placement = poll(lambda: (self.cluster.get("placements", "large", "giant-1") or {}).get(
            "status", {}).get("nodes"), "a Placement", 600)
        self.cluster.patch("nodes", "", placement[-1], {"spec": {"unschedulable": True}})
        self.pods.until_bound(self.workers, attempt="2")
        self.cluster.patch("nodes", "", placement[-1], {"spec": {"unschedulable": False}})

    def depart(self):
        self.cluster.delete("trainingjobs", "large", "giant")
        self.pods.until_none()
        poll(lambda: not self.cluster.get("trainingjobs", "large", "giant"), "no large job", 600)

    def client_creates(self, pods):
        """What the same pods cost without an operator: seconds until all are bound."""
        def create():
            each(lambda pod: self.cluster.create("pods", pod), pods)
            self.pods.until_bound(self.workers, attempt=CLIENT)
        return self.measure("a plain client creates the pods, until all are bound",
                            {**servers(), "client": os.getpid()}, create)

    def client_deletes(self, pods):
        def delete():
            each(lambda pod: self.cluster.delete("pods", "large", pod["metadata"]["name"]), pods)
            self.pods.until_none()
        return self.measure("it deletes them, until all are gone",
                            {**servers(), "client": os.getpid()}, delete)

    def for_client(self, pods):
        """The pods as a client writes them, each on its node."""
        copies = [bare(pod) for pod in pods]
        for pod in copies:
            pod["metadata"]["labels"]["weft.dev/attempt"] = CLIENT
        return copies

    def elsewhere(self, pods):
        """Pins the pods to nodes that hold no pod, as they share nodes now."""
        used = {pod["spec"].get("nodeName") for space in ("known", "large", "small")
                for pod in self.cluster.list("pods", space)
                if pod["status"]["phase"] not in ("Succeeded", "Failed")}
        free = iter(node for node in self.nodes() if node not in used)
        instead = collections.defaultdict(lambda: next(free))
        for pod in pods:
            for field in pinned(pod):
                field["values"] = [instead[node] for node in field["values"]]

    def report(self, waits):
        verdict("operator's peak of memory, MB", peak_mb(self.operator.process.pid),
                GOALS["memory_mb"])
        print(f"  small jobs until placed: {len(waits)}, median {statistics.median(waits):.2f} s, "
              f"99 % {percentile(waits, 0.99):.2f} s")
        passes, long, long_of_others = self.passes()
        print(f"  {passes} passes over jobs, {long} longer than 0.5 s, {long_of_others} of these over "
              "another job than the large one")
        print(f"  Lease lost {self.lost_lease()} times", flush=True)

    def lost_lease(self):
        with open(self.operator.log, encoding="utf-8", errors="replace") as log:
            return len(re.findall(r"lead(ership)? (was )?lost|no longer leads", log.read()))

    def passes(self):
        """Of the reconcile loop of jobs: how many in all, and how many above half a second were not
        the large job's."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=60) as answer:
            told = answer.read().decode()
        total = int(re.search(r'weft_reconcile_seconds_count\{[^}]*"trainingjob"[^}]*\} (\d+)',
                              told).group(1))
        with open(self.operator.log, encoding="utf-8", errors="replace") as log:
            long = [line for line in log if "long reconcile" in line and "trainingjob" in line]
        return total, len(long), sum("large/giant" not in line for line in long)


def each(act, things):
    with concurrent.futures.ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(act, things))


def pinned(pod):
    """The terms that name the pod's node."""
    terms = pod["spec"]["affinity"]["nodeAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    return [field for term in terms for field in term["matchFields"]]


def narrow(job):
    """One GPU a worker, so that a node holds eight."""
    spec = job["spec"]
    spec["accelerator"]["perWorker"] = 1
    for container in spec["workers"]["template"]["spec"]["containers"]:
        container["resources"]["limits"] = {"nvidia.com/gpu": 1}


def verdict(name, value, goal):
    print(f"  {name}: {value:.2f}, goal {goal}: {'met' if value <= goal else 'MISSED'}", flush=True)


class WholeLife:
    """Of the large job: bound, restarted, deleted, and, if asked for, refused by a node."""

    def __init__(self, bench, refuse):
        with_small(bench, lambda small: self._run(bench, small, refuse))
        client = bench.client_creates(self.pods)
        client_gone = bench.client_deletes(self.pods)
        verdict("bound, against the client", self.bound / client, GOALS["bound"])
        verdict("restart, against the client's creating", self.restart / client, GOALS["restart"])
        print(f"  restart, against the client's deleting and creating: "
              f"{self.restart / (client_gone + client):.2f}")

    def _run(self, bench, small, refuse):
        self.bound = bench.bind()
        self.restart = bench.restart()
        waits = small.take()
        self.pods = bench.for_client(bench.cluster.list("pods", "large"))
        bench.measure("deleted to no pod left", servers(), bench.depart)
        if refuse:
            bench.measure("one node refuses: undone, and all bound elsewhere", servers(),
                          bench.refuse)
            bench.depart()
        bench.report(waits)


def only_bound(bench):
    """The client's pods get other nodes: the large job keeps its own."""
    def run(small):
        bound = bench.bind()
        pods = bench.for_client(bench.cluster.list("pods", "large"))
        bench.elsewhere(pods)
        bench.report(small.take())
        return bound, pods
    bound, pods = with_small(bench, run)
    verdict("bound, against the client", bound / bench.client_creates(pods), GOALS["bound"])


def with_small(bench, act):
    """Runs it while small jobs come and go, then ends the operator."""
    small = SmallJobs(bench.cluster, "small")
    small.start()
    try:
        return act(small)
    finally:
        small.ended.set()
        small.join(120)
        bench.operator.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=16_384)
    parser.add_argument("--known", type=int, default=100_000, help="pods of other jobs")
    parser.add_argument("--running", type=int, default=40_000, help="of them; the rest have ended")
    parser.add_argument("--refuse", action="store_true", help="also the refusal of one node")
    parser.add_argument("--bound", action="store_true",
                        help="only until all are bound, and the same by a plain client: a quarter of "
                        "an hour; needs nodes for both")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(arguments, work)
        bench.fill()
        bench.first_copy()
        only_bound(bench) if arguments.bound else WholeLife(bench, arguments.refuse)


if __name__ == "__main__":
    main()
