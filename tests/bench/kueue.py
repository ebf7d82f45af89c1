#!/usr/bin/env python3
"""One contender of kueue.sh on a running cluster, or the table of all of them.

    kueue.py preferred|slices|check|rules|weft FLEET JOBS FOLDER     writes FOLDER/FLEET-CONTENDER.json
    kueue.py table FLEET JOBS FOLDER                           prints them in Markdown
"""

import json
import os
import random
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
from kueue_world import KUEUE, LABEL, apply, condition, has, start_peers  # noqa: E402
from operator_lib import GPUS, ROOTS, Cluster, Operator, poll, quantity  # noqa: E402
from servers import processor_seconds  # noqa: E402

CONTENDERS = ("preferred", "slices", "check", "rules", "weft")
OF_WEFT, OF_CHECK = ("check", "rules", "weft"), ("check", "rules")
SPACE, QUEUE = "bench", "team"
LOAD = 0.9  # GPU time of the jobs over that of the GPUs that earlier jobs leave free
FREE_SHARE = 0.7
RUN_SECONDS = (10, 30)
PATIENCE_SECONDS = 240  # after the last arrival; what has not ended then never fitted
LLAMA_70B = {"type": "Transformer", "transformer": {
    "parameters": 70_600_000_000, "layers": 80, "hiddenSize": 8192, "attentionHeads": 64,
    "keyValueHeads": 8, "feedForwardSize": 28672, "vocabularySize": 128256, "sequenceLength": 8192,
    "microBatchSize": 1, "globalBatchSize": 1024, "precision": "BF16"}}
MIXTURE = {"type": "Transformer", "transformer": {
    "parameters": 671_000_000_000, "layers": 64, "hiddenSize": 7168, "attentionHeads": 128,
    "keyValueHeads": 128, "feedForwardSize": 18432, "vocabularySize": 129280,
    "sequenceLength": 4096, "microBatchSize": 1, "globalBatchSize": 4096, "precision": "BF16",
    "moe": {"experts": 256, "topK": 8, "layers": 60, "feedForwardSize": 2048}}}
# Of each fleet: GPUs of a node, its design's label of the narrowest domain that joins nodes and of the
# one around it, and the jobs: their share, workers, Jobs in a JobSet (0: a Job), model, parallelism,
# how many consecutive workers an expert keeps in one domain, and the axes whose groups those are.
FLEETS = {
    "gb200": (4, "nvidia.com/gpu.clique", "fabric.topograph.run/tier-1", (
        (20, 1, 0, None, None, 1, []),
        (20, 2, 0, LLAMA_70B, {"tensor": 8}, 2, []),
        (20, 4, 0, LLAMA_70B, {"tensor": 8}, 2, ["Tensor"]),
        (15, 8, 2, LLAMA_70B, {"tensor": 8, "pipeline": 2}, 2, ["Tensor"]),
        (10, 16, 0, MIXTURE, {"expert": 64, "sharding": "OptimizerState"}, 16, []),
        (10, 32, 4, LLAMA_70B, {"tensor": 8, "pipeline": 4}, 2, ["Tensor"]),
        # Slices of 16, a whole group of experts, never find room: no rack has 16 nodes left.
        # Eight workers are half of one, which Weft has no rule for.
        (5, 64, 0, MIXTURE, {"pipeline": 4, "expert": 64, "sharding": "OptimizerState"}, 8, []))),
    "h100": (8, "fabric.topograph.run/tier-0", "fabric.topograph.run/tier-1", (
        (20, 1, 0, None, None, 1, []),
        (20, 2, 0, LLAMA_70B, {"sharding": "Full"}, 2, []),
        (20, 4, 0, LLAMA_70B, {"tensor": 8}, 4, []),
        (15, 8, 2, LLAMA_70B, {"tensor": 8, "pipeline": 4}, 4, ["Pipeline"]),
        (10, 16, 0, LLAMA_70B, {"tensor": 8, "pipeline": 4}, 4, ["Pipeline"]),
        (10, 32, 0, MIXTURE, {"expert": 64, "sharding": "OptimizerState"}, 8, ["Expert"]),
        (5, 64, 4, LLAMA_70B, {"tensor": 8, "pipeline": 8}, 8, ["Pipeline"]))),
}
TAS = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {name: fabric}
spec: {levels: [%(levels)s]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: gpu}
spec: {nodeLabels: {nvidia.com/gpu.product: %(product)s}, topologyName: fabric}
"""
PLAIN = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: gpu}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: {name: placement}
spec: {controllerName: weft.dev/placement}
"""
QUEUES = """---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: all}
spec:
  namespaceSelector: {}
  %(checks)s
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors: [{name: gpu, resources: [{name: nvidia.com/gpu, nominalQuota: %(quota)d}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: team, namespace: bench}
spec: {clusterQueue: all}
"""


def arrivals(fleet, jobs, nodes):
    """(seconds, seconds of run, row of FLEETS) of each job: the same for all contenders."""
    chance, rows, now, listed = random.Random(1), FLEETS[fleet][3], 0.0, []
    mean = (sum(row[0] * row[1] for row in rows) / sum(row[0] for row in rows)
            * sum(RUN_SECONDS) / 2)
    for _ in range(jobs):
        now += chance.expovariate(LOAD * FREE_SHARE * nodes / mean)
        row = chance.choices(rows, [one[0] for one in rows])[0]
        listed.append((now, chance.randint(*RUN_SECONDS), row))
    return listed


def topology_annotations(contender, fleet, row):
    narrow, wide = FLEETS[fleet][1:3]
    prefix, slice_size = "kueue.x-k8s.io/podset-", row[5]
    if contender == "preferred" or slice_size == row[1]:
        return {prefix + "preferred-topology": narrow}
    return {prefix + "preferred-topology": wide, prefix + "slice-required-topology": narrow,
            prefix + "slice-size": str(slice_size)}


def topology_of(row):
    """The same rules in Weft's words."""
    if row[5] == row[1]:
        return {"preferred": "leaf"}
    return {"preferred": "spine",
            **({"groups": [{"axes": row[6], "required": "leaf"}]} if row[6] else {})}


def make_job(contender, fleet, name, run_seconds, row):
    gpus, (_, workers, replicas, model, parallelism) = FLEETS[fleet][0], row[:5]
    notes = {"weft.test/run-seconds": str(run_seconds)}
    if model:
        notes.update({"weft.dev/model": json.dumps(model), "weft.dev/parallelism": json.dumps(parallelism)})
    if contender in ("preferred", "slices"):
        notes.update(topology_annotations(contender, fleet, row))
    if contender == "rules" and workers > 1:
        notes["weft.dev/topology"] = json.dumps(topology_of(row))
    spec = {"restartPolicy": "Never", "containers": [
        {"name": "trainer", "image": "registry.example/train:1", "resources": {"limits": {GPUS: gpus}}}]}
    if contender in OF_WEFT:
        spec["schedulingGates"] = [{"name": LABEL}]
    labels = {"weft.dev/place": "true"} if contender == "weft" else {}
    template = {"metadata": {"annotations": notes, "labels": labels}, "spec": spec}
    meta = {"name": name, "namespace": SPACE, "labels": (
        {} if contender == "weft" else {"kueue.x-k8s.io/queue-name": QUEUE})}
    each = workers // max(1, replicas)
    batch = {"completionMode": "Indexed", "completions": each, "parallelism": each, "template": template}
    if not replicas:
        return "jobs", {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": batch}
    return "jobsets", {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": meta,
                       "spec": {"replicatedJobs": [{"name": "w", "replicas": replicas,
                                                    "template": {"spec": batch}}]}}


def job_of(pod):
    labels = pod["metadata"].get("labels", {})
    return labels.get("jobset.sigs.k8s.io/jobset-name") or labels.get("batch.kubernetes.io/job-name")


class Watcher:
    """When what was seen, and the last bound form of each pod, by job."""

    def __init__(self):
        self.reserved, self.pods, self.running, self.ended = {}, {}, {}, {}

    def __call__(self, change):
        now, thing = time.monotonic(), change.thing
        if change.plural == "workloads" and has(thing, "QuotaReserved"):
            for owner in thing["metadata"].get("ownerReferences", []):
                self.reserved[owner["name"]] = condition(thing, "QuotaReserved")["lastTransitionTime"], (
                    self.reserved.get(owner["name"], (0, now))[1])
        name = job_of(thing) if change.plural == "pods" else None
        if not name:
            return
        uid, phase = thing["metadata"]["uid"], thing.get("status", {}).get("phase")
        if phase == "Running":
            self.pods.setdefault(name, {})[uid] = thing
            self.running.setdefault(name, {}).setdefault(uid, now)
        if phase in ("Succeeded", "Failed"):
            self.ended.setdefault(name, set()).add(uid)


def start_contender(contender, fleet, cluster, nodes):
    """The processes whose processor time counts, and the Operator if there is one."""
    processes, operator = {}, None
    if contender in OF_WEFT:
        work = os.environ["WEFT_PEERS_WORK"] + "-operator"
        os.makedirs(work, exist_ok=True)
        operator = Operator(work, "bench", *(["--kueue"] if contender in OF_CHECK else []))
        processes["weft"] = operator.process.pid
    start_peers(*(["jobset"] if contender == "weft" else ["kueue", "jobset"]))
    if contender == "weft":
        return processes, operator
    with open(os.path.join(os.environ["WEFT_PEERS_WORK"], "kueue.pid"), encoding="utf-8") as file:
        processes["kueue"] = int(file.read())
    gpus, narrow, wide, _ = FLEETS[fleet]
    tas = contender not in OF_CHECK
    levels = ", ".join(f"{{nodeLabel: {key}}}" for key in (wide, narrow, "kubernetes.io/hostname"))
    apply((TAS % {"levels": levels, "product": nodes[0]["metadata"]["labels"]["nvidia.com/gpu.product"]}
           if tas else PLAIN) + QUEUES % {
        "checks": "" if tas else "admissionChecksStrategy: {admissionChecks: [{name: placement}]}",
        "quota": int(FREE_SHARE * len(nodes)) * gpus})
    poll(lambda: has(cluster.get("clusterqueues", "", "all"), "Active"), "the ClusterQueue is active")
    return processes, operator


def index_of(pod, each):
    labels = pod["metadata"]["labels"]
    return (int(labels.get("jobset.sigs.k8s.io/job-index", 0)) * each
            + int(labels["batch.kubernetes.io/job-completion-index"]))


def audited(cluster_file, fleet, row, pods, folder):
    """`weft audit` of one job alone: {level: bytes that leave its domains in a step}."""
    gpus, (_, workers, replicas, model, parallelism) = FLEETS[fleet][0], row[:5]
    for pod in pods:
        pod.update({"apiVersion": "v1", "kind": "Pod"})
        pod["metadata"]["labels"].update(
            {"audited": "yes", "worker": str(index_of(pod, workers // max(1, replicas)))})
    placement = {
        "apiVersion": "weft.dev/v1alpha1", "kind": "Placement",
        "metadata": {"name": "audited", "namespace": SPACE},
        "spec": {"workers": workers, "accelerator": {"resourceName": GPUS, "perWorker": gpus},
                 "model": model, "parallelism": parallelism,
                 "podSelector": {"matchLabels": {"audited": "yes"}},
                 "workerIndexLabels": [{"key": "worker"}]}}
    path = os.path.join(folder, "pods.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"apiVersion": "v1", "kind": "List", "items": [*pods, placement]}, file)
    told = subprocess.run([os.environ["WEFT"], "audit", "-f", cluster_file, "-f", path, "-o", "json"],
                          check=True, capture_output=True, text=True).stdout
    traffic = json.loads(told)["gangs"][0]["traffic"]
    return {"node": quantity(traffic["crossNodeBytes"]),
            **{one["level"]: quantity(one["crossingBytes"]) for one in traffic["levels"]
               if one["level"] != "outside"}}


def run(contender, fleet, jobs, folder):
    ROOTS.update({"workloads": KUEUE, "clusterqueues": KUEUE, "jobsets": "/apis/jobset.x-k8s.io/v1alpha2"})
    cluster = Cluster(("pods",))
    nodes = cluster.list("nodes")
    cluster.make_namespace(SPACE)
    cluster_file = os.path.join(folder, "cluster.json")
    with open(cluster_file, "w", encoding="utf-8") as file:
        file.write(subprocess.run(["kubectl", "get", "nodes,fabrics", "-o", "json"], check=True,
                                  capture_output=True, text=True).stdout)
    processes, operator = start_contender(contender, fleet, cluster, nodes)
    cluster.close()
    cluster, watcher = Cluster(("pods",) + (() if contender == "weft" else ("workloads",))), Watcher()
    cluster.history.observers.append(watcher)
    before = {name: processor_seconds(process) for name, process in processes.items()}
    begin, created, late = time.monotonic(), {}, 0.0
    plan = arrivals(fleet, jobs, len(nodes))
    for number, (due, run_seconds, row) in enumerate(plan):
        time.sleep(max(0.0, begin + due - time.monotonic()))
        late = max(late, time.monotonic() - begin - due)
        plural, job = make_job(contender, fleet, f"j{number:03}", run_seconds, row)
        created[f"j{number:03}"] = time.monotonic(), row
        cluster.create(plural, job)

    def open_jobs():
        return [name for name, (_, row) in created.items()
                if len(watcher.ended.get(name, ())) < row[1]]
    end = time.monotonic() + RUN_SECONDS[1] + PATIENCE_SECONDS
    while open_jobs() and time.monotonic() < end:
        time.sleep(1)
    left = open_jobs()
    took = time.monotonic() - begin
    processor = {name: processor_seconds(process) - before[name] for name, process in processes.items()}
    done = [name for name in created if name not in left]
    starts = {name: max(watcher.running[name].values()) for name in done}
    result = {
        "jobs": jobs, "left": left, "seconds": took, "late": late, "processor": processor,
        "waits": [starts[name] - created[name][0] for name in done],
        "reserved": [starts[name] - watcher.reserved[name][1] for name in done if name in watcher.reserved],
        "audits": {name: audited(cluster_file, fleet, created[name][1],
                                 list(watcher.pods[name].values()), folder)
                   for name in done if created[name][1][1] > 1}}
    if operator:
        operator.stop()
    cluster.close()
    with open(os.path.join(folder, f"{fleet}-{contender}.json"), "w", encoding="utf-8") as file:
        json.dump(result, file)


def spread(values):
    """Median and 99 % of seconds."""
    if not values:
        return "-"
    values = sorted(values)
    return f"{statistics.median(values):.1f} / {values[min(len(values) - 1, len(values) * 99 // 100)]:.1f}"


def table(fleet, jobs, folder):
    """Only jobs that all contenders ran count. Who starts jobs later has more free nodes to choose from:
    bytes are to be read together with the waits."""
    results = {}
    for contender in CONTENDERS:
        path = os.path.join(folder, f"{fleet}-{contender}.json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                results[contender] = json.load(file)
    common = set.intersection(*(set(one["audits"]) for one in results.values()))
    levels = list(next(iter(results.values()))["audits"][min(common)])
    print(f"{fleet}: {jobs} jobs; bytes of one step of the {len(common)} jobs of several nodes\n")
    head = ["contender", "ended", *(f"TB that leave {level}" for level in levels),
            "all took, s", "waited, s (median / 99 %)", "reserved to running, s", "processor, s"]
    print("| " + " | ".join(head) + " |\n" + "| --- " * len(head) + "|")
    for contender, one in results.items():
        cells = [contender, f"{jobs - len(one['left'])}"]
        cells += [f"{sum(one['audits'][job][level] for job in common) / 1e12:,.2f}" for level in levels]
        cells += [f"{one['seconds']:.0f}", spread(one["waits"]), spread(one["reserved"]),
                  ", ".join(f"{name} {seconds:.0f}" for name, seconds in one["processor"].items())]
        print("| " + " | ".join(cells) + " |")


def main():
    what, fleet, jobs, folder = sys.argv[1:]
    if what == "table":
        table(fleet, int(jobs), folder)
    else:
        run(what, fleet, int(jobs), folder)


if __name__ == "__main__":
    main()
