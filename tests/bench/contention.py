#!/usr/bin/env python3
"""Whether scrapes, calls and the page hold up the placing of jobs.

Pairs of rounds in turn, quiet and hammered: in each, one job after the other is created and the
time taken until the API server shows it as placed. While it is hammered, another process of lowest
priority reads /metrics as fast as it is answered, /map once a second, and makes 100 calls a second
over gRPC. Prints the 50th and 99th percentile of each round, that of the operator's own passes
(weft_reconcile_seconds), and the median over the pairs of what hammering adds.

With --control nothing is asked of the operator: a process takes as much of the processor instead.
What that adds as well is the machine's, not the operator's holding itself up.
"""

import argparse
import collections
import math
import multiprocessing
import os
import re
import statistics
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

import grpc
from weft.v1 import placement_service_pb2 as pb
from weft.v1 import placement_service_pb2_grpc as rpc

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
from operator_lib import Cluster, Operator, condition, free_port, training_job  # noqa: E402

SPACE = "contention"
CALLS_PER_SECOND = 100
SCRAPERS = 2
CALL_SECONDS = 30
PATIENCE_SECONDS = 300
# With --control: a third of a core, which is what serving takes of the operator when hammered.
BURN_SECONDS, REST_SECONDS = 0.002, 0.004

Round = collections.namedtuple("Round", "half most own_most")


def get(url):
    with urllib.request.urlopen(url, timeout=CALL_SECONDS) as answer:
        return answer.read().decode()


def yield_to_all():
    os.setsid()
    os.nice(19)
    with open("/proc/self/autogroup", "w", encoding="utf-8") as group:
        group.write("19")


def hammer(pages, calls, end, done):
    """In a process of its own, until `end`; puts what was answered into `done`."""
    yield_to_all()
    count = collections.Counter()

    def read(path, pause):
        while not end.wait(pause):
            try:
                get(pages + path)
                count[path] += 1
            except urllib.error.HTTPError:
                count[f"{path} refused"] += 1

    readers = [threading.Thread(target=read, args=("/metrics", 0)) for _ in range(SCRAPERS)]
    readers.append(threading.Thread(target=read, args=("/map", 1)))
    for reader in readers:
        reader.start()
    with grpc.insecure_channel(calls) as channel:
        stub = rpc.PlacementServiceStub(channel)

        def answered(future):
            count["calls" if future.code() == grpc.StatusCode.OK else "calls refused"] += 1

        begin, made = time.monotonic(), 0
        while not end.wait(max(0.0, begin + made / CALLS_PER_SECOND - time.monotonic())):
            stub.GetFabric.future(pb.GetFabricRequest(),
                                  timeout=CALL_SECONDS).add_done_callback(answered)
            made += 1
        seconds = time.monotonic() - begin
        for reader in readers:
            reader.join()
    done.put({name: number / seconds for name, number in count.items()})


def burn(_pages, _calls, end, done):
    """In place of hammer: a client's idle time, and a server's work at the usual priority."""
    client = multiprocessing.Process(target=spin, daemon=True)
    client.start()
    while not end.is_set():
        begin = time.thread_time()
        while time.thread_time() - begin < BURN_SECONDS:
            pass
        time.sleep(REST_SECONDS)
    client.kill()
    client.join()
    done.put({})


def spin():
    yield_to_all()
    while True:
        pass


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, math.ceil(share * len(values)) - 1)]


class Bench:
    def __init__(self, jobs, work):
        self.jobs = jobs
        self.cluster = Cluster()
        self.cluster.make_namespace(SPACE)
        ports = free_port(), free_port()
        self.pages, self.calls = f"http://127.0.0.1:{ports[0]}", f"127.0.0.1:{ports[1]}"
        self.operator = Operator(work, "contention", "--probe-address", f"127.0.0.1:{ports[0]}",
                                 "--grpc-address", self.calls)

    def place(self, name):
        """Seconds from the request until it is placed."""
        begin = time.monotonic()
        self.cluster.create("trainingjobs", training_job(SPACE, name, 2))

        def placed():
            job = self.cluster.job(SPACE, name)
            return job and (condition(job, "Placed") or {}).get("status") == "True"
        self.cluster.until(f"{name} is placed", placed, PATIENCE_SECONDS)
        return time.monotonic() - begin

    def passes(self):
        """Passes of the controller of jobs so far, by upper bound of their seconds."""
        found = re.findall(r'weft_reconcile_seconds_bucket\{([^}]*)\} (\d+)',
                           get(self.pages + "/metrics"))
        counts = {}
        for labels, number in found:
            if 'controller="trainingjob"' in labels:
                counts[float(re.search(r'le="([^"]+)"', labels).group(1))] = int(number)
        return counts

    def round(self, number):
        before = self.passes()
        seconds = [self.place(f"job-{number}-{i}") for i in range(self.jobs)]
        counts = {bound: count - before.get(bound, 0) for bound, count in self.passes().items()}
        self.cluster.delete("trainingjobs", SPACE)
        self.cluster.until("the namespace is empty", lambda: not (
            self.cluster.history.all_now("pods", SPACE) or
            self.cluster.history.all_now("trainingjobs", SPACE)), PATIENCE_SECONDS)
        return Round(percentile(seconds, 0.5), percentile(seconds, 0.99), quantile(counts, 0.99))

    def beside(self, what, number):
        end, done = multiprocessing.Event(), multiprocessing.Queue()
        process = multiprocessing.Process(target=what, args=(self.pages, self.calls, end, done))
        process.start()
        try:
            measured = self.round(number)
        finally:
            end.set()
            answered = done.get(timeout=PATIENCE_SECONDS)
            process.join()
        return measured, answered


def quantile(counts, share):
    """As PromQL's histogram_quantile: within its bucket on a straight line."""
    total, below, last = max(counts.values()), 0, 0.0
    for bound in sorted(counts):
        if counts[bound] >= share * total:
            inside = counts[bound] - below
            return last if math.isinf(bound) else \
                last + (bound - last) * (share * total - below) / inside
        below, last = counts[bound], bound
    return last


def show(name, measured):
    print(f"{name:>9}  placed in {measured.half * 1e3:6.1f} ms (50 %), "
          f"{measured.most * 1e3:6.1f} ms (99 %); passes {measured.own_most * 1e3:5.1f} ms (99 %)",
          flush=True)


def compare(what, pairs):
    quiet = statistics.median(pair[0] for pair in pairs)
    loud = statistics.median(pair[1] for pair in pairs)
    ratio = statistics.median(b / a for a, b in pairs)
    added = statistics.median(b - a for a, b in pairs)
    print(f"{what}: {quiet * 1e3:.1f} ms quiet, {loud * 1e3:.1f} ms beside; "
          f"median of the pairs: times {ratio:.2f}, {added * 1e3:+.1f} ms", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=150, help="in a round")
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--control", action="store_true", help="ask nothing, burn the processor")
    arguments = parser.parse_args()
    multiprocessing.set_start_method("spawn")
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(arguments.jobs, work)
        try:
            bench.place("first")
            pairs = []
            for number in range(arguments.pairs):
                quiet = bench.round(2 * number)
                show("quiet", quiet)
                loud, answered = bench.beside(burn if arguments.control else hammer,
                                              2 * number + 1)
                show("burning" if arguments.control else "hammered", loud)
                if answered:
                    print("           answered a second: " + ", ".join(
                        f"{rate:.1f} {name}" for name, rate in sorted(answered.items())),
                        flush=True)
                pairs.append((quiet, loud))
        finally:
            bench.operator.stop()
        bench.cluster.close()
    compare("99 % of jobs placed within", [(a.most, b.most) for a, b in pairs])
    compare("99 % of passes within", [(a.own_most, b.own_most) for a, b in pairs])


if __name__ == "__main__":
    main()
