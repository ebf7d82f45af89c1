#!/usr/bin/env python3
"""How fast a placement becomes bound pods, against what the same API server and kube-scheduler need
for the same pods when a plain parallel client creates them.

Three runs in turn: weft-operator is given the jobs, from the first request to the last pod bound;
then a client of 16 threads creates the very same pods (their node affinity too); then it creates
them once more together with the Service of each job, which ranks find each other by. Every run
begins with an empty cluster whose servers are quiet. A first round is not counted: servers that have
never seen so many pods grow their heaps and caches. Prints each run with the processor seconds of
each server and the requests that the API server answered most often, the medians, and the medians of
the ratios within a round.
"""

import argparse
import collections
import concurrent.futures
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
from operator_lib import Cluster, Operator, training_job  # noqa: E402
from servers import bare, processor_seconds, servers, until_quiet  # noqa: E402

SPACE = "handoff"
PATIENCE_SECONDS = 600
THREADS = 16
LOOK_SECONDS = 0.05
MOST_ASKED = 8  # kinds of request shown

Run = collections.namedtuple("Run", "seconds processor requests")


class Bench:
    def __init__(self, jobs, workers):
        self.jobs, self.workers = jobs, workers
        self.round = 0
        self.cluster = Cluster()
        self.cluster.make_namespace(SPACE)

    def pods(self):
        return self.cluster.history.all_now("pods", SPACE)

    def until_bound(self):
        """Looks rarely: this process is the client too, and would slow itself down."""
        end = time.monotonic() + PATIENCE_SECONDS
        while sum("nodeName" in pod["spec"] for pod in self.pods()) < self.jobs * self.workers:
            if time.monotonic() > end:
                raise AssertionError(f"not all pods bound within {PATIENCE_SECONDS} s")
            self.cluster.history.expect_whole()
            time.sleep(LOOK_SECONDS)

    def warm_up(self):
        """Until the operator leads and has read the cluster."""
        self.cluster.create("trainingjobs", training_job(SPACE, "first", 1))
        self.cluster.until_running(SPACE, "first", seconds=PATIENCE_SECONDS)
        self.cluster.delete("trainingjobs", SPACE)
        self.until_empty()

    def until_empty(self):
        self.cluster.until("the namespace is empty", lambda: not (
            self.pods() or self.cluster.history.all_now("trainingjobs", SPACE)), PATIENCE_SECONDS)

    def in_parallel(self, plural, things):
        with concurrent.futures.ThreadPoolExecutor(THREADS) as threads:
            list(threads.map(lambda thing: self.cluster.create(plural, thing), things))

    def requests(self):
        """How many of each kind the API server has answered."""
        counts = collections.Counter()
        told = subprocess.run(["kubectl", "get", "--raw", "/metrics"], check=True,
                              capture_output=True, text=True).stdout
        for line in told.splitlines():
            if not line.startswith("apiserver_request_total{"):
                continue
            labels = dict(re.findall(r'(\w+)="([^"]*)"', line))
            kind = "/".join(filter(None, (labels["resource"], labels["subresource"])))
            counts[f"{labels['verb']} {kind}"] += int(float(line.rsplit(" ", 1)[1]))
        return counts

    def measure(self, processes, start):
        until_quiet(PATIENCE_SECONDS)
        before = {name: processor_seconds(process) for name, process in processes.items()}
        asked = self.requests()
        begin = time.monotonic()
        start()
        self.until_bound()
        seconds = time.monotonic() - begin
        spent = {name: processor_seconds(process) - before[name]
                 for name, process in processes.items()}
        return Run(seconds, spent, (self.requests() - asked).most_common(MOST_ASKED))

    def by_operator(self, operator):
        # Names of their own: kwok may still be deleting pods of the round before, by name.
        self.round += 1
        jobs = [training_job(SPACE, f"job-{self.round}-{i}", self.workers)
                for i in range(self.jobs)]
        run = self.measure({**servers(), "weft-operator": operator.process.pid},
                           lambda: self.in_parallel("trainingjobs", jobs))
        pods = [bare(pod) for pod in self.pods()]
        services = [bare_service(one) for one in self.cluster.list("services", SPACE)
                    if one["metadata"]["name"].startswith(f"job-{self.round}-")]
        assert len(services) == self.jobs, services
        self.cluster.delete("trainingjobs", SPACE)
        self.until_empty()
        return run, pods, services

    def by_client(self, pods, services=()):
        def create():
            self.in_parallel("services", services)
            self.in_parallel("pods", pods)
        run = self.measure({**servers(), "client": os.getpid()}, create)
        self.cluster.delete("pods", SPACE, options={"gracePeriodSeconds": 0})
        for service in services:
            self.cluster.delete("services", SPACE, service["metadata"]["name"])
        self.until_empty()
        return run


def bare_service(service):
    meta, spec = service["metadata"], service["spec"]
    return {"apiVersion": "v1", "kind": "Service",
            "metadata": {"namespace": SPACE, "name": "bare-" + meta["name"]},
            "spec": {key: spec[key] for key in spec
                     if key in ("clusterIP", "selector", "ports", "publishNotReadyAddresses")}}


def show(name, run, pods, counted):
    spent = ", ".join(f"{server} {seconds:.1f}" for server, seconds in run.processor.items())
    print(f"{name:>12}  {run.seconds:6.2f} s  {pods / run.seconds:5.0f} pods/s  processor s: {spent}"
          + ("" if counted else " (not counted)"), flush=True)
    print("              requests: " + ", ".join(f"{count} {kind}" for kind, count in run.requests),
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1024, help="of each job")
    parser.add_argument("--pairs", type=int, default=5)
    arguments = parser.parse_args()
    bench = Bench(arguments.jobs, arguments.workers)
    total = arguments.jobs * arguments.workers
    runs = {"operator": [], "client": [], "and Services": []}
    with tempfile.TemporaryDirectory() as work:
        operator = Operator(work, "handoff")
        try:
            bench.warm_up()
            for number in range(arguments.pairs + 1):
                run, pods, services = bench.by_operator(operator)
                round_of = {"operator": run, "client": bench.by_client(pods),
                            "and Services": bench.by_client(pods, services)}
                for name, run in round_of.items():
                    show(name, run, total, counted=number > 0)
                    if number > 0:
                        runs[name].append(run)
        finally:
            operator.stop()
    print(f"{arguments.jobs} x {arguments.workers} workers, medians:")
    for name, taken in runs.items():
        median = statistics.median(run.seconds for run in taken)
        ratio = statistics.median(a.seconds / b.seconds for a, b in zip(runs["operator"], taken))
        print(f"{name:>12}  {median:6.2f} s  {total / median:5.0f} pods/s  "
              f"operator against it {ratio:.2f}")


if __name__ == "__main__":
    main()
