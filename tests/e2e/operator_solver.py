#!/usr/bin/env python3
"""A job on which the solver crashes is refused after the second crash, and the others go on."""

from operator_foreign import GATE, ForeignScenarios, is_gated
from operator_foreign import job as gang
from operator_foreign import placement
from operator_lib import Operator, condition, poll, training_job
from operator_scenarios import PATIENT, main

CRASH = "weft.test/crash"
SEGMENTATION_FAULT, ABORTED = 128 + 11, 128 + 6
LEASE_SECONDS = 180  # until another leads: at most 20 on a machine that does nothing else


def poisoned(template, how):
    template["spec"]["tolerations"] = [{"key": CRASH, "operator": "Equal", "value": how}]


def poisonous_job(space, name, how):
    job = training_job(space, name, 2)
    poisoned(job["spec"]["workers"]["template"], how)
    return job


class Solver(ForeignScenarios):
    flags = PATIENT
    leaders = 0

    def next_leader(self):
        """Another replica, which knows nothing but what the API server says."""
        cls = type(self)
        cls.leaders += 1
        cls.operator = Operator(self.work.name, f"leader-{cls.leaders}", *self.flags)

    def until_crash(self, exit_code):
        self.assertEqual(self.operator.process.wait(LEASE_SECONDS), exit_code, self.operator.tail())

    def failed(self, name, status, reason):
        job = self.cluster.until_condition(self.space, name, "SolverFailed", status, reason)
        self.assertEqual(condition(job, "SolverFailed")["observedGeneration"],
                         job["metadata"]["generation"])
        return condition(job, "SolverFailed")["message"]

    def refuse(self, name, how, exit_code):
        """Two leaders in turn crash on it; the third leads on."""
        self.apply(poisonous_job(self.space, name, how))
        self.until_crash(exit_code)
        signal = f"crashed with signal {exit_code - 128} while it chose the nodes"
        self.assertIn(signal, self.failed(name, "False", "SolverCrashed"))
        self.assertIn(f"for TrainingJob {self.space}/{name}", self.operator.said())
        self.apply(training_job(self.space, "other", 2))
        self.next_leader()
        self.until_crash(exit_code)
        self.failed(name, "True", "SolverFailed")
        self.next_leader()

    def until_refused(self, name):
        job = self.cluster.until_condition(self.space, name, "Placed", "False", "SolverFailed")
        self.assertEqual(job["status"]["reason"], "SolverFailed")
        self.assertEqual(condition(job, "Placed")["message"],
                         condition(job, "SolverFailed")["message"])

    def suspend(self, name, value):
        self.cluster.patch("trainingjobs", self.space, name, {"spec": {"suspend": value}})

    def test_the_second_crash_refuses_the_job_and_no_other(self):
        self.refuse("poison", "overflow", SEGMENTATION_FAULT)
        self.until_refused("poison")
        self.cluster.until_running(self.space, "other")
        poll(lambda: [event for event in self.cluster.list("events", self.space)
                      if event["reason"] == "SolverFailed" and event["type"] == "Warning"
                      and event["involvedObject"]["name"] == "poison"], "an event")

        # Another that asks for the same, as a CronJob makes, ends no leader.
        self.apply(poisonous_job(self.space, "poison-2", "overflow"))
        twin = self.cluster.until_condition(self.space, "poison-2", "Placed", "False",
                                            "SolverFailed")
        self.assertIn(f"TrainingJob {self.space}/poison,", condition(twin, "Placed")["message"])
        self.assertIsNone(condition(twin, "SolverFailed"))

        # Edited as any other job, and tried again then.
        self.suspend("poison", True)
        self.cluster.until_condition(self.space, "poison", "Suspended")
        template = {"spec": {"tolerations": None}}
        self.cluster.patch("trainingjobs", self.space, "poison", {"spec": {
            "suspend": False, "workers": {"template": template}}})
        job = self.cluster.until_running(self.space, "poison")
        self.assertIsNone(condition(job, "SolverFailed"))
        self.assertIsNone(self.operator.process.poll())

    def test_a_changed_spec_is_tried_again_once(self):
        self.refuse("poison", "throw", ABORTED)
        self.until_refused("poison")
        self.suspend("poison", True)
        self.cluster.until_condition(self.space, "poison", "Suspended")
        self.suspend("poison", False)
        self.until_crash(ABORTED)
        self.assertIn("(crash 3 of this object", self.failed("poison", "False", "SolverCrashed"))
        # Deleted while nobody leads: the next leader lets it go without another crash.
        self.cluster.delete("trainingjobs", self.space, "poison")
        self.next_leader()
        self.cluster.until_no_job(self.space, "poison")
        self.cluster.until_running(self.space, "other")

    def test_a_placement_of_pods_of_others_is_refused_too(self):
        pods = gang(self.space, "poison", 2)
        poisoned(pods["spec"]["template"], "abort")
        self.cluster.create("placements", placement(self.space, "poison", 2))
        self.cluster.create("jobs", pods)
        self.until_crash(ABORTED)
        self.next_leader()
        self.until_crash(ABORTED)
        self.cluster.create("placements", placement(self.space, "good", 2))
        self.cluster.create("jobs", gang(self.space, "good", 2))
        self.next_leader()
        self.cluster.until("the other gang has nodes", lambda: self.placement("good") and (
            self.placement("good").get("status", {}).get("nodes")))
        refused = self.cluster.until("it is refused", lambda: self.refused_for_crashes("poison"))
        self.assertEqual(condition(refused, "SolverFailed")["status"], "True")
        self.assertTrue(all(is_gated(pod) for pod in self.pods("poison")), GATE)
        self.assertIsNone(self.operator.process.poll())

    def refused_for_crashes(self, name):
        placed = condition(self.placement(name), "Placed")
        return self.placement(name) if placed and placed["reason"] == "SolverFailed" else None


if __name__ == "__main__":
    main()
