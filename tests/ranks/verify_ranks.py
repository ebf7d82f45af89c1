#!/usr/bin/env python3
"""What pods report of themselves becomes the condition PlacementVerified; launchers that are not
there, and names that Weft keeps to itself, are said where the user looks."""

import json
import os

from rank_scenarios import RankScenarios
from operator_lib import condition, poll
from operator_scenarios import main

BUILD = os.path.dirname(os.path.dirname(os.path.abspath(os.environ["WEFT"])))
REPORT = "weft verify --rank $(({rank})) --world $WEFT_WORLD_SIZE"
BOTH_RANKS = ["sh", "-c", "; ".join(("set -e", REPORT.format(rank="WEFT_FIRST_RANK"),
                                     REPORT.format(rank="WEFT_FIRST_RANK + 1")))]


class VerifyRanks(RankScenarios):
    image = "registry.example/weft:1"
    flags = (*RankScenarios.flags, "--verify-image", "registry.example/weft:1")
    workers = 12

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.images.add(cls.image, [BUILD])

    def verified(self, name, status, reason):
        return condition(self.cluster.until_condition(
            self.space, name, "PlacementVerified", status, reason), "PlacementVerified")["message"]

    def events(self, reason):
        return [one for one in self.cluster.list("events", self.space)
                if one["reason"] == reason and one["involvedObject"]["kind"] == "TrainingJob"]

    def test_hosts_then_ranks(self):
        self.apply(self.gang({"type": "Custom"}, ["sleep", "600"]))
        self.verified("ring", "True", "HostsMatch")
        self.cluster.delete("trainingjobs", self.space, "ring")
        self.cluster.until_no_job(self.space, "ring")
        self.apply(self.gang({"type": "Custom"}, BOTH_RANKS, name="ranks"))
        self.ended("ranks")
        self.assertIn("all 24 ranks", self.verified("ranks", "True", "RanksMatch"))

    def test_a_permuted_rank_ends_the_job_and_is_named(self):
        permuted = BOTH_RANKS[2].replace("WEFT_FIRST_RANK", "(WEFT_FIRST_RANK + 6) % 24")
        self.apply(self.gang({"type": "Custom"}, ["sh", "-c", permuted]))
        message = self.verified("ring", "False", "RankMismatch")
        self.assertRegex(message, r"worker \d+ on \S+ reports rank \d+ of 24, but ranks")
        self.cluster.until_condition(self.space, "ring", "Failed")
        poll(lambda: self.events("RankMismatch"), "an event")

    def test_the_whole_placement_is_readable_in_the_pod(self):
        self.apply(self.gang({"type": "Custom"}, [
            "sh", "-c", "cat $WEFT_PLACEMENT_FILE; echo; echo $WEFT_DOMAIN_LEAF; df -k /dev/shm"]))
        self.ended("ring")
        nodes = self.placed_nodes("ring")
        for worker, log in enumerate(self.logs("ring")):
            file, leaf, *_ = log.split("\n")
            placement = json.loads(file)
            self.assertEqual(placement["nodes"], nodes)
            [level] = [one for one in placement["levels"] if one["name"] == "leaf"]
            self.assertEqual(level["domains"][level["ofWorker"][worker]], leaf)
            label = self.cluster.get("nodes", "", nodes[worker])["metadata"]["labels"]
            self.assertEqual(label["fabric.topograph.run/tier-0"], leaf)

    def test_a_launcher_that_is_not_there_is_named(self):
        self.apply(self.gang({"type": "Torch"}, ["torchrum", "train.py"]))
        failed = condition(self.cluster.until_condition(self.space, "ring", "Failed"), "Failed")
        self.assertEqual(failed["reason"], "StartError")
        self.assertIn('could not be started: exec: "torchrum": No such file', failed["message"])
        event = poll(lambda: self.events("StartError"), "an event")[0]
        self.assertIn("torchrum", event["message"])

    def test_so_is_one_that_a_shell_does_not_find(self):
        self.apply(self.gang({"type": "Torch"}, ["sh", "-c", "torchrum train.py"]))
        failed = condition(self.cluster.until_condition(self.space, "ring", "Failed"), "Failed")
        said = "or not executable: sh -c torchrum train.py"
        self.assertIn(said, failed["message"])
        poll(lambda: any(said in one["message"] for one in self.events(failed["reason"])),
             "an event")

    def test_an_image_that_is_not_there_is_named_at_the_startup_timeout(self):
        job = self.gang({"type": "Custom"}, ["true"], startupTimeoutSeconds=3600)
        job["spec"]["workers"]["template"]["spec"]["containers"][0]["image"] = "no.example/x:1"
        self.apply(job)
        self.cluster.until("the kubelet's words are told", lambda: "ErrImagePull" in (condition(
            self.cluster.job(self.space, "ring"), "PodsReady") or {"message": ""})["message"])
        self.cluster.patch("trainingjobs", self.space, "ring",
                           {"spec": {"startupTimeoutSeconds": 1}})
        failed = condition(self.cluster.until_condition(self.space, "ring", "Failed"), "Failed")
        self.assertEqual(failed["reason"], "StartupTimeout")
        poll(lambda: any("no.example/x:1" in one["message"]
                         for one in self.events("StartupTimeout")), "an event")
        self.assertIn("container trainer: ErrImagePull: image no.example/x:1 cannot be pulled",
                      failed["message"])

    def test_another_frameworks_launcher_is_said_when_the_job_is_accepted(self):
        self.apply(self.gang({"type": "MPI"}, ["torchrun", "train.py"], suspend=True))
        self.cluster.until_condition(self.space, "ring", "Suspended")
        self.cluster.patch("trainingjobs", self.space, "ring", {"spec": {"suspend": False}})
        accepted = condition(self.cluster.until_condition(self.space, "ring", "Accepted"),
                             "Accepted")
        said = "expects mpirun or mpiexec, but the command is torchrun"
        self.assertIn(said, accepted["message"])
        poll(lambda: any(said in one["message"] for one in self.events("Valid")), "an event")

    def test_a_reserved_name_is_refused_until_it_is_gone(self):
        job = self.apply(self.gang({"type": "Torch"}, ["true"], environment={"PET_NODE_RANK": "0"},
                                   suspend=False))
        refused = condition(self.cluster.until_condition(
            self.space, "ring", "Accepted", "False", "ReservedName"), "Accepted")
        self.assertIn("containers[0].env[0].name: PET_NODE_RANK is reserved", refused["message"])
        self.assertEqual(self.cluster.pods(self.space, "ring"), [])
        template = job["spec"]["workers"]["template"]
        del template["spec"]["containers"][0]["env"]
        self.cluster.patch("trainingjobs", self.space, "ring", {"spec": {"suspend": True}})
        self.cluster.patch("trainingjobs", self.space, "ring", {"spec": {
            "workers": {"template": template}}})
        self.cluster.patch("trainingjobs", self.space, "ring", {"spec": {"suspend": False}})
        self.ended("ring")


if __name__ == "__main__":
    main()
