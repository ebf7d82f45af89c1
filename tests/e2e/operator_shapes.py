#!/usr/bin/env python3
"""Jobs of every shape, from apply to their end: pods where the Placement says, as the template
says, and a story that events tell."""

import copy
import itertools
import json
import re

from operator_lib import label, poll, training_job
from operator_scenarios import Scenarios, main

TRANSFORMER = {
    "parameters": 7000000000, "layers": 32, "hiddenSize": 4096, "attentionHeads": 32,
    "vocabularySize": 32000, "sequenceLength": 4096, "microBatchSize": 1, "globalBatchSize": 128,
}
MOE = {"experts": 16, "topK": 2, "layers": 32, "feedForwardSize": 2048}
WORKERS = 4
LEARNED_SPACE, LEARNED = "weft-system", "weft-learned-steps"


def transformer(**more):
    return {"type": "Transformer", "transformer": {**TRANSFORMER, **more}}


def without_names(spec):
    """The volume of the account's token has a name by chance."""
    return json.loads(re.sub(r"kube-api-access-\w+", "kube-api-access", json.dumps(spec)))


class Shapes(Scenarios):
    def complete(self, **spec):
        """A job of the shape, judged at each of its stations."""
        job = self.apply(training_job(self.space, "shape", WORKERS, annotations={
            "example.com/kept": "yes"}, **spec))
        self.cluster.until_running(self.space, "shape")
        self.judge_pods(job)
        self.judge_service(job)
        for pod in self.ending_pods(job):
            self.cluster.patch("pods", self.space, pod["metadata"]["name"],
                               {"metadata": {"annotations": {"weft.test/run-seconds": "0"}}})
        done = self.cluster.until_condition(self.space, "shape", "Complete", reason="Succeeded")
        self.judge_end(done)
        self.judge_events()

    def ending_pods(self, job):
        """Of an MPI job worker 0 speaks for all."""
        pods = self.cluster.pods(self.space, "shape")
        return pods[:1] if job["spec"]["framework"]["type"] == "MPI" else pods

    def judge_pods(self, job):
        nodes = self.placed_nodes("shape")
        self.assertEqual(len(set(nodes)), WORKERS)
        made = {node["metadata"]["name"]: node["metadata"]["creationTimestamp"]
                for node in self.cluster.list("nodes")}
        pods = self.cluster.list("pods", self.space, "weft.dev/job-name=shape")
        pods.sort(key=lambda pod: int(label(pod, "worker-index")))
        self.assertEqual([pod["spec"]["nodeName"] for pod in pods], nodes)
        for worker, pod in enumerate(pods):
            self.judge_metadata(job, worker, pod["metadata"], made[nodes[worker]])
            self.judge_spec(job, worker, pod["spec"], nodes[worker])

    def judge_metadata(self, job, worker, meta, node_made):
        self.assertEqual(meta["name"], f"shape-1-{worker}")
        self.assertEqual(meta["labels"], {
            "weft.dev/job-name": "shape", "weft.dev/job-uid": job["metadata"]["uid"],
            "weft.dev/attempt": "1", "weft.dev/worker-index": str(worker)})
        self.assertEqual(meta["annotations"], {
            "example.com/kept": "yes", "karpenter.sh/do-not-disrupt": "true",
            "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
            "weft.dev/node-created": node_made})
        [owner] = meta["ownerReferences"]
        self.assertEqual((owner["uid"], owner["controller"]), (job["metadata"]["uid"], True))

    def judge_spec(self, job, worker, spec, node):
        """Equal to what the API server makes of the template, but for what ties it to the job."""
        pod = {"apiVersion": "v1", "kind": "Pod",
               "metadata": {"name": "template", "namespace": self.space},
               "spec": copy.deepcopy(job["spec"]["workers"]["template"]["spec"])}
        pod["spec"]["restartPolicy"] = "Never"
        wanted = self.cluster.create("pods", pod, "?dryRun=All")["spec"]
        wanted.update(nodeName=node, hostname=f"shape-{worker}", subdomain="shape", affinity={
            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchFields": [
                    {"key": "metadata.name", "operator": "In", "values": [node]}]}]}}})
        self.add_files(job, worker, wanted)
        spec = copy.deepcopy(spec)
        environment = {one["name"]: one["value"] for one in spec["containers"][0].pop("env")}
        self.assertEqual(without_names(spec), without_names(wanted))
        told = {"WEFT_WORKER_INDEX": str(worker), "WEFT_FIRST_RANK": str(8 * worker),
                "WEFT_WORLD_SIZE": str(8 * WORKERS), "WEFT_NODE": node,
                "WEFT_MASTER_ADDR": "shape-0.shape"}
        self.assertLessEqual(told.items(), environment.items())

    def add_files(self, job, worker, spec):
        """What Weft mounts; and of an MPI job, what the workers but the first run."""
        files = {"name": "shape-1-weft"}
        volume = {"name": "weft", "configMap": {**files, "defaultMode": 0o644}}
        if job["spec"]["framework"]["type"] == "MPI":
            keys = [{"key": key, "path": f"ssh/{key}", "mode": mode} for key, mode in (
                ("id", 0o400), ("authorized_keys", 0o444), ("known_hosts", 0o444))]
            placement = self.cluster.get("placements", self.space, "shape-1")
            secret = f"shape-1-weft-{placement['metadata']['uid'][:8]}"
            volume = {"name": "weft", "projected": {"defaultMode": 0o555, "sources": [
                {"configMap": files}, {"secret": {"name": secret, "items": keys}}]}}
            if worker > 0:
                spec["containers"][0]["command"] = ["/bin/sh", "/etc/weft/worker"]
        own = [volume, {"name": "weft-shm", "emptyDir": {"medium": "Memory"}}]
        account = spec["volumes"].pop()
        spec["volumes"] += [*own, account]
        mounts = spec["containers"][0]["volumeMounts"]
        mounts[-1:] = [{"name": "weft", "mountPath": "/etc/weft", "readOnly": True},
                       {"name": "weft-shm", "mountPath": "/dev/shm"}, mounts[-1]]

    def judge_service(self, job):
        spec = self.cluster.get("services", self.space, "shape")["spec"]
        self.assertEqual(spec["clusterIP"], "None")
        self.assertTrue(spec["publishNotReadyAddresses"])
        self.assertEqual(spec["selector"], {"weft.dev/job-uid": job["metadata"]["uid"],
                                            "weft.dev/attempt": "1"})

    def judge_end(self, job):
        status = job["status"]
        self.assertEqual({one["type"]: one["status"] for one in status["conditions"]}, {
            "Accepted": "True", "Placed": "True", "PodsReady": "False", "Complete": "True",
            "PlacementVerified": "Unknown"})
        self.assertEqual((status["attempt"], status["restarts"], status["phase"]),
                         (1, 0, "Complete"))
        self.assertEqual(status["placementName"], "shape-1")
        self.assertEqual(status["observedGeneration"], job["metadata"]["generation"])
        self.assertLessEqual(status["startTime"], status["completionTime"])

    def judge_events(self):
        story = ["Valid", "Placed", "AllReady", "Succeeded"]

        def told():
            events = [one for one in self.cluster.list("events", self.space)
                      if one["involvedObject"]["kind"] == "TrainingJob"]
            events.sort(key=lambda one: (one.get("eventTime") or one["firstTimestamp"],
                                         int(one["metadata"]["resourceVersion"])))
            return [one["reason"] for one in events] == story
        poll(told, f"events tell {story}")

    def outlook(self):
        return self.cluster.get("placements", self.space, "shape-1")["status"]["outlook"]

    def test_tensor_only(self):
        self.complete(model=transformer(), parallelism={"tensor": 8})
        outlook = self.outlook()
        self.assertEqual((outlook["accelerator"], outlook["fits"]), ("H100", True))
        self.assertGreater(outlook["stepMilliseconds"], 0)

    def test_what_does_not_fit_in_memory_runs_with_a_warning(self):
        self.apply(training_job(self.space, "shape", WORKERS, parallelism={"tensor": 8},
                                model=transformer(parameters=700000000000)))
        self.cluster.until_running(self.space, "shape")
        self.assertFalse(self.outlook()["fits"])
        self.cluster.until_condition(self.space, "shape", "MemoryFits", "False", "DoesNotFit")

        def told():
            return any(one["reason"] == "DoesNotFit" and one["type"] == "Warning"
                       for one in self.cluster.list("events", self.space))
        poll(told, "an event warns of the memory")

    def predicted(self, name):
        """What is predicted for a job of one node and one model."""
        self.apply(training_job(self.space, name, 1, model=transformer(),
                                parallelism={"tensor": 8}))
        self.cluster.until_running(self.space, name)
        return self.cluster.get("placements", self.space, f"{name}-1")["status"]["outlook"]

    def test_a_measured_step_teaches_later_predictions(self):
        plain = self.predicted("first")
        self.assertNotIn("learnedStep", plain)
        self.addCleanup(self.cluster.delete, "configmaps", LEARNED_SPACE, LEARNED)
        seconds = 1.2 * plain["stepMilliseconds"] / 1000
        self.cluster.patch("trainingjobs", self.space, "first", {"metadata": {
            "annotations": {"weft.dev/measured-step-seconds": str(seconds)}}})
        poll(lambda: self.cluster.get("configmaps", LEARNED_SPACE, LEARNED), "the step is learned")
        self.cluster.delete("trainingjobs", self.space, "first")
        self.cluster.until_no_job(self.space, "first")
        taught = self.predicted("second")
        [(entry, text)] = self.cluster.get("configmaps", LEARNED_SPACE, LEARNED)["data"].items()
        self.assertEqual(text.splitlines()[:2], ["percent: 120.00", "observations: 1"])
        self.assertEqual((taught["learnedStep"], taught["learnedPercent"],
                          taught["learnedFromJobs"]), (entry, 120, 1))
        self.assertAlmostEqual(taught["stepMilliseconds"] / plain["stepMilliseconds"], 1.2, 2)
        self.cluster.patch("configmaps", LEARNED_SPACE, LEARNED, {
            "data": {entry: "percent: 90\nobservations: 50\n"}})

        numbers = itertools.count()

        def follows():
            """A job that is placed after the operator has read the edit."""
            name = f"later-{next(numbers)}"
            percent = self.predicted(name).get("learnedPercent")
            self.cluster.delete("trainingjobs", self.space, name)
            return percent == 90
        poll(follows, "a prediction follows the edit")

    def test_tensor_and_pipeline(self):
        self.complete(model=transformer(), parallelism={"tensor": 8, "pipeline": 2})
        traffic = self.cluster.get("placements", self.space, "shape-1")["status"]["traffic"]
        self.assertIn("Pipeline", {flow["axis"] for flow in traffic["flows"]})

    def test_no_model(self):
        self.complete()

    def test_experts(self):
        self.complete(model=transformer(moe=MOE),
                      parallelism={"tensor": 2, "expert": 8, "expertTensor": 1})
        traffic = self.cluster.get("placements", self.space, "shape-1")["status"]["traffic"]
        self.assertIn("Expert", {flow["axis"] for flow in traffic["flows"]})

    def test_mpi_ends_with_worker_0(self):
        self.complete(framework={"type": "MPI"})
        # The others had not ended by themselves.
        self.cluster.until("what ran on is ended", lambda: [
            pod["status"]["phase"] for pod in self.cluster.pods(self.space, "shape")
        ] == ["Succeeded"])


if __name__ == "__main__":
    main()
