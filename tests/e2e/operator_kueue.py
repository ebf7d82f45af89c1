#!/usr/bin/env python3
"""Jobs in queues of the real Kueue, with Weft's admission check: from reserved quota to their end."""

import json
import os
import subprocess

from kueue_world import (CHECK, QUEUES, RUNTIME, KueueScenarios, checks_of, condition, double_held,
                         gpus_job, has, job_set, node_fillers, train_job)
from operator_lib import GPUS, Operator, poll
from operator_scenarios import PATIENT, main

HOLD_SECONDS = 8


class Kueue(KueueScenarios):
    flags = (*PATIENT, "--kueue", "--kueue-hold", str(HOLD_SECONDS))

    def test_a_kueue_that_is_installed_later_is_noticed(self):
        self.assertIn("synced", self.before_kueue)  # when its definitions were not there
        print(f"Kueue's check is active {self.noticed_seconds:.0f} s after its queues", flush=True)

    def test_a_job_gets_its_nodes_before_it_is_admitted(self):
        self.queue(gpus_job(self.space, "train", 4, run_seconds=2))
        done = self.until_finished("train")
        self.assertEqual(done["reason"], "Succeeded")
        self.assert_order("train", workers=4)
        self.assert_nothing_left()

    def test_a_job_set_of_two_jobs_is_one_gang(self):
        self.queue(job_set(self.space, "train", {"workers": (2, 3), "drivers": (1, 1)}, 2))
        self.until_finished("train")
        placements = self.assert_order("train", workers=6, sets=2)
        self.assertEqual(sorted(one["spec"]["workers"] for one in placements), [1, 6])
        gang = next(one for one in placements if one["spec"]["workers"] == 6)
        self.assertEqual([label["stride"] for label in gang["spec"]["workerIndexLabels"]], [3, 1])
        for pod in self.pods_of(gang):
            labels = pod["metadata"]["labels"]
            index = 3 * int(labels["jobset.sigs.k8s.io/job-index"]) + int(
                labels["batch.kubernetes.io/job-completion-index"])
            self.assertEqual(pod["spec"]["nodeName"], gang["status"]["nodes"][index])
        self.assert_nothing_left()

    def test_a_train_job_is_one_gang(self):
        self.cluster.create("clustertrainingruntimes", RUNTIME)
        self.queue(train_job(self.space, "train", 4, 2, {
            "weft.dev/parallelism": '{"tensor": 8}', "weft.dev/topology": '{"preferred": "leaf"}'}))
        self.until_finished("train")
        [gang] = self.assert_order("train", workers=4)
        self.assertEqual(gang["spec"]["parallelism"]["tensor"], 8)
        self.assertEqual(gang["spec"]["topology"], {"preferred": "leaf"})
        for pod in self.pods_of(gang):
            index = int(pod["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"])
            self.assertEqual(pod["spec"]["nodeName"], gang["status"]["nodes"][index])
        self.assert_nothing_left()

    def test_a_job_without_an_index_is_placed_by_names(self):
        job = gpus_job(self.space, "train", 3, run_seconds=1)
        del job["spec"]["completionMode"]
        self.queue(job)
        self.until_finished("train")
        self.assert_order("train", workers=3)

    def test_without_accelerators_it_is_admitted_at_once(self):
        job = gpus_job(self.space, "train", 1, run_seconds=1)
        job["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
        self.queue(job)
        self.until_finished("train")
        self.assertEqual(self.placements(ever=True), [])

    def test_without_room_it_waits_with_the_sentence_and_gets_in_later(self):
        with node_fillers(self, free=2):
            self.queue(gpus_job(self.space, "train", 4, run_seconds=1))
            says = self.until_check("train", "Pending", "room for 2 of 4 workers")
            self.assertIn(GPUS, says["message"])
            self.assertEqual(self.placements(), [])
        self.until_finished("train")
        self.assert_order("train", workers=4)

    def test_weft_shows_what_waits_for_nodes_and_for_quota(self):
        with node_fillers(self, free=2):
            self.queue(gpus_job(self.space, "train", 4))
            self.until_check("train", "Pending", "room for 2 of 4")
            self.queue(gpus_job(self.space, "large", 33), QUEUES[1])  # more than the cohort has
            self.until_workload("large", lambda one: condition(one, "QuotaReserved"), "no quota")
            names = [self.workload(job)["metadata"]["name"] for job in ("train", "large")]
            rows = self.shown("queue")["queue"]
            self.assertEqual([(row["name"], row["kind"], row["accelerators"]) for row in rows],
                             [(names[0], "Workload", 32), (names[1], "Workload", 264)])
            self.assertEqual([row["reason"] for row in rows],
                             ["InsufficientCapacity", "QuotaPending"])
            self.assertEqual(["position" in row for row in rows], [True, False])
            self.assertIn("room for 2 of 4 workers", rows[0]["why"])
            self.assertIn(f"queue {QUEUES[1]}: ", rows[1]["why"])
            jobs = self.shown("top")["jobs"]
            self.assertEqual([(row["name"], row["reason"]) for row in jobs],
                             [(names[1], "QuotaPending"), (names[0], "AdmissionPending")])
            watched = subprocess.run(["timeout", "5", os.environ["WEFT"], "queue", "--cluster", "-w",
                                      "-n", self.space], check=False, capture_output=True, text=True)
            for name in names:
                self.assertIn(f"{name} (Workload)", watched.stdout, watched.stderr)
            self.remove("jobs", "large")
        self.until_running("train", 4)
        self.assertEqual(self.shown("queue")["queue"], [])
        self.assertEqual([row["kind"] for row in self.shown("top")["jobs"]], ["Placement"])

    def shown(self, command):
        done = subprocess.run([os.environ["WEFT"], command, "--cluster", "-n", self.space, "-o",
                               "json"], check=True, capture_output=True, text=True)
        self.assertEqual(done.stderr.count("skipped"), 0, done.stderr)
        return json.loads(done.stdout)

    def test_quota_that_is_held_too_long_goes_to_another(self):
        with node_fillers(self, free=2):
            self.queue(gpus_job(self.space, "large", 4))
            evicted = self.until_workload("large", lambda one: has(one, "Evicted"), "it is evicted")
            self.assertEqual(condition(evicted, "Evicted")["reason"], "AdmissionCheck")
            self.until_workload("large", lambda one: not has(one, "QuotaReserved"), "no quota")
            self.queue(gpus_job(self.space, "small", 2, run_seconds=1))
            self.until_finished("small")
        self.remove("jobs", "large")

    def test_what_never_fits_is_rejected(self):
        job = gpus_job(self.space, "train", 2)
        job["spec"]["template"]["spec"]["nodeSelector"] = {"no-node": "has-this"}
        self.queue(job)
        rejected = self.until_workload(
            "train", lambda one: one["spec"].get("active") is False, "it is deactivated")
        changes = [change.thing for change in self.changes("workloads", rejected)]
        said = next(check for thing in changes for check in checks_of(thing)
                    if check["state"] == "Rejected")
        self.assertIn("no-node", said["message"])
        self.assertEqual(self.placements(ever=True), [])

    def test_a_preempted_job_gives_its_nodes_to_the_next(self):
        # It borrows all of the cohort, and takes two seconds to stop.
        self.queue(gpus_job(self.space, "guest", 32, annotations={"weft.test/stop-seconds": "2"}))
        self.until_running("guest", 32)
        self.queue(gpus_job(self.space, "owner", 16, run_seconds=3), QUEUES[1])
        self.until_finished("owner")
        guest = self.workload("guest")
        # It may have its quota again already.
        self.assertTrue(any(has(change.thing, "Preempted")
                            for change in self.changes("workloads", guest)))
        self.assert_order("owner", workers=16)
        self.until_running("guest", 32)  # again, with other nodes and under another name
        self.assertEqual(len({one["metadata"]["name"] for one in self.placements(ever=True)
                              if "guest" in one["metadata"]["name"]}), 2)

    def test_a_reservation_that_is_withdrawn_leaves_nothing(self):
        with node_fillers(self, free=2):
            self.queue(gpus_job(self.space, "train", 4))
            self.until_check("train", "Pending", "room for 2 of 4")
            self.remove("jobs", "train")
        self.assert_nothing_left()

    def test_a_pod_that_is_lost_comes_back_to_its_node(self):
        self.queue(gpus_job(self.space, "train", 3))
        self.until_running("train", 3)
        [placement] = self.placements()
        nodes = placement["status"]["nodes"]
        lost = next(pod for pod in self.pods_of(placement) if pod["spec"]["nodeName"] == nodes[1])
        name = lost["metadata"]["name"]
        self.cluster.call("POST", self.cluster.path("pods", self.space, name) + "/eviction", {
            "apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}})
        self.until_running("train", 3, without=lost["metadata"]["uid"])
        self.assertEqual(self.placements()[0]["status"]["nodes"], nodes)

    def test_the_next_leader_continues(self):
        with node_fillers(self, free=2):
            self.queue(gpus_job(self.space, "train", 4, run_seconds=1))
            self.until_check("train", "Pending", "room for 2 of 4")
            self.operator.kill()
        type(self).operator = Operator(self.work.name, "next", *self.flags)
        self.until_finished("train")
        self.assert_order("train", workers=4)

    def test_parameters_must_name_a_fabric(self):
        kubectl = ["kubectl", "apply", "-f", "-"]
        text = f"""{{apiVersion: kueue.x-k8s.io/v1beta2, kind: AdmissionCheck,
            metadata: {{name: {CHECK}-wrong}}, spec: {{controllerName: weft.dev/placement,
            parameters: {{apiGroup: weft.dev, kind: Fabric, name: none}}}}}}"""
        subprocess.run(kubectl, input=text, text=True, check=True, capture_output=True)
        poll(lambda: (condition(self.check(f"{CHECK}-wrong"), "Active") or {}).get("message")
             == "spec.parameters: Fabric none does not exist", "it is not active")
        self.cluster.delete("admissionchecks", "", f"{CHECK}-wrong")

    def test_z_no_node_was_ever_held_twice(self):
        """The last scenario by name, over all that has happened."""
        self.assertEqual(double_held(self.cluster.history.changes()), [])


if __name__ == "__main__":
    os.environ.setdefault("WEFT_PEERS_PROGRAM", "../shared/peers/peers.py")
    main()
