#!/usr/bin/env python3
"""Workers that a real kubelet cannot start yet: the job says within seconds what its kubelet waits
for, and goes on in the same attempt as soon as that is there."""

import dataclasses
import os
import time
from collections.abc import Callable

from ground_scenarios import (GroundScenarios, condition, main, waits)
import slow_registry

EVENTS_OF_VOLUMES = ("FailedMount", "FailedAttachVolume")


def of_env(kind, field):
    def change(_pod, container, name):
        container["env"].append({"name": "NEEDED", "valueFrom": {kind: {"name": name, field: "k"}}})
    return change


def of_volume(**volume):
    def change(pod, container, _name):
        pod["volumes"].append({"name": "needed", **volume})
        container["volumeMounts"].append({"name": "needed", "mountPath": "/needed"})
    return change


def of_image(_pod, container, _name):
    container["image"] = "weft.test/none:1"


def of_claim(pod, container, name):
    of_volume(persistentVolumeClaim={"claimName": name})(pod, container, name)


@dataclasses.dataclass
class Case:
    fault: str
    job: str
    change: Callable
    reason: str  # of the condition PodsReady
    message: str  # a part of its
    mend: str = ""  # what comes into being then; without it the attempt ends


CASES = [
    Case("a missing image", "image", of_image, "ErrImagePull", "weft.test/none:1"),
    Case("a missing ConfigMap in env", "config-env", of_env("configMapKeyRef", "key"),
         "CreateContainerConfigError", "config-env", mend="configmaps"),
    Case("a missing Secret in env", "secret-env", of_env("secretKeyRef", "key"),
         "CreateContainerConfigError", "secret-env", mend="secrets"),
    Case("a missing ConfigMap in a volume", "config-volume",
         of_volume(configMap={"name": "config-volume"}), "FailedMount", "config-volume",
         mend="configmaps"),
    Case("a missing Secret in a volume", "secret-volume",
         of_volume(secret={"secretName": "secret-volume"}), "FailedMount", "secret-volume",
         mend="secrets"),
    Case("a folder that is missing on the node", "folder",
         of_volume(hostPath={"path": "@folder", "type": "Directory"}), "FailedMount",
         "not a directory", mend="folder"),
    Case("a volume without a driver on the node", "claim", of_claim, "FailedMount",
         "none.weft.test"),
]


def knows_of(scenario, case):
    """What says first that the kubelet knows."""
    if case.reason == "FailedMount":
        return "events", scenario.event_of(case.job, *EVENTS_OF_VOLUMES)
    return "pods", scenario.pod_is(case.job, waits)


class WaitingFaults(GroundScenarios):
    def job_of(self, case):
        job = self.gang(case.job, "exit 0", startupTimeoutSeconds=600 if case.mend else 45)
        pod = job["spec"]["workers"]["template"]["spec"]
        case.change(pod, pod["containers"][0], case.job)
        for volume in pod["volumes"]:
            if volume.get("hostPath", {}).get("path") == "@folder":
                volume["hostPath"]["path"] = self.folder()
        return job

    def folder(self):
        return os.path.join(self.cue_folder, "folder")

    def make_claim(self, name):
        """A volume of a CSI driver that no node has."""
        driver = "none.weft.test"
        self.cluster.create("csidrivers", {"metadata": {"name": driver},
                                           "spec": {"attachRequired": False}})
        self.addCleanup(self.cluster.delete, "csidrivers", "", driver)
        size = {"storage": "1Gi"}
        self.cluster.create("persistentvolumes", {"metadata": {"name": name}, "spec": {
            "capacity": size, "accessModes": ["ReadWriteMany"], "storageClassName": "",
            "csi": {"driver": driver, "volumeHandle": "one"},
            "claimRef": {"namespace": self.space, "name": name}}})
        self.addCleanup(self.cluster.delete, "persistentvolumes", "", name)
        self.cluster.create("persistentvolumeclaims", {
            "metadata": {"namespace": self.space, "name": name},
            "spec": {"accessModes": ["ReadWriteMany"], "storageClassName": "", "volumeName": name,
                     "resources": {"requests": size}}})

    def mend(self, case):
        if case.mend == "folder":
            os.mkdir(self.folder())
        elif case.mend:
            self.cluster.create(case.mend, {
                "metadata": {"namespace": self.space, "name": case.job},
                "data": {"k": "dg=="}})

    def judge_case(self, case, begun):
        def tells(job):
            told = condition(job, "PodsReady") or {}
            return told.get("status") == "False" and told["reason"] == case.reason and (
                case.message in told["message"])
        try:
            self.cluster.until(f"{case.fault} is told", lambda: tells(
                self.cluster.job(self.space, case.job)))
            told = condition(self.cluster.job(self.space, case.job), "PodsReady")
            print(f"  {told['reason']}: {told['message']}", flush=True)
        finally:
            self.mend(case)
        self.judge_telling(case.fault, case.job, knows_of(self, case), tells, begun,
                           begin="the jobs were made")

    def test_what_comes_late(self):
        self.judge_cases([case for case in CASES if case.mend])

    def test_what_never_comes(self):
        self.make_claim("claim")
        self.judge_cases([case for case in CASES if not case.mend])

    def judge_cases(self, cases):
        begun = time.time()
        for case in cases:
            self.apply(self.job_of(case))
        for case in cases:
            with self.subTest(case.fault):
                self.judge_case(case, begun)
        for case in cases:
            with self.subTest(case.fault + ": its end"):
                self.judge_end(case)

    def judge_end(self, case):
        if case.mend:
            self.until_ended(case.job, "Complete", attempt=1)
        else:
            job = self.until_ended(case.job, "Failed", attempt=1, reason="StartupTimeout")
            self.assertIn(case.message, condition(job, "Failed")["message"])
        self.judge_writes(case.job, case.message)

    def judge_writes(self, name, words):
        """One worker, both, and one again when the other has what it waits for."""
        changes = [change.thing for change in self.cluster.history.changes(self.space)
                   if change.plural == "trainingjobs"
                   and change.thing["metadata"]["name"] == name]
        texts = [(condition(one, "PodsReady") or {}).get("message", "") for one in changes]
        told = [b for a, b in zip(texts, texts[1:]) if a != b and words in b]
        self.assertLessEqual(len(told), 3, f"written again and again: {texts}")

    def test_an_image_that_pulls_slowly(self):
        tag = int(time.time())  # never pulled before
        images = {name: f"{slow_registry.NAME}/slow:{name}-{tag}" for name in ("patient", "hasty")}

        def tells(job):
            told = condition(job, "PodsReady") or {}
            words = f"Pulling: image {images[job['metadata']['name']]} since "
            return told.get("reason") == "Pulling" and words in told["message"]
        with slow_registry.slow_registry(rate=1 << 16, size=3 << 19):  # in 24 seconds
            for name, patience in (("patient", 600), ("hasty", 18)):
                job = self.gang(name, "sleep 3", workers=2, startupTimeoutSeconds=patience)
                job["spec"]["workers"]["template"]["spec"]["containers"][0]["image"] = images[name]
                self.apply(job)
            job = self.until_ended("hasty", "Failed", reason="StartupTimeout")
            message = condition(job, "Failed")["message"]
            print(f"  {message}", flush=True)
            self.assertIn(f"Pulling: image {images['hasty']} since ", message)
            self.until_ended("patient", "Complete", attempt=1)
        for name in images:
            self.judge_telling(f"an image that pulls slowly ({name})", name,
                               ("events", self.event_of(name, "Pulling")), tells)
            self.judge_writes(name, images[name])
        pulled = self.first("events", self.event_of("patient", "Pulled"), "Pulled")
        began = self.first("events", self.event_of("patient", "Pulling"), "Pulling")
        print(f"  pulled in {pulled - began:.0f} s", flush=True)
        self.assertGreater(pulled - began, 10)
        self.first("trainingjobs", self.job_is("patient", lambda job: condition(
            job, "PodsReady")["reason"] == "AllReady"), "every worker is ready", after=pulled)


if __name__ == "__main__":
    main()
