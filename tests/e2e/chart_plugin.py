#!/usr/bin/env python3
"""`kubectl weft` for people: live, by namespace, in every form, and for who may see the cluster."""

import json
import os
import queue
import subprocess
import threading

import yaml
from chart_lib import Deployed, kubectl
from operator_foreign import ForeignScenarios
from operator_lib import training_job
from operator_scenarios import main

PATIENCE_SECONDS = 300


class Watching:
    """`kubectl weft ... -w`, as a pipe shows it."""

    def __init__(self, *arguments):
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen(["kubectl", "weft", *arguments, "-w"], text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)

    def until(self, *words):
        """The next line that has all of them."""
        while True:
            line = self.lines.get(timeout=PATIENCE_SECONDS)
            if all(word in line for word in words):
                return line

    def end(self):
        self.process.kill()
        self.process.communicate()


class Plugin(ForeignScenarios):
    operator_type = Deployed
    flags = ()

    @classmethod
    def setUpClass(cls):
        os.environ["PATH"] = os.path.dirname(os.environ["WEFT"]) + ":" + os.environ["PATH"]
        super().setUpClass()

    def test_top_follows_a_job_from_apply_to_end(self):
        watching = Watching("top", "-n", self.space)
        self.addCleanup(watching.end)
        watching.until("No job waits or runs")
        self.apply(training_job(self.space, "job", 4, 3))
        watching.until(f"{self.space}/job", "Running", "4/4")
        watching.until("Ended: 1 complete, 0 failed.")

    def test_each_command_speaks_kubectl(self):
        self.apply(training_job(self.space, "job", 4))
        self.apply(training_job(self.space, "large", 33))
        self.cluster.until_running(self.space, "job")
        self.cluster.until_condition(self.space, "large", "Placed", "False")
        watching = Watching("plan", "-A")
        self.addCleanup(watching.end)
        watching.until(f"{self.space}/large")
        top = json.loads(kubectl("weft", "top", "-n", self.space, "-o", "json"))
        self.assertEqual([(one["name"], one["phase"]) for one in top["jobs"]],
                         [("job", "Running"), ("large", "Pending")])
        self.assertEqual(top["fabrics"][0]["accelerators"]["nvidia.com/gpu"]["used"], 32)
        why = json.loads(kubectl("weft", "explain", "job", "-n", self.space, "-o", "json"))
        self.assertTrue(why["explanations"][0]["placed"])
        gangs = json.loads(kubectl("weft", "audit", "-n", self.space, "-o", "json"))["gangs"]
        self.assertEqual([one["name"] for one in gangs], ["job"])
        self.assertEqual(json.loads(kubectl("weft", "audit", "-n", "none", "-o", "json"))["gangs"],
                         [])
        shown = yaml.safe_load(kubectl("weft", "fabric", "show", "-o", "yaml"))
        self.assertEqual(shown["fabrics"][0]["nodes"]["free"], 28)
        self.refused(3, "plan", "-A", "-o", "json")
        self.refused(3, "lint", "-n", self.space)
        self.refused(2, "top", "-A", "-n", self.space)
        nothing = json.loads(kubectl("weft", "plan", "-n", "none", "-o", "json"))
        self.assertEqual(nothing["items"], [])
        self.assertIn("job.yaml", self.refused(2, "plan", "-f", "no-such-job.yaml"))

    def refused(self, code, *arguments):
        done = subprocess.run(["kubectl", "weft", *arguments], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def test_who_may_see_the_fleet_can_watch_it_and_others_are_told(self):
        config = json.loads(kubectl("config", "view", "--raw", "--minify", "-o", "json"))
        for name in ("ana", "bo"):
            config["users"][0]["user"].update({"as": name})
            path = os.path.join(self.work.name, name)
            with open(path, "w", encoding="utf-8") as file:  # in a folder that is nobody else's
                json.dump(config, file)
        kubectl("create", "clusterrolebinding", "ana", "--clusterrole=weft-fleet-viewer",
                "--user=ana")
        self.addCleanup(kubectl, "delete", "clusterrolebinding", "ana")
        ana, bo = (os.path.join(self.work.name, name) for name in ("ana", "bo"))
        watching = Watching("top", "--kubeconfig", ana)
        self.addCleanup(watching.end)
        watching.until("NVIDIA-H100")
        self.assertIn('User "bo" cannot list', self.refused(1, "top", "--kubeconfig", bo))


if __name__ == "__main__":
    main()
