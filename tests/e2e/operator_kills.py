#!/usr/bin/env python3
"""Jobs end as they were meant to, however often the operator is killed (SIGKILL) meanwhile.

WEFT_KILLS, WEFT_JOBS: how often, under how many jobs; WEFT_SEED: the same choices once more.
"""

import heapq
import itertools
import os
import random
import time

from operator_lib import Operator, condition, label, poll, training_job
from operator_scenarios import Scenarios, main

KILLS = int(os.environ.get("WEFT_KILLS", 5))
JOBS = int(os.environ.get("WEFT_JOBS", 60))
SEED = int(os.environ.get("WEFT_SEED", time.time_ns() % 1_000_000))

JOBS_AT_ONCE = 24  # more than the nodes can hold, so that some wait
# The clock of a run is the number of changes seen; of a silent second it is this much.
SILENT_SECOND = 40
# Of each job the cluster tells more changes than this, even where it is deleted early.
CHANGES_OF_A_JOB = 12
SECONDS_OF_A_JOB = 4


class Kills(Scenarios):
    # Longer than the operator is ever away: a gang must not start anew for a kill.
    flags = ("--node-loss", "3", "--node-news", "3", "--bind-deadline", "20")

    def setUp(self):
        super().setUp()
        self.chance = random.Random(SEED)
        print(f"seed {SEED}: {KILLS} kills, {JOBS} jobs", flush=True)
        self.fates = [self.chance.choice(("runs",) * 6 + ("fails", "deleted", "suspended"))
                      for _ in range(JOBS)]
        self.due = []  # heap of (moment, order of entry, action)
        self.entries = itertools.count()
        self.moment = 0
        self.kills = 0
        self.downtime = 0.0
        self.lost_node = None

    def after(self, changes, action):
        heapq.heappush(self.due, (self.moment + changes, next(self.entries), action))

    def make_job(self, number):
        """Applies it, and says what will happen to it."""
        fate = self.fates[number]
        name = f"{fate}-{number}"
        annotations = {"weft.test/exit-code": "1"} if fate == "fails" else {}
        job = training_job(self.space, name, self.chance.randint(1, 8),
                           self.chance.randint(1, 3), annotations=annotations,
                           failurePolicy={"maxRestarts": 1})
        job["spec"]["workers"]["template"]["spec"]["terminationGracePeriodSeconds"] = 1
        self.apply(job)
        if fate == "deleted":
            self.after(self.chance.randint(0, 300), lambda: self.cluster.delete(
                "trainingjobs", self.space, name))
        if fate == "suspended":
            self.after(self.chance.randint(0, 300), lambda: self.suspend(name, True))

    def suspend(self, name, value):
        self.cluster.patch("trainingjobs", self.space, name, {"spec": {"suspend": value}})
        if value:
            self.after(self.chance.randint(0, 100), lambda: self.suspend(name, False))

    def kill(self):
        self.operator.kill()
        self.kills += 1
        dead = time.monotonic()
        self.after(self.chance.choice((0, 0, 20, 60)), lambda: self.start_again(dead))

    def start_again(self, dead):
        type(self).operator = Operator(self.work.name, "kills", *self.flags)
        self.downtime += time.monotonic() - dead
        if self.kills < KILLS:
            self.plan_kill()

    def plan_kill(self):
        self.after(self.chance.randint(1, CHANGES_OF_A_JOB * JOBS // KILLS), self.kill)

    def lose_node(self):
        """One that works, if any does now."""
        busy = [pod["spec"]["nodeName"] for pod in self.cluster.history.all_now("pods", self.space)
                if pod["status"].get("phase") == "Running"]
        if not busy:
            self.after(5, self.lose_node)
            return
        self.lost_node = self.chance.choice(busy)
        self.lost_nodes = (self.lost_node,)
        self.cluster.delete("nodes", "", self.lost_node)

    def as_meant(self, number):
        """Whether the job has come to the end that its fate has for it."""
        fate = self.fates[number]
        job = self.cluster.job(self.space, f"{fate}-{number}")
        if fate == "deleted":
            return job is None
        wanted = "Failed" if fate == "fails" else "Complete"
        return (condition(job, wanted) or {}).get("status") == "True"

    def run_all(self):
        """One thread, one clock: jobs are made as others end, and what is due is done."""
        end = time.monotonic() + 60 + SECONDS_OF_A_JOB * JOBS
        self.plan_kill()
        self.after(CHANGES_OF_A_JOB * JOBS // 3, self.lose_node)
        running, made, seen = set(), 0, 0
        while running or made < JOBS or self.due:
            self.assertLess(time.monotonic(), end, f"not ended: {sorted(running)}")
            while len(running) < JOBS_AT_ONCE and made < JOBS:
                self.make_job(made)
                running.add(made)
                made += 1
            before, seen = seen, self.cluster.history.grown_beyond(seen, 1)
            self.moment += seen - before or SILENT_SECOND
            while self.due and self.due[0][0] <= self.moment:
                heapq.heappop(self.due)[2]()
            running = {number for number in running if not self.as_meant(number)}

    def test_no_death_of_the_operator_shows_in_how_jobs_end(self):
        begun = time.monotonic()
        self.run_all()
        print(f"{self.kills} kills, {self.downtime:.1f} s without an operator, node "
              f"{self.lost_node} lost; all ended in {time.monotonic() - begun:.1f} s", flush=True)
        self.assertEqual(self.kills, KILLS)
        self.judge_attempts()
        self.judge_remains()

    def judge_attempts(self):
        """Only what happened to a gang starts it anew; a kill does not."""
        for number, fate in enumerate(self.fates):
            if fate == "deleted":
                continue
            status = self.cluster.job(self.space, f"{fate}-{number}")["status"]
            self.assertEqual(status["restarts"], 1 if fate == "fails" else 0, number)
            once = fate == "runs" and not self.hit_by_loss(status)
            self.assertIn(status["attempt"], (1,) if once else (1, 2, 3), (number, fate, status))

    def hit_by_loss(self, status):
        """On the lost node when it went, or planned for it."""
        nodes = [one["node"] for one in status.get("excludedNodes", [])]
        return self.lost_node in nodes + [status.get("lastFailure", {}).get("node")]

    def judge_remains(self):
        """Of a job that was deleted there is nothing, of the others no pod that works."""
        kept = {f"{fate}-{number}" for number, fate in enumerate(self.fates) if fate != "deleted"}
        for plural in ("pods", "services", "placements"):
            poll(lambda of=plural: {self.job_of(thing) for thing in self.cluster.list(
                of, self.space)} <= kept, f"{plural} of deleted jobs are gone")
        self.cluster.until("no pod works", lambda: all(
            pod["status"].get("phase") in ("Succeeded", "Failed")
            for pod in self.cluster.history.all_now("pods", self.space)))

    @staticmethod
    def job_of(thing):
        owners = thing["metadata"].get("ownerReferences", [])
        return label(thing, "job-name") or next((one["name"] for one in owners), "")


if __name__ == "__main__":
    main()
