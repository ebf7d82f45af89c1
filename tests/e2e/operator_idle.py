#!/usr/bin/env python3
"""What the operator costs while nothing happens but heartbeats: CPU time, and no write.

Requests are counted in the API server's audit log (audit_policy.yaml). kwok renews the Leases of
its nodes; the status that a kubelet reports every five minutes, in which the nodes' watch shows
nothing but a new heartbeat, is written here. WEFT_IDLE_SECONDS: for how long.
"""

import collections
import json
import os
import time

from operator_lib import Audit, poll, training_job
from operator_scenarios import Scenarios, main

SECONDS = int(os.environ.get("WEFT_IDLE_SECONDS", 120))
REPORT_SECONDS = 300  # kubelet's nodeStatusReportFrequency
MOST_SHARE = 0.05  # of one core
RUNNING_JOBS = 20
QUIET_SECONDS = 3
STRATEGIC = "application/strategic-merge-patch+json"


class Idle(Scenarios):
    flags = ()

    def cpu_seconds(self):
        with open(f"/proc/{self.operator.process.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", maxsplit=1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def report(self, node):
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        status, answer = self.cluster.server.request(
            "PATCH", self.cluster.path("nodes", "", node) + "/status",
            json.dumps({"status": {"conditions": [{"type": "Ready", "lastHeartbeatTime": now}]}}),
            STRATEGIC)
        self.assertEqual(status, 200, answer)

    def report_in_turn(self, nodes):
        """At the rate at which so many kubelets would; how many reports that were."""
        begun, reports = time.monotonic(), 0
        while (passed := time.monotonic() - begun) < SECONDS:
            while reports < passed * len(nodes) / REPORT_SECONDS:
                self.report(nodes[reports % len(nodes)])
                reports += 1
            time.sleep(0.05)  # a rate is kept here, nothing is waited for
        return reports

    def until_quiet(self):
        """What the start of the jobs has to say is said."""
        def silent():
            audit = Audit()
            time.sleep(QUIET_SECONDS)
            return not audit.writes()
        poll(silent, "the operator is quiet", 60)

    def test_idle_it_takes_little_and_writes_nothing(self):
        for number in range(RUNNING_JOBS):
            self.apply(training_job(self.space, f"job-{number}", 8))
        for number in range(RUNNING_JOBS):
            self.cluster.until_running(self.space, f"job-{number}", seconds=300)
        nodes = [node["metadata"]["name"] for node in self.cluster.list("nodes")]
        self.until_quiet()
        audit, begun, spent = Audit(), time.monotonic(), self.cpu_seconds()
        reports = self.report_in_turn(nodes)
        share = (self.cpu_seconds() - spent) / (time.monotonic() - begun)
        verbs = collections.Counter(
            f"{one['verb']} {one['objectRef']['resource']}" for one in audit.requests())
        print(f"{len(nodes)} nodes, {reports} reports of theirs in {SECONDS} s: {share:.2%} of a "
              f"core, {self.operator.resident_kib()} KiB resident, requests: {dict(verbs)}",
              flush=True)
        self.assertGreater(reports, 0.8 * SECONDS * len(nodes) / REPORT_SECONDS)
        self.assertLess(share, MOST_SHARE)
        self.assertEqual([one["requestURI"] for one in audit.writes()], [])
        self.assertGreater(verbs["update leases"], 0)  # the log was right where it was looked for


if __name__ == "__main__":
    main()
