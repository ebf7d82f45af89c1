#!/usr/bin/env python3
"""What happens to the cluster itself under running jobs: its API server is killed, a namespace is
deleted, Weft's definitions are installed anew."""

import json
import os
import signal
import subprocess

from operator_lib import SOURCE, condition, poll, server_process, training_job
from operator_scenarios import Scenarios, main

RESTART_SECONDS = 900  # of an API server, where the machine does much else
NODES = 32
DEFINITIONS = os.path.join(SOURCE, "crds")


def local_cluster(*arguments):
    done = subprocess.run([os.environ["WEFT_LOCAL_CLUSTER"], *arguments, "--name", "operator"],
                          capture_output=True, text=True, timeout=RESTART_SECONDS, check=False)
    if done.returncode != 0:
        raise AssertionError(f"local-cluster {arguments}: {done.stderr}")


def kubectl(*arguments, text=None):
    return subprocess.run(["kubectl", *arguments], input=text, check=True, capture_output=True,
                          text=True).stdout


class Upheavals(Scenarios):
    # Longer than any of them; and the API server may be away for longer than a lead lasts.
    flags = ("--node-loss", "300", "--bind-deadline", "300", "--leader-elect=false")

    def setUp(self):
        super().setUp()
        self.cluster.history.expect_outages()

    def apply_jobs(self, prefix, jobs, workers, run_seconds=None):
        names = [f"{prefix}-{number}" for number in range(jobs)]
        for name in names:
            self.apply(training_job(self.space, name, workers, run_seconds))
        return names

    def end(self, names):
        for name in names:
            for pod in self.cluster.pods(self.space, name):
                self.cluster.patch("pods", self.space, pod["metadata"]["name"],
                                   {"metadata": {"annotations": {"weft.test/run-seconds": "0"}}})

    def until_complete(self, names):
        """None of them was ever started anew."""
        for name in names:
            job = self.cluster.until_condition(self.space, name, "Complete")
            self.assertEqual((job["status"]["attempt"], job["status"]["restarts"]), (1, 0), name)

    def test_a_killed_api_server(self):
        running = self.apply_jobs("running", 4, 3)
        for name in running:
            self.cluster.until_running(self.space, name)
        ending = self.apply_jobs("ending", 4, 3, 2)
        self.cluster.until("the next are on their way", lambda: any(
            condition(self.cluster.job(self.space, name), "Placed") for name in ending))
        os.kill(server_process("kube-apiserver"), signal.SIGKILL)
        local_cluster("up")
        self.until_complete(ending)
        later = self.apply_jobs("later", 4, 3, 1)
        self.until_complete(later)
        self.end(running)
        self.until_complete(running)

    def test_a_namespace_that_goes_with_all_its_jobs(self):
        running = self.apply_jobs("running", 3, 8)
        for name in running:
            self.cluster.until_running(self.space, name)
        waiting = self.apply_jobs("waiting", 3, 16)
        self.cluster.until_condition(self.space, waiting[-1], "Placed", "False")
        self.cluster.delete("namespaces", "", self.space)
        for name in running + waiting:
            self.cluster.until_no_job(self.space, name)
        poll(lambda: self.cluster.get("namespaces", "", self.space) is None, "it is gone")
        # All nodes are free again.
        self.cluster.make_namespace(self.space)
        self.apply_jobs("all", 1, NODES, 1)
        self.until_complete(["all-0"])

    def test_an_upgrade_of_the_definitions(self):
        running = self.apply_jobs("running", 4, 3)
        for name in running:
            self.cluster.until_running(self.space, name)
        ending = self.apply_jobs("ending", 4, 3, 2)
        self.upgrade()
        later = self.apply_jobs("later", 4, 3, 1)
        self.until_complete(ending + later)
        self.end(running)
        self.until_complete(running)

    @staticmethod
    def upgrade():
        """As by a release with a new field: the API server ends every watch of these kinds."""
        for name in sorted(os.listdir(DEFINITIONS)):
            path = os.path.join(DEFINITIONS, name)
            definition = json.loads(kubectl("create", "--dry-run=client", "-o", "json", "-f", path))
            definition["metadata"].setdefault("annotations", {})["example.com/release"] = "next"
            for version in definition["spec"]["versions"]:
                version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"][
                    "ofTheNextRelease"] = {"type": "string"}
            kubectl("apply", "--server-side", "-f", "-", text=json.dumps(definition))
        kubectl("wait", "--for=condition=Established", "--timeout=600s", "-f", DEFINITIONS)


if __name__ == "__main__":
    main()
