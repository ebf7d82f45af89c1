#!/usr/bin/env python3
"""Jobs of other controllers in real containers: a Job, a JobSet and a TrainJob placed by label, and
each of them and a TrainingJob in a queue of Kueue, run to the end by the real managers."""

import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "ranks"), os.path.join(HERE, "..", "e2e")]
from rank_scenarios import WORKERS  # noqa: E402
from kueue_world import KueueScenarios, gpus_job, job_set  # noqa: E402
from gangs import IMAGE, gang  # noqa: E402
from operator_kinds import examples  # noqa: E402
from operator_lib import GPUS  # noqa: E402
from operator_scenarios import PATIENT, main  # noqa: E402

# Each says where it ran, and ends by itself.
COMMAND = ["sh", "-c", 'echo "worker on $(hostname) of $NVIDIA_VISIBLE_DEVICES"; sleep 2']
QUEUED_RUNTIME = "torch-queued"
GPUS_OF_A_NODE = int(os.environ["WEFT_REAL_GPUS"])


def parts_of(thing):
    """Every mapping that stands somewhere in it."""
    if isinstance(thing, dict):
        yield thing
    for value in thing.values() if isinstance(thing, dict) else thing:
        if isinstance(value, (dict, list)):
            yield from parts_of(value)


def real(thing):
    """With a program that ends, and all GPUs of a node for each pod."""
    for part in list(parts_of(thing)):
        for key in ("weft.dev/parallelism", "kueue.x-k8s.io/podset-required-topology"):
            part.pop(key, None)
        for container in part.get("containers", []):
            container.update(image=IMAGE, imagePullPolicy="IfNotPresent", command=COMMAND)
            if "resources" in container:
                container["resources"] = {"limits": {GPUS: GPUS_OF_A_NODE}}
    return thing


class RealKinds(KueueScenarios):
    flags = (*PATIENT, "--kueue")

    def create(self, thing):
        subprocess.run(["kubectl", "apply", "-n", self.space, "-f", "-"], check=True, text=True,
                       input=json.dumps(thing), stdout=subprocess.DEVNULL)

    def runtime(self, name, gate):
        """A ClusterTrainingRuntime as the page has it. Kueue gates pods itself."""
        runtime = real(examples()["ClusterTrainingRuntime"])
        runtime["metadata"]["name"] = name
        template = runtime["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]
        pod = template["spec"]["template"]
        if not gate:
            del pod["metadata"], pod["spec"]["schedulingGates"]
        self.create(runtime)
        self.addCleanup(self.cluster.delete, "clustertrainingruntimes", "", name)

    def train_job(self, runtime, **labels):
        trainer = {"image": IMAGE, "command": COMMAND, "numNodes": WORKERS,
                   "resourcesPerNode": {"limits": {GPUS: GPUS_OF_A_NODE}}}
        return {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob",
                "metadata": {"name": "tuned", "namespace": self.space, "labels": labels},
                "spec": {"runtimeRef": {"name": runtime}, "trainer": trainer}}

    def expect_end(self, placements=1):
        """Every pod ran where its Placement has it, a node for each, and succeeded."""
        def ended():
            pods = self.cluster.history.all_now("pods", self.space)
            return pods if len(pods) == WORKERS and all(
                pod["status"]["phase"] == "Succeeded" for pod in pods) else None
        pods = self.cluster.until("every pod has succeeded", ended, 120)
        placed = self.placements(ever=True)
        self.assertEqual(len(placed), placements)
        nodes = [pod["spec"]["nodeName"] for pod in pods]
        self.assertEqual(sorted(nodes), sorted(
            node for one in placed for node in one["status"]["nodes"]))
        self.assertEqual(len(set(nodes)), WORKERS)

    def test_a_job_by_label(self):
        self.create(real(examples()["Job"]))
        self.expect_end()

    def test_a_job_set_by_label(self):
        self.create(real(examples()["JobSet"]))
        self.expect_end()

    def test_a_train_job_by_label(self):
        self.runtime("torch-placed", gate=True)
        self.create(self.train_job("torch-placed"))
        self.expect_end()

    def test_a_job_in_a_queue(self):
        self.queue(real(gpus_job(self.space, "sweep", WORKERS)))
        self.expect_end()
        self.until_finished("sweep")

    def test_a_job_set_in_a_queue(self):
        self.queue(real(job_set(self.space, "llama", {"workers": (1, WORKERS)})))
        self.expect_end()
        self.until_finished("llama")

    def test_a_train_job_in_a_queue(self):
        self.runtime(QUEUED_RUNTIME, gate=False)
        self.queue(self.train_job(QUEUED_RUNTIME))
        self.expect_end()
        self.until_finished("tuned")

    def test_a_training_job_in_a_queue(self):
        self.queue(gang(self.space, "ring", COMMAND, WORKERS, GPUS_OF_A_NODE))
        self.expect_end()
        self.cluster.until_condition(self.space, "ring", "Complete")
        self.until_finished("ring")


if __name__ == "__main__":
    main()
