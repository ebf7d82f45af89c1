#!/usr/bin/env python3
"""Every framework started many times in a row on real nodes: no start may fail, and in each the
ranks are those of the plan. Once with CoreDNS as it is, once where it hears of pods a second late.

    start_series.py [Starts.test_openmpi4 | LateStarts.test_late_openmpi4 ...]

WEFT_STARTS          how many of each; default 50
WEFT_START_WORKERS   workers of each, of one rank; default 2
WEFT_START_LANES     how many gangs start side by side; default as many as the nodes hold
"""

import concurrent.futures
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ranks"))
from rank_scenarios import WORKERS, RankScenarios  # noqa: E402
from frameworks import FRAMEWORKS  # noqa: E402
from late_dns import LateDns  # noqa: E402
from operator_lib import condition  # noqa: E402
from operator_scenarios import main  # noqa: E402

STARTS = int(os.environ.get("WEFT_STARTS", "50"))
LATE_SECONDS = 1
LOOK = """
import os, socket, time
for tries in range(100):
    try:
        socket.gethostbyname(os.environ["WEFT_HOST"])
        print("lookups that failed:", tries)
        break
    except OSError:
        time.sleep(0.05)
"""


class Series(RankScenarios):
    gpus_each = 1
    workers = int(os.environ.get("WEFT_START_WORKERS", "2"))

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.ready = {}  # by job, when its pods were seen to be ready
        cls.cluster.history.observers.append(cls.look)

    @classmethod
    def look(cls, change):
        pods = condition(change.thing, "PodsReady") if change.plural == "trainingjobs" else None
        if pods and pods["status"] == "True":
            cls.ready.setdefault(change.thing["metadata"]["uid"], time.time())

    def series(self, name):
        framework = self.add_framework(name)
        lanes = int(os.environ.get("WEFT_START_LANES", WORKERS // self.workers))
        times, numbers = [], iter(range(STARTS))

        def lane():
            try:
                for number in numbers:
                    times.append(self.start(framework, f"ring{number}"))
            finally:
                list(numbers)  # after a failure no other lane goes on
                self.cluster.server.close()
        try:
            with concurrent.futures.ThreadPoolExecutor(lanes) as pool:
                for one in [pool.submit(lane) for _ in range(lanes)]:
                    one.result()
        finally:
            self.tell(name, times)

    def start(self, framework, name):
        """Seconds from the job's creation to ready pods, the first collective, and the end."""
        begun = time.time()
        job = self.apply(self.gang(framework.spec, framework.command(), name=name))
        status = self.ended(name, 300)["status"]
        ended = time.time()
        self.assertEqual((status["attempt"], status.get("restarts", 0)), (1, 0))
        collective = self.judge_ring(name)
        self.await_ranks_match(name, framework.spec)
        self.cluster.delete("trainingjobs", self.space, name)
        self.cluster.until_no_job(self.space, name)
        ready = self.ready[job["metadata"]["uid"]]
        return ready - begun, collective - begun, ended - begun

    def tell(self, name, times):
        medians = ", ".join(f"{what} {statistics.median(column):.1f} (most {max(column):.1f})"
                           for what, column in zip(("ready", "collective", "complete"),
                                                   zip(*times)))
        print(f"{type(self).__name__} {name}: {len(times)} of {STARTS} in a row, {self.workers}"
              f" workers; seconds: {medians}", flush=True)


class Starts(Series):
    pass


class LateStarts(Series):
    """A name is not known in the second after its pod has an address."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.enterClassContext(LateDns(LATE_SECONDS))

    def test_a_first_lookup_of_the_own_name_fails(self):
        self.image = "registry.example/late:1"
        self.images.add(self.image)
        self.apply(self.gang({"type": "Custom"}, ["python3", "-c", LOOK], name="late"))
        self.ended("late")
        for log in self.logs("late"):
            print(log.strip(), flush=True)
            self.assertGreater(int(log.split()[-1]), 0)


def add_tests(case, prefix):
    for name in FRAMEWORKS:
        def test(self, name=name):
            self.series(name)
        setattr(case, prefix + name, test)


add_tests(Starts, "test_")
add_tests(LateStarts, "test_late_")

if __name__ == "__main__":
    main()
