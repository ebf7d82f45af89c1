"""What the scenarios of weft-operator share: the cluster as it is seen, jobs, the program itself.

A Cluster watches pods, jobs and Placements, and keeps every change (see operator_history.py): a
scenario waits for what it expects by looking at each change, never by sleeping.
"""

import json
import os
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # the tree stays as it was

SOURCE = os.environ.get("WEFT_SOURCE_DIR") or os.path.join(os.path.dirname(__file__), "..", "..")
sys.path.insert(0, os.path.join(SOURCE, "deploy", "local-cluster"))
from api_server import ApiServer  # noqa: E402
from free_ports import free_port, free_ports  # noqa: E402,F401  pylint: disable=unused-import
from operator_history import BROKEN, History  # noqa: E402
from slowness import slowness  # noqa: E402,F401  pylint: disable=unused-import

PATIENCE_SECONDS = 180  # a wait ends with what it waits for: so long only on a very busy machine
GPUS = "nvidia.com/gpu"
WEFT = "/apis/weft.dev/v1alpha1"
ROOTS = {"pods": "/api/v1", "services": "/api/v1", "events": "/api/v1", "nodes": "/api/v1",
         "namespaces": "/api/v1", "serviceaccounts": "/api/v1", "resourcequotas": "/api/v1",
         "jobs": "/apis/batch/v1", "trainingjobs": WEFT, "placements": WEFT,
         "configmaps": "/api/v1", "secrets": "/api/v1",
         "persistentvolumes": "/api/v1", "persistentvolumeclaims": "/api/v1",
         "storageclasses": "/apis/storage.k8s.io/v1", "csinodes": "/apis/storage.k8s.io/v1",
         "csidrivers": "/apis/storage.k8s.io/v1",
         "deviceclasses": "/apis/resource.k8s.io/v1", "resourceslices": "/apis/resource.k8s.io/v1",
         "resourceclaims": "/apis/resource.k8s.io/v1",
         "resourceclaimtemplates": "/apis/resource.k8s.io/v1",
         "endpointslices": "/apis/discovery.k8s.io/v1",
         "priorityclasses": "/apis/scheduling.k8s.io/v1",
         "podgroups": "/apis/scheduling.k8s.io/v1beta1",
         "leases": "/apis/coordination.k8s.io/v1"}
MERGE = "application/merge-patch+json"
# A profile of kube-scheduler (deploy/local-cluster/servers.sh): it binds no pod to a node with the
# label NOISY, which Weft cannot know.
QUIET_NODES, NOISY = "quiet-nodes", "weft.test/noisy"
REFUSED_AS_NOISY = "scheduler-enforced node affinity"  # in kube-scheduler's message


class Cluster:
    """The API server of $KUBECONFIG, and all that has happened there since."""

    def __init__(self, watched=("pods", "trainingjobs", "placements")):
        self.server = ApiServer()
        self.history = History(watched, ROOTS)

    def close(self):
        self.history.close()

    @staticmethod
    def path(plural, space="", name=""):
        spaces = f"/namespaces/{space}" if space else ""
        return f"{ROOTS[plural]}{spaces}/{plural}" + (f"/{name}" if name else "")

    def call(self, method, path, body=None, media="application/json"):
        """The answer, which must not be a refusal; None for what is not there. Again after 429, as
        every client of Kubernetes: the server answers so while a definition is changed."""
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            status, answer = self.server.request(method, path, body and json.dumps(body), media)
            if status != 429 or time.monotonic() > end:
                break
            time.sleep(0.2)
        if status == 404:
            return None
        if status not in (200, 201, 202):
            raise AssertionError(f"{method} {path}: {status} {answer.get('message')}")
        return answer

    def get(self, plural, space, name):
        return self.call("GET", self.path(plural, space, name))

    def list(self, plural, space="", selector=""):
        suffix = f"?labelSelector={selector}" if selector else ""
        return self.call("GET", self.path(plural, space) + suffix)["items"]

    def create(self, plural, thing, query=""):
        space = thing["metadata"].get("namespace", "")
        return self.call("POST", self.path(plural, space) + query, thing)

    def patch(self, plural, space, name, change):
        return self.call("PATCH", self.path(plural, space, name), change, MERGE)

    def delete(self, plural, space, name="", options=None):
        return self.call("DELETE", self.path(plural, space, name), options or {})

    def make_noisy(self, *nodes):
        """kube-scheduler refuses pods with schedulerName QUIET_NODES there, until make_quiet."""
        for node in nodes:
            self.patch("nodes", "", node, {"metadata": {"labels": {NOISY: "yes"}}})

    def make_quiet(self):
        """Every node that is noisy."""
        for node in self.list("nodes", selector=NOISY):
            self.patch("nodes", "", node["metadata"]["name"],
                       {"metadata": {"labels": {NOISY: None}}})

    def make_namespace(self, name, labels=None):
        self.create("namespaces", {"metadata": {"name": name, "labels": labels or {}}})
        poll(lambda: self.get("serviceaccounts", name, "default"), "a service account")

    def until(self, expectation, holds, seconds=PATIENCE_SECONDS):
        """What holds() returns as soon as that is true, looked at after every change."""
        return self.history.until(expectation, holds, seconds)

    def job(self, space, name):
        return self.history.now("trainingjobs", space, name)

    def pods(self, space, job, attempt=None):
        """Of a job by worker index, as the watch shows them."""
        pods = [pod for pod in self.history.all_now("pods", space)
                if label(pod, "job-name") == job
                and attempt in (None, int(label(pod, "attempt")))]
        return sorted(pods, key=lambda pod: int(label(pod, "worker-index")))

    def until_condition(self, space, name, kind, status="True", reason=None,
                        seconds=PATIENCE_SECONDS):
        def holds():
            job = self.job(space, name)
            is_so = condition(job, kind)
            return job if is_so and is_so["status"] == status and reason in (
                None, is_so["reason"]) else None
        job = self.until(f"{space}/{name}: {kind}={status} {reason or ''}", holds, seconds)
        self.until_pods_shown(space, name)
        return job

    def until_running(self, space, name, attempt=1, seconds=PATIENCE_SECONDS):
        def holds():
            job = self.job(space, name)
            is_so = condition(job, "PodsReady")
            return job if is_so and is_so["status"] == "True" and (
                job["status"]["attempt"] == attempt) else None
        job = self.until(f"{space}/{name}: attempt {attempt} runs", holds, seconds)
        self.until_pods_shown(space, name)
        return job

    def until_pods_shown(self, space, job):
        """The watch of jobs may be ahead of that of pods: until both tell of the same time."""
        def versions(pods):
            return {pod["metadata"]["uid"]: pod["metadata"]["resourceVersion"] for pod in pods}

        def are_shown():
            try:
                there = self.list("pods", space, f"weft.dev/job-name={job}")
            except (AssertionError, *BROKEN):  # the server is down, or not ready, for a while
                return False
            return versions(there) == versions(self.pods(space, job))
        poll(are_shown, f"the watch shows the pods of {space}/{job} as they are")

    def until_no_job(self, space, name, seconds=PATIENCE_SECONDS):
        self.until(f"{space}/{name} is gone", lambda: self.job(space, name) is None, seconds)


def poll(holds, expectation, seconds=PATIENCE_SECONDS):
    """For the few things that are not watched."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := holds():
            return found
        time.sleep(0.1)
    raise AssertionError(f"not within {seconds} s: {expectation}")


def quantity(text):
    """Bytes as status has them: 131.9T."""
    units = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
    return float(text[:-1]) * units[text[-1]] if text[-1] in units else float(text)


def label(thing, name):
    return thing["metadata"].get("labels", {}).get(f"weft.dev/{name}", "")


def condition(job, kind):
    for one in (job or {}).get("status", {}).get("conditions", []):
        if one["type"] == kind:
            return one
    return None


def training_job(space, name, replicas=2, run_seconds=None, gpus=8, **spec):
    """With so many GPUs for each worker, by default a whole node's; it runs for ever where no
    run_seconds are given."""
    annotations = {} if run_seconds is None else {"weft.test/run-seconds": str(run_seconds)}
    annotations.update(spec.pop("annotations", {}))
    trainer = {"name": "trainer", "image": "registry.example/train:1",
               "command": ["torchrun", "train.py"], "resources": {"limits": {GPUS: gpus}}}
    return {
        "apiVersion": "weft.dev/v1alpha1",
        "kind": "TrainingJob",
        "metadata": {"name": name, "namespace": space},
        "spec": {
            "framework": {"type": "Torch"},
            "accelerator": {"resourceName": GPUS, "perWorker": gpus},
            "workers": {"replicas": replicas,
                        "template": {"metadata": {"annotations": annotations},
                                     "spec": {"containers": [trainer]}}},
            **spec,
        },
    }


class Operator:
    """A running weft-operator; its log is a file of its own."""

    def __init__(self, work, name, *flags):
        self.name = name
        self.log = os.path.join(work, f"{name}.log")
        # Of a flag that is given twice the last counts.
        command = [os.environ["WEFT_OPERATOR"], "--kubeconfig", os.environ["KUBECONFIG"],
                   "--probe-address", "", "--grpc-address", "", "--identity", name,
                   *flags]
        with open(self.log, "a", encoding="utf-8") as log:
            # pylint: disable-next=consider-using-with
            self.process = subprocess.Popen(command, stdout=log, stderr=log)

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """As a kubelet does; a clean end is part of what is tested."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()
                raise AssertionError("the operator ignores SIGTERM") from None
        if self.process.returncode != 0:
            raise AssertionError(f"the operator ended with {self.process.returncode}: {self.tail()}")

    def resident_kib(self):
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))

    def said(self):
        """Its whole log, for asking whether a line is in it: a line that others follow is not
        near the end for long."""
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()

    def tail(self, lines=30):
        """The end of its log, for people to read."""
        return "".join(self.said().splitlines(keepends=True)[-lines:])


def as_user(work, user, groups=("system:masters",)):
    """A kubeconfig with which the audit log tells one operator's requests from another's."""
    shown = subprocess.run(["kubectl", "config", "view", "--raw", "--minify", "-o", "json"],
                           check=True, capture_output=True)
    config = json.loads(shown.stdout)
    config["users"][0]["user"].update({"as": user, "as-groups": list(groups)})
    path = os.path.join(work, f"{user}.kubeconfig")
    with open(path, "w", encoding="utf-8", opener=lambda *file: os.open(*file, 0o600)) as file:
        json.dump(config, file)
    return path


WRITES = ("create", "update", "patch", "delete", "deletecollection")


class Audit:
    """The requests of weft-operators, from now on, as the API server logs them."""

    def __init__(self):
        self.path = os.path.join(os.path.dirname(os.environ["KUBECONFIG"]), "logs", "audit.log")
        self.begin = os.path.getsize(self.path)

    def requests(self, user=None):
        with open(self.path, encoding="utf-8") as file:
            file.seek(self.begin)
            for line in file:
                request = json.loads(line)
                name = request.get("impersonatedUser", request["user"])["username"]
                if request.get("userAgent", "").startswith("weft-operator/") and user in (
                        None, name):
                    yield request

    def writes(self, user=None):
        """But for those of the Lease."""
        return [one for one in self.requests(user) if one["verb"] in WRITES
                and one["objectRef"]["resource"] != "leases"]


class Paused:
    """with Paused(process id): it is stopped meanwhile."""

    def __init__(self, process):
        self.process = process

    def __enter__(self):
        os.kill(self.process, signal.SIGSTOP)

    def __exit__(self, *_):
        os.kill(self.process, signal.SIGCONT)


def server_process(name):
    """The process id of one of the cluster's servers."""
    folder = os.path.dirname(os.environ["KUBECONFIG"])
    with open(os.path.join(folder, "pids", name), encoding="utf-8") as file:
        return int(file.read().split()[0])


def start_managers(program, folder, *names):
    """The real managers of Kueue and others. Again where `kubectl wait` meets a definition that has
    no conditions yet, which it takes for an error."""
    for _ in range(3):
        done = subprocess.run([program, "up", "--dir", folder, *names], check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode == 0:
            return
        if "conditions accessor error" not in done.stderr:
            break
    raise AssertionError(f"{names} do not start: {done.stderr}")
