"""One pod: its sandbox, its containers in turn, and what is reported of them."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

import network
from volumes import Volumes, field_of

HERE = os.path.dirname(os.path.abspath(__file__))
MESSAGE_BYTES = 4096  # of a termination message, as the kubelet cuts it
START_FAILED = 128    # container.py's exit code for a command that is not there


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def expand(text, environment):
    """$(NAME), as Kubernetes does in commands and values; $$ is $."""
    def value(match):
        if match.group(0) == "$$":
            return "$"
        return environment.get(match.group(1), match.group(0))
    return re.sub(r"\$\$|\$\(([A-Za-z_][-.A-Za-z0-9_]*)\)", value, text)


class Container:
    """A container of the spec, and its process once it runs."""

    def __init__(self, pod, spec):
        self.pod, self.spec, self.name = pod, spec, spec["name"]
        self.folder = os.path.join(pod.folder, "container-" + self.name)
        os.makedirs(os.path.join(self.folder, "root"))
        self.log = os.path.join(self.folder, "log")
        self.message = os.path.join(self.folder, "termination")
        for path in (self.log, self.message):
            with open(path, "x", encoding="utf-8"):
                pass
        self.process, self.inside = None, None
        self.state = {"waiting": {"reason": "ContainerCreating"}}

    def environment(self, image):
        """What the image brings, then the spec's in its order."""
        environment = {**image["environment"], "HOSTNAME": self.pod.host_name}
        for one in self.spec.get("env", []):
            if "valueFrom" in one:
                path = one["valueFrom"]["fieldRef"]["fieldPath"]
                environment[one["name"]] = field_of(self.pod.pod, path)
            else:
                environment[one["name"]] = expand(one.get("value", ""), environment)
        return environment

    def plan(self):
        image = self.pod.kubelet.images.get(self.spec["image"])
        environment = self.environment(image)
        mounts = [{"path": "/etc/hosts", "source": self.pod.hosts_file, "read_only": True},
                  {"path": self.spec.get("terminationMessagePath", "/dev/termination-log"),
                   "source": self.message}, *self.pod.volumes.mounts(self.spec)]
        command = self.spec.get("command", []) + self.spec.get("args", [])
        return {"command": [expand(word, environment) for word in command],
                "environment": environment, "folder": self.spec.get("workingDir", "/"),
                "root": os.path.join(self.folder, "root"), "mounts": mounts,
                "image_folders": image["folders"]}

    def start(self):
        path = os.path.join(self.folder, "plan.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.plan(), file)
        enter = network.enter(self.pod.sandbox, sys.executable, "-B",
                              os.path.join(HERE, "container.py"), path)
        with open(self.log, "ab") as log:
            # pylint: disable-next=consider-using-with
            self.process = subprocess.Popen(enter, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            start_new_session=True)
        self.inside = network.child_of(self.process)
        self.state = {"running": {"startedAt": now()}}

    def signal(self, number):
        if self.process is None or self.process.poll() is not None:
            return
        try:
            os.kill(self.inside if self.inside else self.process.pid, number)
        except ProcessLookupError:
            pass

    def wait(self):
        """The exit code, once the state tells it."""
        code = self.process.wait()
        code = 128 - code if code < 0 else code
        with open(self.message, "rb") as file:
            message = file.read()[-MESSAGE_BYTES:].decode(errors="replace")
        reason = "Completed" if code == 0 else "Error"
        if code == START_FAILED and not message:
            with open(self.log, encoding="utf-8", errors="replace") as log:
                last = log.read().strip().rsplit("\n", maxsplit=1)[-1]
            if last.startswith("exec: "):
                reason, message = "StartError", (
                    "failed to create containerd task: failed to create shim task: OCI runtime "
                    f"create failed: runc create failed: unable to start container process: {last}")
        started = self.state.get("running", {}).get("startedAt", now())
        self.state = {"terminated": {"exitCode": code, "reason": reason, "message": message,
                                     "startedAt": started, "finishedAt": now()}}
        return code

    def status(self):
        return {"name": self.name, "image": self.spec["image"], "imageID": "", "restartCount": 0,
                "ready": "running" in self.state, "started": "running" in self.state,
                "state": self.state}


class PodRuntime:
    """From the first sight of a pod to its end, in a thread of its own."""

    def __init__(self, kubelet, pod):
        self.kubelet, self.pod = kubelet, pod
        meta, spec = pod["metadata"], pod["spec"]
        self.folder = os.path.join(kubelet.work, meta["uid"])
        os.makedirs(self.folder)
        self.host_name = spec.get("hostname", meta["name"])
        self.hosts_file = os.path.join(self.folder, "hosts")
        self.sandbox = self.address = self.volumes = None
        self.phase, self.started_at, self.running_since = "Pending", now(), None
        self.grace, self.ending = 30, threading.Event()
        self.init = [Container(self, one) for one in spec.get("initContainers", [])]
        self.containers = [Container(self, one) for one in spec["containers"]]
        self.thread = threading.Thread(target=self._live, daemon=True)

    def start(self):
        self.thread.start()

    def join(self):
        self.thread.join(60)

    def end(self, grace):
        """Once asked, another time only sooner."""
        self.grace = min(self.grace, grace) if self.ending.is_set() else grace
        self.ending.set()

    def log(self, container=None):
        one = next(c for c in self.init + self.containers if container in (None, c.name)
                   and (container or c in self.containers))
        with open(one.log, encoding="utf-8", errors="replace") as file:
            return file.read()

    def write_hosts(self):
        if self.address is None:
            return
        space, spec = self.pod["metadata"]["namespace"], self.pod["spec"]
        own = self.host_name
        if spec.get("subdomain"):
            own = f"{own}.{spec['subdomain']}.{space}.svc.cluster.local {own}"
        content = f"127.0.0.1 localhost\n{self.address} {own}\n{self.kubelet.hosts}".encode()
        # In place: it is mounted in the containers.
        with open(self.hosts_file, "r+b" if os.path.exists(self.hosts_file) else "wb") as file:
            file.write(content)
            file.truncate()

    def _live(self):
        try:
            with self.kubelet.lock:
                self.sandbox, self.address = self.kubelet.network.add(self.host_name)
                self.write_hosts()
            self.pod["status"]["podIP"] = self.address
            self.volumes = Volumes(self.kubelet.cluster, self.pod,
                                   os.path.join(self.folder, "volumes"))
            self._report()
            if self._run_init():
                self._run()
        except Exception as error:  # pylint: disable=broad-except
            print(f"pod {self.pod['metadata']['name']}: {error!r}", file=sys.stderr, flush=True)
            self.phase = "Failed"
            self._report()
        finally:
            self._leave()

    def _run_init(self):
        for container in self.init:
            if self.ending.is_set() or not self._images_there(container):
                return False
            container.start()
            self._await([container])
            if container.state["terminated"]["exitCode"] != 0:
                self.phase = "Failed"
                self._report()
                return False
        return True

    def _images_there(self, *containers):
        """A pod whose image is not to be had waits, until somebody deletes it."""
        missing = [one for one in containers
                   if self.kubelet.images.get(one.spec["image"]) is None]
        for one in missing:
            one.state = {"waiting": {"reason": "ErrImagePull", "message":
                                     f"{one.spec['image']}: not found"}}
        if missing:
            self._report()
            self.ending.wait()
        return not missing

    def _run(self):
        if self.ending.is_set() or not self._images_there(*self.containers):
            return
        for container in self.containers:
            container.start()
        self.running_since = time.time()
        self.phase = "Running"
        self._report()
        self._await(self.containers)
        failed = any(one.state["terminated"]["exitCode"] != 0 for one in self.containers)
        self.phase = "Failed" if failed else "Succeeded"
        self._report()

    def _await(self, containers):
        """Until all have ended, by themselves or because the pod is to end."""
        waiting = [threading.Thread(target=one.wait, daemon=True) for one in containers]
        for thread in waiting:
            thread.start()
        stopper = threading.Thread(target=self._stop, args=(containers, waiting), daemon=True)
        stopper.start()
        for thread in waiting:
            thread.join()

    def _stop(self, containers, waiting):
        self.ending.wait()
        asked = time.monotonic()
        for one in containers:
            one.signal(signal.SIGTERM)
        while any(thread.is_alive() for thread in waiting):
            if time.monotonic() - asked >= self.grace:
                for one in containers:
                    one.signal(signal.SIGKILL)
            for thread in waiting:
                thread.join(0.05)

    def _leave(self):
        for one in self.init + self.containers:
            one.signal(signal.SIGKILL)
        if self.sandbox and self.phase in ("Succeeded", "Failed"):
            pass  # its address stays readable until the pod is deleted
        self.ending.wait()
        if self.sandbox:
            network.release(self.sandbox)
        self._report()
        self.kubelet.remove(self.pod)
        self.kubelet.cluster.server.close()

    def _report(self):
        ready = self.phase == "Running"
        initialised = ready or self.phase == "Succeeded" or all(
            one.state.get("terminated", {}).get("exitCode") == 0 for one in self.init)
        conditions = [{"type": name, "status": "True" if holds else "False",
                       "lastTransitionTime": now()}
                      for name, holds in (("PodScheduled", True), ("Initialized", initialised),
                                          ("ContainersReady", ready), ("Ready", ready))]
        status = {"phase": self.phase, "startTime": self.started_at, "conditions": conditions,
                  "hostIP": "10.77.0.1",
                  "containerStatuses": [one.status() for one in self.containers],
                  "initContainerStatuses": [one.status() for one in self.init]}
        if self.address:
            status.update(podIP=self.address, podIPs=[{"ip": self.address}])
        self.kubelet.report(self.pod, status)
