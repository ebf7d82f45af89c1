#!/usr/bin/env python3
"""Two hundred jobs in two queues that borrow and preempt, with and without kills of the managers."""
# Some of them are TrainingJobs, whose Workloads Weft owns.

import os
import random
import statistics
import time

from kueue_world import (KueueScenarios, QUEUES, RUNTIME, Quota, apply, checks_of, condition, double_held,
                         gpus_job, has, job_set, kill_peer, owner_of, quota_passed, train_job)
from operator_lib import Operator, training_job
from operator_scenarios import PATIENT, main

JOBS = int(os.environ.get("WEFT_KUEUE_JOBS", "200"))
KILLS = 5
PRIORITIES = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: low}
value: 10
description: preempted first
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: high}
value: 100
description: preempts
"""


class Times:
    """When this process saw what, by uid: an observer of every change."""

    def __init__(self):
        self.reserved, self.ready = {}, {}      # of Workloads, and of which reservation
        self.pod_ended, self.freed = {}, {}     # by Placement: its last pod, its own end

    def __call__(self, change):
        now, meta = time.monotonic(), change.thing["metadata"]
        if change.plural == "workloads" and has(change.thing, "QuotaReserved"):
            key = meta["uid"], condition(change.thing, "QuotaReserved")["lastTransitionTime"]
            self.reserved.setdefault(key, now)
            if any(check["state"] == "Ready" for check in checks_of(change.thing)):
                self.ready.setdefault(key, now)
        gang = meta.get("namespace"), meta.get("labels", {}).get("weft.dev/placement")
        if change.plural == "pods" and gang[1] and (change.type == "DELETED" or change.thing.get(
                "status", {}).get("phase") in ("Succeeded", "Failed")):
            self.pod_ended[gang] = now
        if change.plural == "placements" and change.type == "DELETED":
            self.freed[meta["namespace"], meta["name"]] = now

    def waits(self):
        return sorted(at - self.reserved[key] for key, at in self.ready.items())

    def frees(self):
        return sorted(at - self.pod_ended[key] for key, at in self.freed.items()
                      if key in self.pod_ended)


def at_percent(values, percent):
    return values[min(len(values) - 1, len(values) * percent // 100)] if values else float("nan")


class Campaign(KueueScenarios):
    flags = (*PATIENT, "--kueue", "--kueue-hold", "20")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster.create("clustertrainingruntimes", RUNTIME)

    def test_all_jobs_end(self):
        self.run_jobs(1, kills=0)

    def test_all_jobs_end_though_managers_are_killed(self):
        self.run_jobs(2, kills=KILLS)

    def some_job(self, chance, name):
        seconds = chance.randint(1, 6)
        if chance.random() < 0.3:
            return job_set(self.space, name, {"workers": (chance.randint(1, 3), chance.randint(1, 3))},
                           seconds)
        if chance.random() < 0.1:
            return train_job(self.space, name, chance.randint(1, 6), seconds)
        if chance.random() < 0.15:
            return training_job(self.space, name, chance.randint(1, 8), seconds)
        if chance.random() < 0.3:
            return gpus_job(self.space, name, chance.randint(1, 6), seconds,
                            gpus=chance.choice((1, 2, 4)))
        return gpus_job(self.space, name, chance.choice((1, 2, 3, 4, 8, 12)), seconds)

    def run_jobs(self, seed, kills):
        apply(PRIORITIES)
        chance, times = random.Random(seed), Times()
        self.cluster.history.observers.append(times)
        begin = time.monotonic()
        due = [int(JOBS * (i + 1) / (3 * kills + 1)) for i in range(3 * kills)]
        for number in range(JOBS):
            job = self.some_job(chance, f"j{number:03}")
            job["metadata"]["labels"] = {
                "kueue.x-k8s.io/priority-class": chance.choice(("low", "low", "high"))}
            self.submit(job, chance.choice(QUEUES))
            if number in due:
                self.kill(due.index(number))
        self.cluster.until(f"{JOBS} Workloads end", lambda: self.ended() == JOBS, 900)
        took = time.monotonic() - begin
        ended = self.cluster.history.all_now("workloads", self.space)
        for one in ended:
            self.assertEqual(condition(one, "Finished")["reason"], "Succeeded", owner_of(one))
        self.cluster.delete("trainingjobs", self.space)  # their Placements stay as long as they do
        self.assert_nothing_left()
        changes = self.cluster.history.changes(self.space)
        others = [change for change in changes if not change.thing["metadata"].get("labels", {}).get(
            "weft.dev/job-name")]  # TrainingJobs have laws of their own (operator_laws.py)
        self.assertEqual(double_held(others), [])
        broken, sums = quota_passed(changes, Quota(self.cluster.list("clusterqueues")))
        self.assertEqual(broken, [])
        self.cluster.history.observers.remove(times)
        waits, frees = times.waits(), times.frees()
        evicted = sum(1 for one in ended if condition(one, "Evicted"))
        print(f"kueue: {JOBS} jobs in {took:.0f} s, {kills} kills each, {evicted} evicted; quota never "
              f"passed in {sums} sums; reserved to "
              f"Ready, {len(waits)} times: median {1e3 * statistics.median(waits):.0f} ms, 99 % "
              f"{1e3 * at_percent(waits, 99):.0f} ms; last pod's end to nodes free: median "
              f"{1e3 * statistics.median(frees):.0f} ms, 99 % {1e3 * at_percent(frees, 99):.0f} ms",
              flush=True)

    def ended(self):
        return sum(has(one, "Finished")
                   for one in self.cluster.history.all_now("workloads", self.space))

    def submit(self, job, queue):
        """While Kueue is down its webhooks refuse every job."""
        end = time.monotonic() + 120
        while True:
            try:
                return self.queue(job, queue)
            except AssertionError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.5)

    def kill(self, number):
        """In turn Weft, Kueue and JobSet."""
        victim = ("weft", "kueue", "jobset")[number % 3]
        if victim == "weft":
            self.operator.kill()
            type(self).operator = Operator(self.work.name, f"next-{number}", *self.flags)
            return
        kill_peer(victim)


if __name__ == "__main__":
    main()
