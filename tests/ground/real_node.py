"""The real nodes of a cluster of `deploy/local-cluster.sh up --real`, as faults reach them: their
processes, files and kernel namespaces."""

import contextlib
import os
import signal
import subprocess

from operator_lib import poll

FOLDER = os.path.dirname(os.environ.get("KUBECONFIG", ""))
NAME = os.path.basename(FOLDER)
LOCAL_CLUSTER = os.environ.get("WEFT_LOCAL_CLUSTER", "deploy/local-cluster.sh")
BRIDGE = "10.99.0.1"  # where every node reaches what listens in the network that joins them


def local_cluster(command, *words):
    """`deploy/local-cluster.sh` on this cluster."""
    environment = {**os.environ, "WEFT_CLUSTER_DIR": os.path.dirname(FOLDER)}
    return subprocess.run([LOCAL_CLUSTER, command, "--name", NAME, *words], check=True,
                          capture_output=True, text=True, env=environment).stdout


def process_of(part):
    """Of a server or node, as the cluster has written it down."""
    with open(os.path.join(FOLDER, "pids", part), encoding="ascii") as file:
        return int(file.read().split()[0])


def in_room(*command):
    """A command in the network that joins the nodes."""
    return ["nsenter", f"--net=/proc/{process_of('gateway')}/ns/net", *command]


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:  # a process that has just ended
        return ""


def link(path):
    try:
        return os.readlink(path)
    except OSError:
        return ""


class Node:
    """One by its name, real-1 and so on."""

    def __init__(self, name):
        self.name = name
        self.folder = os.path.join(FOLDER, "nodes", name)

    def __repr__(self):
        return self.name

    def first_process(self):
        """Inside its namespaces."""
        outside = process_of(self.name)
        return int(read(f"/proc/{outside}/task/{outside}/children").split()[0])

    def processes(self, name=None):
        """All of them, or those of a name."""
        space = link(f"/proc/{self.first_process()}/ns/pid")
        return [int(one) for one in os.listdir("/proc") if one.isdigit()
                and link(f"/proc/{one}/ns/pid") == space
                and name in (None, read(f"/proc/{one}/comm").strip())]

    def process(self, name):
        """The one of a name, as soon as it is there."""
        return poll(lambda: self.processes(name), f"{name} runs on {self.name}")[0]

    def kill(self, name, number=signal.SIGKILL):
        """Returns the process that was."""
        process = self.process(name)
        os.kill(process, number)
        return process

    def renewed(self, name, before):
        """The process in place of one that was killed."""
        return poll(lambda: [one for one in self.processes(name) if one != before],
                    f"{name} was started again on {self.name}")[0]

    def runtime_answers(self):
        try:
            return "Server" in local_cluster("exec", self.name, "ctr", "version")
        except subprocess.CalledProcessError:
            return False

    def left_of_pods(self):
        """Processes, mounts, cgroups and addresses of pods' containers, each in words."""
        first = self.first_process()
        left = [f"process {name}" for name in (read(f"/proc/{one}/comm").strip()
                                               for one in self.processes())
                if name in ("containerd-shim", "pause")]
        left += ["mount " + line.split()[1] for line in read(f"/proc/{first}/mounts").splitlines()
                 if "/var/lib/kubelet/pods/" in line or "/io.containerd.runtime" in line]
        root = f"/proc/{first}/root"
        for folder, folders, _ in os.walk(f"{root}/sys/fs/cgroup"):
            left += [f"cgroup {os.path.join(folder, one).removeprefix(root)}" for one in folders
                     if one.startswith("pod") and "/kubepods" in folder]
        addresses = f"{root}/var/lib/cni/networks/pods"
        left += [f"address {one}" for one in (os.listdir(addresses) if os.path.isdir(addresses)
                                              else []) if one.startswith("10.")]
        return left

    @contextlib.contextmanager
    def stopped(self, program):
        """Meanwhile the program does not run: kubelet, containerd or device-plugin."""
        switch = os.path.join(self.folder, "stopped", program)
        process = self.process(program)  # one that is just being started again would stay away
        with open(switch, "w", encoding="ascii"):
            pass
        try:
            os.kill(process, signal.SIGKILL)
            yield process
        finally:
            os.remove(switch)

    def make_unhealthy(self, *gpus):
        path = os.path.join(self.folder, "unhealthy")
        with open(path + ".new", "w", encoding="ascii") as file:
            file.write(" ".join(map(str, gpus)))
        os.replace(path + ".new", path)

    def lose(self):
        """Every process of it, as when its power fails. Its disk stays."""
        outside = process_of(self.name)
        os.kill(outside, signal.SIGKILL)
        poll(lambda: not os.path.exists(f"/proc/{outside}/ns/pid")
             or "Z" in read(f"/proc/{outside}/stat").rpartition(")")[2].split()[:1],
             f"{self.name} has ended")

    @staticmethod
    def bring_back():
        """All nodes that were lost."""
        local_cluster("up")

    @contextlib.contextmanager
    def configured(self, text):
        """Meanwhile its kubelet has this text at the end of its configuration."""
        path = os.path.join(self.folder, "kubelet.yaml")
        before = read(path)
        keys = {line.split(":")[0] for line in text.splitlines()}
        kept = [line for line in before.splitlines() if line.split(":")[0] not in keys]
        self.write_configuration(path, "\n".join([*kept, text, ""]))
        try:
            yield
        finally:
            self.write_configuration(path, before)

    def write_configuration(self, path, text):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        self.renewed("kubelet", self.kill("kubelet"))


def all_nodes(cluster):
    found = cluster.list("nodes", selector="weft.test/kubelet=real")
    return [Node(one["metadata"]["name"]) for one in found]
