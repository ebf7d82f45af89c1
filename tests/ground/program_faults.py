#!/usr/bin/env python3
"""Workers' containers that fail on real kubelets: what the job says, and how it ends."""

import dataclasses
import datetime
import time
from collections.abc import Callable

from ground_scenarios import (ENDS_WHEN_TOLD, FIRST_ATTEMPT, FOR_EVER, UNTIL_CUE, WORKER_1,
                              GroundScenarios, condition, has_failed, is_restarting, main,
                              statuses_of)
import faults
from operator_lib import label

# The others wait until they are told to end, and all succeed in attempt 2.
OTHERS_WAIT = ENDS_WHEN_TOLD + FIRST_ATTEMPT + "{ " + FOR_EVER + "}; exit 0"


def unchanged(_pod, _container):
    pass


def with_init(pod, _container):
    faults.with_failing_init(pod, "once", "no disk")


def with_little_memory(_pod, container):
    faults.with_little_memory(container)


def without_program(_pod, container):
    faults.without_program(container)


def never_ready(_pod, container):
    container["readinessProbe"] = {"exec": {"command": ["test", "-e", "/never"]},
                                   "periodSeconds": 1, "timeoutSeconds": 1, "successThreshold": 1,
                                   "failureThreshold": 3}


@dataclasses.dataclass
class Case:
    fault: str
    job: str
    program: str  # of worker 1 in attempt 1
    reason: str
    message: str
    exit_code: int
    change: Callable = unchanged
    restarts: int = 1
    said: str = ""  # in its termination message


FAILURES = [
    Case("a failing rank", "rank", "echo no room >/dev/termination-log; exit 7", "Error",
         "worker 1 on", 7, said="no room"),
    Case("a failing init container", "init", "true", "Error", "container prepare", 5, with_init,
         said="no disk"),
    Case("OOMKilled", "memory", faults.MEMORY_EATER, "OOMKilled", "OOMKilled", 137,
         with_little_memory),
    Case("a bad command", "command", "true", "StartError", "no-such-program", 128,
         without_program, restarts=0),
    Case("exit during start", "start", "exit 3", "Error", "exit code 3", 3, never_ready),
]


class ProgramFaults(GroundScenarios):
    def test_containers_that_fail(self):
        for case in FAILURES:
            program = f"{FIRST_ATTEMPT}{WORKER_1}{{ {case.program}; }}; {OTHERS_WAIT}"
            job = self.gang(case.job, program, failurePolicy={"maxRestarts": case.restarts})
            pod = job["spec"]["workers"]["template"]["spec"]
            case.change(pod, pod["containers"][0])
            self.apply(job)
        for case in FAILURES:
            with self.subTest(case.fault):
                self.judge_failure(case)

    def first_end(self, name):
        """When the first container of the job failed, as its kubelet says: in whole seconds."""
        ends = [one["state"]["terminated"] for change in self.cluster.history.changes(self.space)
                if change.plural == "pods" and label(change.thing, "job-name") == name
                for one in statuses_of(change.thing) if "terminated" in one.get("state", {})]
        return min(datetime.datetime.fromisoformat(one["finishedAt"]).timestamp()
                   for one in ends if one["exitCode"] != 0)

    def judge_failure(self, case):
        if case.restarts:
            job = self.until_ended(case.job, "Complete", attempt=2)
            why, tells = condition(job, "Restarting"), is_restarting
        else:
            job = self.until_ended(case.job, "Failed", attempt=1)
            why = condition(job, "Failed")
            def tells(one): return (condition(one, "Failed") or {}).get("status") == "True"
        self.assertEqual(why["reason"], case.reason, why)
        self.assertIn(case.message, why["message"])
        self.assertEqual(job["status"].get("restarts", 0), case.restarts)
        self.assertEqual(job["status"]["lastFailure"]["exitCode"], case.exit_code)
        self.assertEqual(job["status"]["lastFailure"].get("message", ""), case.said)
        self.assertIn(case.said, why["message"])
        self.judge_telling(f"{case.fault} ({why['message']})", case.job,
                           ("pods", self.pod_is(case.job, has_failed)), tells,
                           self.first_end(case.job), begin="the container's end")

    def test_a_worker_that_ignores_sigterm(self):
        program = (f"{FIRST_ATTEMPT}{WORKER_1}{{ trap '' TERM; touch /cue/deaf; {FOR_EVER} }}; "
                   f"{FIRST_ATTEMPT}{{ until [ -e /cue/deaf ]; do sleep 0.2; done; exit 7; }}; "
                   "exit 0")
        self.apply(self.gang("deaf", program, failurePolicy={"maxRestarts": 1}))
        self.until_ended("deaf", "Complete", attempt=2)
        self.judge_telling("a worker that ignores SIGTERM", "deaf",
                           ("pods", self.pod_is("deaf", has_failed)), is_restarting)

        def is_deaf(pod):
            return label(pod, "worker-index") == "1" and label(pod, "attempt") == "1"
        asked = self.first("pods", self.pod_is("deaf", lambda pod: is_deaf(pod) and (
            "deletionTimestamp" in pod["metadata"])), "its pod is being deleted")
        killed = self.first("pods", self.pod_is("deaf", lambda pod: is_deaf(pod) and any(
            one["state"].get("terminated", {}).get("exitCode") == 137
            for one in pod["status"].get("containerStatuses", []))), "it was killed")
        created = self.first("pods", self.pod_is("deaf", lambda pod: label(
            pod, "attempt") == "2"), "attempt 2")
        print(f"  killed {killed - asked:.1f} s after the request, with a grace period of 3 s; "
              f"attempt 2 {created - killed:.1f} s later", flush=True)
        self.assertGreaterEqual(killed - asked, 2.5)
        self.assertGreater(created, killed)

    def test_a_deleted_pod(self):
        self.apply(self.gang("deleted", ENDS_WHEN_TOLD + UNTIL_CUE + "exit 0"))
        self.cluster.until_running(self.space, "deleted")
        victim = self.cluster.pods(self.space, "deleted", 1)[1]["metadata"]["name"]
        begun = time.time()
        self.cluster.delete("pods", self.space, victim)
        self.cluster.until_running(self.space, "deleted", attempt=2)
        self.cue()
        job = self.until_ended("deleted", "Complete", attempt=2)
        self.assertEqual(condition(job, "Restarting")["reason"], "PodDeleted")
        self.assertEqual(job["status"].get("restarts", 0), 0)
        self.judge_telling("a deleted pod", "deleted", ("pods", self.pod_is(
            "deleted", lambda pod: "deletionTimestamp" in pod["metadata"])), is_restarting, begun)


if __name__ == "__main__":
    main()
