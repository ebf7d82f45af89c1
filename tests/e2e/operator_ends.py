#!/usr/bin/env python3
"""How jobs end: by failure, by deadline, by suspension, and by being deleted at any level."""

import time

from operator_lib import condition, poll, training_job
from operator_scenarios import Scenarios, main


class Ends(Scenarios):
    def run_job(self, *arguments, **spec):
        self.apply(training_job(self.space, "job", *arguments, **spec))
        return self.cluster.until_running(self.space, "job")

    def expect_nothing_held(self):
        self.assertEqual(self.cluster.list("pods", self.space), [])
        self.assertEqual(self.cluster.list("placements", self.space), [])

    def test_failure_is_retried_once_then_final(self):
        self.apply(training_job(
            self.space, "job", 2, annotations={"weft.test/exit-code": "3"},
            failurePolicy={"maxRestarts": 1}))
        job = self.cluster.until_condition(self.space, "job", "Failed", reason="RestartsExhausted")
        status = job["status"]
        self.assertEqual((status["attempt"], status["restarts"], status["phase"]), (2, 1, "Failed"))
        failure = status["lastFailure"]
        self.assertEqual((failure["attempt"], failure["exitCode"]), (2, 3))
        self.assertEqual(failure["node"], self.placed_nodes("job", 2)[failure["worker"]])
        self.assertIn("exit code 3", condition(job, "Failed")["message"])
        self.assertEqual(condition(job, "Restarting")["status"], "False")

    def test_suspended_jobs_hold_nothing_and_go_on_when_resumed(self):
        self.run_job(4)
        self.cluster.patch("trainingjobs", self.space, "job", {"spec": {"suspend": True}})
        job = self.cluster.until_condition(self.space, "job", "Suspended")
        self.expect_nothing_held()
        self.assertEqual(job["status"]["phase"], "Suspended")
        self.assertEqual(condition(job, "Placed")["status"], "False")
        self.cluster.patch("trainingjobs", self.space, "job", {"spec": {"suspend": False}})
        job = self.cluster.until_running(self.space, "job", attempt=2)
        self.assertEqual(job["status"]["restarts"], 0)
        self.assertEqual(condition(job, "Suspended")["status"], "False")
        self.assertEqual(self.nodes_of_pods("job", 2), self.placed_nodes("job", 2))

    def test_a_job_made_suspended_waits(self):
        self.apply(training_job(self.space, "job", 2, suspend=True))
        self.cluster.until_condition(self.space, "job", "Suspended")
        self.expect_nothing_held()
        self.cluster.patch("trainingjobs", self.space, "job", {"spec": {"suspend": False}})
        self.cluster.until_running(self.space, "job", attempt=1)

    def test_deleted_while_running_pods_go_first(self):
        self.run_job(4, annotations={"weft.test/stop-seconds": "1"})
        self.cluster.delete("trainingjobs", self.space, "job")
        self.cluster.until("the pods are asked to go", lambda: all(
            "deletionTimestamp" in pod["metadata"]
            for pod in self.cluster.pods(self.space, "job")))
        self.cluster.until_no_job(self.space, "job")  # the law of departures is checked at the end
        self.expect_nothing_held()
        poll(lambda: not self.cluster.get("services", self.space, "job"), "the Service is gone")

    def test_finished_jobs_go_after_their_time(self):
        self.apply(training_job(self.space, "job", 2, 0, ttlSecondsAfterFinished=2))
        self.cluster.until_condition(self.space, "job", "Complete")
        complete = time.monotonic()
        self.cluster.until_no_job(self.space, "job")
        # completionTime is in whole seconds, and was written before it was seen here.
        self.assertGreater(time.monotonic() - complete, 0.8)
        self.expect_nothing_held()

    def test_a_deadline_ends_what_runs(self):
        self.apply(training_job(self.space, "job", 2, activeDeadlineSeconds=3))
        job = self.cluster.until_condition(self.space, "job", "Failed", reason="DeadlineExceeded")
        self.assertEqual(job["status"]["attempt"], 1)
        self.cluster.until("its pods are gone", lambda: not self.cluster.pods(self.space, "job"))

    def test_a_namespace_takes_its_jobs_with_it(self):
        self.run_job(4)
        self.cluster.delete("namespaces", "", self.space)
        self.cluster.until_no_job(self.space, "job")
        poll(lambda: self.cluster.get("namespaces", "", self.space) is None, "it is gone")

    def test_the_same_name_again_is_another_job(self):
        first = self.run_job(2)
        self.cluster.delete("trainingjobs", self.space, "job",
                            {"propagationPolicy": "Background"})
        self.cluster.until_no_job(self.space, "job")
        second = self.run_job(2)
        self.assertNotEqual(first["metadata"]["uid"], second["metadata"]["uid"])
        self.assertEqual({pod["metadata"]["labels"]["weft.dev/job-uid"]
                          for pod in self.cluster.list("pods", self.space)},
                         {second["metadata"]["uid"]})
        self.assertEqual(second["status"]["attempt"], 1)


if __name__ == "__main__":
    main()
