#!/usr/bin/env python3
"""Jobs of every fate, two operators, and one fault after the other, by chance: no law is broken, every
job comes to the end that it is meant for, and afterwards the cluster is at rest.

WEFT_FAULT_SECONDS   how long faults are injected; default 1800
WEFT_SEED            the same choices once more; printed at the start
WEFT_LEAST_FAULTS, WEFT_LEAST_JOBS   fewer than so many prove nothing: the run fails; 500, 2000
"""

import collections
import contextlib
import heapq
import itertools
import os
import random
import sys
import time

import paths  # noqa: F401  pylint: disable=unused-import
from catalogue import clocks, leaders, processes, requests, watches, world
from operator_laws import has_ended
from operator_lib import condition
from rig import Rig
from scenarios import set_gpus

SECONDS = float(os.environ.get("WEFT_FAULT_SECONDS", 1800))
SEED = int(os.environ.get("WEFT_SEED", time.time_ns() % 1_000_000))
LEAST_FAULTS = int(os.environ.get("WEFT_LEAST_FAULTS", 500))
LEAST_JOBS = int(os.environ.get("WEFT_LEAST_JOBS", 2000))

JOBS_AT_ONCE = 40
SPACES = 4
FATES = ("runs",) * 9 + ("fails", "deleted", "suspended", "edited")
RECOVERY_SECONDS = 30  # after the end of a fault a new job is Complete
PATIENCE_SECONDS = 120  # until that counts as never
# Without a fault all that is under way ends within this.
END_SECONDS = 240
QUIET_SECONDS = 20  # at rest nothing is written for so long
LAST_WRITE_SECONDS = 60  # and that begins within this


class Jobs:
    """Made as others end; each is judged by its fate, and then deleted."""

    def __init__(self, rig, chance):
        self.rig, self.chance = rig, chance
        self.numbers = itertools.count()
        self.due = []  # heap of (moment, order, action)
        self.order = itertools.count()
        self.there = {}  # name -> (space, fate)
        self.leaving = {}  # name -> space
        self.completed = 0
        self.more = True

    def later(self, seconds, action):
        heapq.heappush(self.due, (time.monotonic() + seconds, next(self.order), action))

    def make(self):
        fate, number = self.chance.choice(FATES), next(self.numbers)
        space, name = self.chance.choice(self.rig.spaces), f"{fate}-{number}"
        how = {"annotations": {"weft.test/exit-code": "1"}} if fate == "fails" else {}
        self.rig.apply(space, name, self.chance.randint(1, 3), self.chance.randint(0, 2),
                       failurePolicy={"maxRestarts": 1}, suspend=fate == "edited", **how)
        self.there[name] = space, fate
        change = {"deleted": self.delete, "suspended": self.suspend, "edited": self.edit}.get(fate)
        if change:
            self.later(self.chance.uniform(0, 4), lambda: change(space, name))

    def delete(self, space, name):
        self.rig.cluster.delete("trainingjobs", space, name)

    def suspend(self, space, name, value=True):
        self.rig.cluster.patch("trainingjobs", space, name, {"spec": {"suspend": value}})
        if value:
            self.later(self.chance.uniform(0, 3), lambda: self.suspend(space, name, False))

    def edit(self, space, name):
        """To what cannot be read, and back; then it may run."""
        set_gpus(self.rig, space, 4, name)
        self.later(self.chance.uniform(0, 3), lambda: set_gpus(self.rig, space, 8, name))
        self.later(3.5, lambda: self.suspend(space, name, False))

    def as_meant(self, name):
        space, fate = self.there[name]
        job = self.rig.cluster.job(space, name)
        if fate == "deleted":
            return job is None
        wanted = "Failed" if fate == "fails" else "Complete"
        return (condition(job, wanted) or {}).get("status") == "True"

    def step(self):
        """What is due is done; what has ended leaves; others come in its place."""
        while self.due and self.due[0][0] <= time.monotonic():
            heapq.heappop(self.due)[2]()
        for name in [name for name in self.there if self.as_meant(name)]:
            space, fate = self.there.pop(name)
            self.completed += 1
            if fate != "deleted":
                self.delete(space, name)
                self.leaving[name] = space
        self.leaving = {name: space for name, space in self.leaving.items()
                        if self.rig.cluster.job(space, name)}
        while self.more and len(self.there) + len(self.leaving) < JOBS_AT_ONCE:
            self.make()


class Campaign:
    def __init__(self, rig, seconds):
        self.rig, self.seconds = rig, seconds
        self.chance = random.Random(rig.seed)
        self.jobs = Jobs(rig, self.chance)
        self.recoveries = collections.defaultdict(list)
        self.episodes = 0
        self.canaries = itertools.count()
        self.seen = 0

    def pass_time(self, holds, seconds, deaf=False):
        """Jobs go on meanwhile, unless the API server is deaf; whether it held within the time."""
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end:
                return False
            self.seen = self.rig.cluster.history.grown_beyond(self.seen, 0.2)
            if not deaf:
                self.jobs.step()
        return True

    def run(self):
        kinds = [requests, watches, processes, leaders, world, clocks]
        end = time.monotonic() + self.seconds
        self.recover("nothing")
        while time.monotonic() < end and not self.rig.broken():
            fault = self.chance.choice(self.chance.choice(kinds)())
            self.episode(fault)
        self.jobs.more = False

    def episode(self, fault):
        self.episodes += 1
        begun = time.monotonic()
        if fault.hard:
            self.rig.clock.stop()
        fault.begin(self.rig)
        self.pass_time(lambda: time.monotonic() > begun + fault.seconds, fault.seconds + 1,
                       fault.deaf)
        fault.end(self.rig)
        self.rig.clock.go_on()
        self.recover(fault.name)

    def recover(self, name):
        """Until a new job of one worker is Complete."""
        begun, space = time.monotonic(), self.rig.spaces[-1]
        canary = f"canary-{next(self.canaries)}"
        self.rig.apply(space, canary, 1, 0)
        well = self.pass_time(lambda: self.rig.has_ended(space, canary), PATIENCE_SECONDS)
        seconds = time.monotonic() - begun
        self.recoveries[name].append(seconds)
        if not well or seconds > RECOVERY_SECONDS * self.rig.patience:
            self.rig.say("I6", f"{space}/{canary} has not ended {seconds:.0f} s after {name}")
        self.rig.cluster.delete("trainingjobs", space, canary)

    def come_to_rest(self):
        """Every job ends as meant, what the operator knows is so, and nothing is written any more."""
        jobs = self.jobs
        if not self.pass_time(lambda: not (jobs.there or jobs.leaving), END_SECONDS):
            self.rig.say("I6", f"not ended: {sorted(jobs.there)} {sorted(jobs.leaving)}")
        self.rig.judge_truth()
        if not self.rig.falls_quiet(QUIET_SECONDS, LAST_WRITE_SECONDS):
            self.rig.say("I6", f"at rest it writes: {self.rig.last_writes(5)}")
        left = [pod["metadata"]["name"] for pod in self.rig.cluster.history.all_now("pods")
                if pod["metadata"]["namespace"] in self.rig.spaces and not has_ended(pod)]
        if left:
            self.rig.say("I11", f"pods are left: {left}")

    def report(self):
        rig = self.rig
        fired = rig.plan.fired + rig.fired
        print(f"{self.episodes} episodes, {sum(fired.values())} faults, {self.jobs.completed} jobs, "
              f"{rig.window_law.seen} partly bound windows", flush=True)
        for kind, times in sorted(fired.items()):
            print(f"    {times:6} {kind}")
        print("seconds until a new job was Complete after the end of a fault: most, of how many")
        for name, seconds in sorted(self.recoveries.items()):
            print(f"    {max(seconds):6.1f} {len(seconds):4} {name}")
        for what, figure in rig.figures.items():
            print(f"{what}: {figure}")
        if sum(fired.values()) < LEAST_FAULTS or self.jobs.completed < LEAST_JOBS:
            rig.say("rig", f"fewer than {LEAST_FAULTS} faults or {LEAST_JOBS} jobs prove nothing")
        if not rig.window_law.seen:
            rig.say("rig", "no gang was ever seen partly bound")


def run(seed=SEED, seconds=SECONDS):
    with Rig("campaign", seed) as rig:
        print(f"seed {seed}: {seconds:.0f} s of faults; patience {rig.patience:.1f}", flush=True)
        rig.spaces = [rig.namespace(f"campaign-{number}") for number in range(SPACES)]
        own_clock = rig.clock_of_its_own()
        # One of them has the machine's clock.
        rig.start_operator("campaign-a", environment=own_clock)
        rig.start_operator("campaign-b")
        rig.until_led()
        campaign = Campaign(rig, seconds)
        try:
            campaign.run()
            campaign.come_to_rest()
        finally:
            rig.plan.set()
            campaign.report()
        broken = rig.broken()
        for space in rig.spaces:
            with contextlib.suppress(AssertionError):
                rig.clean(space)
    for sentence in broken:
        print(f"BROKEN {sentence}")
    print(f"{len(broken)} violations; seed {seed}")
    return not broken


if __name__ == "__main__":
    sys.exit(0 if run() else 1)
