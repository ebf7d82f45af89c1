#!/usr/bin/env python3
"""The operator against `weft simulate`: the same jobs in the same order on the same nodes.

The simulation says at which point between two decisions a job arrives or ends. Here jobs are
applied and their pods end at the same points, and after each of them the operator must start what
the simulation starts there, on its nodes, and nothing else. Both reserve nodes for the first job
that is refused (--reserve-after 0). Estimates of run times are hours apart and runs take seconds:
that the operator takes longer for the same decisions changes none of them.
"""

import collections
import csv
import json
import os
import random
import subprocess
import time

from operator_lib import Paused, condition, poll, training_job
from operator_scenarios import PATIENT, Scenarios, main

JOBS, HOUR = 26, 3600
URGENT = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
          "metadata": {"name": "urgent"}, "value": 1000}

# What happens from outside (a job arrives or ends), and what starts in the pass after it:
# {job: nodes}.
Point = collections.namedtuple("Point", "event job starts")


def story(space, seed):
    """Jobs of one to 24 nodes on 32; some in one leaf, some urgent, some without an estimate."""
    chance = random.Random(seed)
    hours = chance.sample(range(1, JOBS + 1), JOBS)
    jobs = []
    for index in range(JOBS):
        workers = chance.choice((1, 2, 3, 4, 6, 8, 12, 16, 20, 24))
        job = training_job(space, f"job-{index:02}", workers)
        # No two of these events are at one time.
        seconds = chance.randint(3, 25) + index / 100
        job["metadata"]["annotations"] = {"weft.dev/arrival-seconds": str(2 * index),
                                          "weft.dev/run-seconds": str(seconds)}
        if chance.random() < 0.8:
            job["spec"]["expectedDurationSeconds"] = hours[index] * HOUR
        if workers <= 16 and chance.random() < 0.4:
            job["spec"]["topology"] = {"required": "leaf"}
        if chance.random() < 0.15:
            pod = job["spec"]["workers"]["template"]["spec"]
            pod["priorityClassName"] = URGENT["metadata"]["name"]
        jobs.append(job)
    return jobs


class Simulated(Scenarios):
    flags = (*PATIENT, "--reserve-after", "0")
    maxDiff = None
    applied = 0  # when the last job was, in Unix seconds

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster.call("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", URGENT)

    def simulate(self, jobs, *flags):
        """The points of the simulation's events."""
        fleet, queue, events = (os.path.join(self.work.name, name)
                                for name in ("fleet.yaml", "jobs.json", "events.csv"))
        with open(fleet, "w", encoding="utf-8") as file:
            subprocess.run(["kubectl", "get", "-o", "yaml", "nodes,fabrics,priorityclasses"],
                           check=True, stdout=file)
        with open(queue, "w", encoding="utf-8") as file:
            json.dump({"apiVersion": "v1", "kind": "List", "items": jobs}, file)
        subprocess.run([os.environ["WEFT"], "simulate", "-f", fleet, "-f", queue, "--events",
                        events, "--reserve-after", "0", *flags], check=True, stdout=subprocess.DEVNULL)
        points, times = [], []
        with open(events, encoding="utf-8", newline="") as file:
            for line in csv.DictReader(file):
                name = line["job"].split("/")[1]
                if line["event"] == "start":
                    points[-1].starts[name] = line["nodes"].split()
                else:
                    points.append(Point(line["event"], name, {}))
                    times.append(line["seconds"])
        self.assertEqual(len(set(times)), len(times), "two events at one time: order is not told")
        return points

    def started(self):
        """{job: nodes} of all Placements that have had nodes."""
        return {change.thing["metadata"]["name"].removesuffix("-1"): nodes
                for change in self.cluster.history.changes(self.space)
                if change.plural == "placements"
                and (nodes := change.thing.get("status", {}).get("nodes"))}

    def arrive(self, job):
        """Later than every other job by its creationTimestamp, which has whole seconds."""
        poll(lambda: int(time.time()) > self.applied, "the next second")
        self.applied = int(time.time())
        self.apply(job)
        name = job["metadata"]["name"]
        self.cluster.until(f"{name} is decided on", lambda: condition(
            self.cluster.job(self.space, name), "Placed") or name in self.started())

    def end(self, name):
        """All pods of the job succeed, before the operator sees that the first one has: it may
        give the nodes of a part of a gang to another job, which a simulated gang never leaves."""
        self.cluster.until_running(self.space, name)
        with Paused(self.operator.process.pid):
            for pod in self.cluster.pods(self.space, name):
                self.cluster.patch("pods", self.space, pod["metadata"]["name"], {
                    "metadata": {"annotations": {"weft.test/run-seconds": "0"}}})
            self.cluster.until(f"the pods of {name} have ended", lambda: all(
                pod["status"]["phase"] == "Succeeded"
                for pod in self.cluster.pods(self.space, name)))
        self.cluster.until_condition(self.space, name, "Complete")

    def until_decided(self):
        """A pass of the planner has seen everything up to now: it has refused a job that it can
        never place."""
        probe = training_job(self.space, "probe", 1)
        probe["spec"]["workers"]["template"]["spec"]["nodeSelector"] = {"never": "there"}
        self.apply(probe)
        self.cluster.until_condition(self.space, "probe", "Placed", "False")
        self.cluster.delete("trainingjobs", self.space, "probe")
        self.cluster.until_no_job(self.space, "probe")

    def agree(self, seed):
        jobs = {job["metadata"]["name"]: job for job in story(self.space, seed)}
        points = self.simulate(list(jobs.values()))
        self.expect_a_queue(points, self.simulate(list(jobs.values()), "--backfill", "any"))
        simulated = {}
        for number, point in enumerate(points):
            simulated.update(point.starts)
            where = f"seed {seed}, event {number}: {point.event} of {point.job}"
            if point.event == "arrive":
                self.arrive(jobs[point.job])
            else:
                self.end(point.job)
            self.cluster.until(f"{where}: {sorted(point.starts)} start",
                               lambda: len(self.started()) >= len(simulated))
            self.until_decided()
            self.assertEqual(self.started(), simulated, where)
        self.assertEqual(set(simulated), set(jobs))

    def expect_a_queue(self, points, other):
        """Jobs wait, overtake each other and are held back by reservations; else this tests
        little."""
        begun = [job for point in points for job in point.starts]
        waited = sum(1 for point in points if point.event == "end" for _ in point.starts)
        self.assertGreater(waited, JOBS // 3)
        self.assertNotEqual(begun, sorted(begun), "no job overtakes another one")
        self.assertNotEqual([point.starts for point in points],
                            [point.starts for point in other], "no reservation matters")

    def test_the_same_jobs_start_in_the_same_order_on_the_same_nodes(self):
        self.agree(seed=1)


if __name__ == "__main__":
    main()
