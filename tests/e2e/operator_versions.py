#!/usr/bin/env python3
"""Kinds change: fields of a newer version are kept by this operator, whose definitions are upgraded
and rolled back while jobs run. Where $WEFT_OPERATOR_BEFORE names an operator of before, the two take
turns as well."""

import copy
import glob
import json
import os
import subprocess
import tempfile
import unittest

import yaml
from operator_lib import (
    MERGE, PATIENCE_SECONDS, SOURCE, WEFT, ApiServer, Cluster, Operator, condition, poll,
    training_job)
from operator_scenarios import PATIENT, main

NEW = "weft.test/new"  # a value that only a newer version gives
SHORT_JOBS = 6


def definitions():
    for path in sorted(glob.glob(os.path.join(SOURCE, "crds", "*.yaml"))):
        with open(path, encoding="utf-8") as file:
            yield yaml.safe_load(file)


def newer(definition):
    """With a field more wherever a version could add one, and one value more of an enumeration."""
    definition = copy.deepcopy(definition)

    def extend(schema):
        for one in schema.get("properties", {}).values():
            extend(one)
        if "items" in schema and isinstance(schema["items"], dict):
            extend(schema["items"])
        if "BF16" in schema.get("enum", []):
            schema["enum"].append("FP6")
        if "properties" in schema:
            schema["properties"]["newer"] = {"type": "string", "maxLength": 63}
    for part in ("spec", "status"):
        properties = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
        template = properties[part].get("properties", {}).get("workers", {}).get(
            "properties", {}).pop("template", None)
        extend(properties[part])
        if template:  # a PodTemplateSpec: not ours to change
            properties[part]["properties"]["workers"]["properties"]["template"] = template
    return definition


def apply(things):
    """Until the API server serves it: what it prunes says so."""
    text = "\n---\n".join(json.dumps(one) for one in things)
    subprocess.run(["kubectl", "apply", "--server-side", "--force-conflicts", "-f", "-"], check=True,
                   input=text, text=True, stdout=subprocess.DEVNULL)


class Looked(Cluster):
    """Looked at again and again: a watch ends where the definition of what it follows changes."""

    def __init__(self):  # pylint: disable=super-init-not-called
        self.server = ApiServer()

    def close(self):
        self.server.close()

    def job(self, space, name):
        return self.get("trainingjobs", space, name)

    def pods(self, space, job, attempt=None):
        return self.list("pods", space, f"weft.dev/job-name={job}")

    def until(self, expectation, holds, seconds=PATIENCE_SECONDS):
        return poll(holds, expectation, seconds)


class Versions(unittest.TestCase):
    operator_type = Operator
    # While definitions change the API server may take longer to answer than a lead lasts.
    flags = (*PATIENT, "--leader-elect=false")

    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.work.cleanup)
        cls.cluster = Looked()
        cls.addClassCleanup(cls.cluster.close)
        cls.operator = cls.operator_type(cls.work.name, cls.__name__.lower(), *cls.flags)
        cls.addClassCleanup(lambda: cls.operator.stop())  # pylint: disable=unnecessary-lambda

    def setUp(self):
        name = self.id().rsplit(".", maxsplit=1)[-1].removeprefix("test_")
        self.space = name.replace("_", "-")[:60].rstrip("-")
        self.cluster.make_namespace(self.space)
        self.addCleanup(self.clean)
        self.addCleanup(self.define, False)

    def clean(self):
        outcome = self._outcome.result
        if outcome.failures or outcome.errors:
            print(self.operator.tail(), flush=True)
        self.cluster.delete("trainingjobs", self.space)
        self.cluster.until("the jobs are gone", lambda: not self.cluster.list(
            "trainingjobs", self.space))
        self.cluster.delete("namespaces", "", self.space)

    def apply(self, job):
        return self.cluster.create("trainingjobs", job)

    def define(self, are_newer):
        apply([newer(one) if are_newer else one for one in definitions()])
        probe = training_job(self.space, "probe", 1, suspend=True)
        probe["spec"]["newer"] = NEW

        def served():
            created = self.cluster.create("trainingjobs", probe, "?dryRun=All")
            return ("newer" in created["spec"]) == are_newer
        poll(served, "the API server serves the definitions")

    def patch_status(self, plural, name, change):
        path = self.cluster.path(plural, self.space, name) + "/status"
        self.cluster.call("PATCH", path, {"status": change}, MERGE)

    def newer_job(self, name):
        job = training_job(self.space, name, 2)
        spec = job["spec"]
        spec["topology"] = {"preferred": "leaf"}
        spec["model"] = {"type": "Measured", "measured": [{"axis": "Data", "bytesPerGPU": "20G"}]}
        for part in (spec, spec["accelerator"], spec["topology"], spec["model"], spec["framework"],
                     spec["model"]["measured"][0], spec["workers"]):
            part["newer"] = NEW
        return job

    def test_what_a_newer_version_added_is_kept(self):
        self.define(True)
        wanted = self.newer_job("train")
        self.apply(wanted)
        self.cluster.until_running(self.space, "train")
        self.patch_status("trainingjobs", "train", {"newer": NEW, "workers": {"newer": NEW}})
        self.patch_status("placements", "train-1", {"newer": NEW})
        self.cluster.patch("trainingjobs", self.space, "train", {"spec": {"suspend": True}})
        self.cluster.until_condition(self.space, "train", "Suspended")
        self.cluster.patch("trainingjobs", self.space, "train", {"spec": {"suspend": False}})
        job = self.cluster.until_running(self.space, "train", attempt=2)
        self.assertEqual(job["status"]["newer"], NEW)
        self.assertEqual(job["status"]["workers"]["newer"], NEW)
        job["spec"].pop("suspend")
        for key, value in wanted["spec"].items():
            if key != "workers":  # the API server fills in defaults of the template
                self.assertEqual({**job["spec"][key], **value} if isinstance(value, dict) else value,
                                 job["spec"][key])
        self.assertEqual(job["spec"]["workers"]["newer"], NEW)
        self.assertEqual(condition(job, "Accepted")["status"], "True")

    def test_a_value_that_this_version_does_not_know_is_refused_and_can_be_taken_back(self):
        self.define(True)
        job = training_job(self.space, "train", 2)
        job["spec"]["model"] = {"type": "Transformer", "transformer": {
            "parameters": 70600000000, "layers": 80, "hiddenSize": 8192, "attentionHeads": 64,
            "sequenceLength": 8192, "microBatchSize": 1, "globalBatchSize": 512}}
        self.apply(job)
        self.cluster.until_running(self.space, "train")
        uids = self.uids("train")
        path = {"spec": {"model": {"transformer": {"precision": "FP6"}}}}
        self.cluster.patch("trainingjobs", self.space, "train", path)
        seen = self.cluster.until_condition(self.space, "train", "Accepted", "False")
        self.assertIn("precision", condition(seen, "Accepted")["message"])
        self.assertEqual(condition(seen, "PodsReady")["status"], "True")
        path["spec"]["model"]["transformer"]["precision"] = "FP8"
        self.cluster.patch("trainingjobs", self.space, "train", path)
        self.cluster.until_condition(self.space, "train", "Accepted")
        self.assertEqual(self.uids("train"), uids)

    def test_a_newer_fabric_is_followed(self):
        self.define(True)
        fabric = {"apiVersion": "weft.dev/v1alpha1", "kind": "Fabric", "metadata": {"name": "newer"},
                  "spec": {"preset": "TopographV1", "newer": NEW,
                           "nodeSelector": {"matchLabels": {"none": "such"}}}}
        path = f"{WEFT}/fabrics"
        self.cluster.call("POST", path, fabric)
        self.addCleanup(self.cluster.call, "DELETE", f"{path}/newer")
        seen = poll(lambda: (one := self.cluster.call("GET", f"{path}/newer")).get(
            "status", {}).get("conditions") and one, "the Fabric is looked at")
        self.assertEqual(seen["spec"]["newer"], NEW)
        self.assertNotIn("newer", json.dumps(seen["status"]))

    def uids(self, name):
        return sorted(pod["metadata"]["uid"] for pod in self.cluster.pods(self.space, name))

    def run_short_jobs(self, when, change=lambda: None):
        """Jobs come and go while something changes."""
        names = [f"{when}-{number}" for number in range(SHORT_JOBS)]
        for number, name in enumerate(names):
            if number == SHORT_JOBS // 2:
                change()
            self.apply(training_job(self.space, name, 2, run_seconds=1))
        for name in names:
            job = self.cluster.until_condition(self.space, name, "Complete")
            self.assertEqual(job["status"]["attempt"], 1)

    def test_definitions_are_upgraded_and_rolled_back_under_load(self):
        self.apply(training_job(self.space, "long", 4))
        self.cluster.until_running(self.space, "long")
        uids = self.uids("long")
        self.run_short_jobs("upgrade", lambda: self.define(True))
        self.apply(self.newer_job("with-newer"))
        self.cluster.until_running(self.space, "with-newer")
        self.patch_status("trainingjobs", "with-newer", {"newer": NEW})
        self.run_short_jobs("rollback", lambda: self.define(False))
        self.run_short_jobs("after")
        self.assertEqual(self.uids("long"), uids)
        for name in ("long", "with-newer"):
            job = self.cluster.until_running(self.space, name)
            self.assertEqual(job["status"]["restarts"], 0)
        self.assertIsNone(self.operator.process.poll())


class Before(Operator):
    """The operator of before."""

    def __init__(self, work, name, *flags):
        now = os.environ["WEFT_OPERATOR"]
        os.environ["WEFT_OPERATOR"] = os.environ["WEFT_OPERATOR_BEFORE"]
        try:
            super().__init__(work, name, *flags)
        finally:
            os.environ["WEFT_OPERATOR"] = now


class Turns(Versions):
    """N-1 and N together: each takes over what the other left, in every state of a job."""

    operator_type = Before
    flags = PATIENT

    def take_over(self, kind, name):
        """A standby of that version, and the leader is asked to go."""
        standby = kind(self.work.name, name, *self.flags)
        self.operator.stop()
        type(self).operator = standby

    def test_the_two_versions_take_turns(self):
        self.apply(training_job(self.space, "runs", 4))
        self.cluster.until_running(self.space, "runs")
        self.apply(training_job(self.space, "waits", 40))
        self.cluster.until_condition(self.space, "waits", "Placed", "False")
        self.apply(training_job(self.space, "fails", 2, annotations={"weft.test/exit-code": "3"}))
        self.cluster.until_condition(self.space, "fails", "Failed")
        uids = self.uids("runs")
        for turn, kind in enumerate((Operator, Before, Operator)):
            self.take_over(kind, f"turn-{turn}")
            self.run_short_jobs(f"turn-{turn}")
            self.cluster.patch("trainingjobs", self.space, "waits", {
                "spec": {"suspend": turn % 2 == 0}})
            self.cluster.until_condition(self.space, "waits", "Suspended",
                                         "True" if turn % 2 == 0 else "False")
        self.assertEqual(self.uids("runs"), uids)
        self.assertEqual(self.cluster.job(self.space, "runs")["status"]["attempt"], 1)
        self.assertTrue(condition(self.cluster.job(self.space, "fails"), "Failed"))


def load_tests(loader, _, __):
    """Turns needs an operator of before; what Versions tests is of today's alone."""
    tests = loader.loadTestsFromTestCase(Versions)
    if os.environ.get("WEFT_OPERATOR_BEFORE"):
        tests.addTest(Turns("test_the_two_versions_take_turns"))
    return unittest.TestSuite(tests)


if __name__ == "__main__":
    main()
