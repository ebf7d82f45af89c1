#!/usr/bin/env python3
"""One very large job through its whole life, in a cluster that knows 100,000 pods of other jobs.

The job is accepted, refused by kube-scheduler on one node and undone, bound, hit by the loss of a
node, restarted, and ended. Then a plain client of 16 threads creates and deletes the same pods.
Meanwhile small jobs come and go. Prints seconds from request to all bound, and of the restart,
against the client's; how long small jobs wait to be placed; the operator's peak of memory and its
processor seconds; whether it ever lost its Lease. See full_size.sh.
"""

import argparse
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
from metrics_prometheus import free_port  # noqa: E402
from operator_lib import ApiServer, Cluster, Operator, condition, poll, training_job  # noqa: E402
from servers import bare, processor_seconds, servers, until_quiet  # noqa: E402

THREADS = 16
WORKERS_OF_KNOWN = 1000
PATIENCE_SECONDS = 1800
SMALL_PAUSE_SECONDS = 2
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

    def by_operator(self, small):
        processes = {**servers(), "weft-operator": self.operator.process.pid}

        def bind():
            self.cluster.create("trainingjobs", self.large())
            self.pods.until_bound(self.workers)
        bound = self.measure("accepted to all bound", processes, bind)
        poll(lambda: (condition(self.cluster.get("trainingjobs", "large", "giant"), "PodsReady")
                      or {}).get("status") == "True", "the large job runs", 600)
        waits = small.take()

        def lose():
            placement = self.cluster.get("placements", "large", "giant-1")
            self.cluster.delete("nodes", "", placement["status"]["nodes"][0])
            self.pods.until("the first attempt's pods are gone",
                            lambda: "1" not in self.pods.there.values())
        # kwok plays all kubelets in one process: of the pods' end most is its time.
        gone = self.measure("a node is lost, until all pods are gone", processes, lose)
        again = self.measure("all bound again", processes, lambda: self.pods.until_bound(
            self.workers, attempt="2"))
        restart = gone + again
        poll(lambda: (condition(self.cluster.get("trainingjobs", "large", "giant"), "PodsReady")
                      or {}).get("status") == "True", "the large job runs again", 600)
        return bound, restart, waits + small.take()

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

    def by_client(self, pods):
        """What the same pods cost without an operator: seconds until bound, and until gone."""
        processes = {**servers(), "client": os.getpid()}

        def each(act):
            with concurrent.futures.ThreadPoolExecutor(THREADS) as threads:
                list(threads.map(act, pods))

        def create():
            each(lambda pod: self.cluster.create("pods", pod))
            self.pods.until_bound(self.workers)

        def delete():
            each(lambda pod: self.cluster.delete("pods", "large", pod["metadata"]["name"]))
            self.pods.until_none()
        return (self.measure("a plain client creates the pods, until all are bound", processes,
                             create),
                self.measure("it deletes them, until all are gone", processes, delete))

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


def narrow(job):
    """One GPU a worker, so that a node holds eight."""
    spec = job["spec"]
    spec["accelerator"]["perWorker"] = 1
    for container in spec["workers"]["template"]["spec"]["containers"]:
        container["resources"]["limits"] = {"nvidia.com/gpu": 1}


def verdict(name, value, goal):
    print(f"  {name}: {value:.2f}, goal {goal}: {'met' if value <= goal else 'MISSED'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=16_384)
    parser.add_argument("--known", type=int, default=100_000, help="pods of other jobs")
    parser.add_argument("--running", type=int, default=40_000, help="of them; the rest have ended")
    parser.add_argument("--refuse", action="store_true", help="also the refusal of one node")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(arguments, work)
        bench.fill()
        bench.first_copy()
        small = SmallJobs(bench.cluster, "small")
        small.start()
        try:
            bound, restart, waits = bench.by_operator(small)
            pods = [bare(pod) for pod in bench.cluster.list("pods", "large")]
            departed = bench.measure("deleted to no pod left", servers(), bench.depart)
            if arguments.refuse:
                bench.measure("one node refuses: undone, and all bound elsewhere", servers(),
                              bench.refuse)
                bench.depart()
            peak, lost = peak_mb(bench.operator.process.pid), bench.lost_lease()
            passes, long, long_of_others = bench.passes()
        finally:
            small.ended.set()
            small.join(120)
            bench.operator.stop()
        client, client_gone = bench.by_client(pods)
    print(f"{arguments.workers} workers beside {arguments.known} known pods "
          f"({arguments.workers / bound:.0f} pods/s; deleted in {departed:.0f} s)")
    verdict("bound, against the client", bound / client, GOALS["bound"])
    verdict("restart, against the client's creating", restart / client, GOALS["restart"])
    print(f"  restart, against the client's deleting and creating: "
          f"{restart / (client_gone + client):.2f}")
    verdict("operator's peak of memory, MB", peak, GOALS["memory_mb"])
    print(f"  small jobs until placed: {len(waits)}, median {statistics.median(waits):.2f} s, "
          f"99 % {percentile(waits, 0.99):.2f} s")
    print(f"  {passes} passes over jobs, {long} longer than 0.5 s, {long_of_others} of these over "
          "another job than the large one")
    print(f"  Lease lost {lost} times")


if __name__ == "__main__":
    main()
