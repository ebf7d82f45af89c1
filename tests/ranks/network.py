"""The network of pods on one machine: a bridge in a namespace of its own, and a namespace with an
interface eth0 for each pod. Needs the rights of root, of the machine or of a user namespace."""

import ipaddress
import subprocess
import time

SUBNET = ipaddress.ip_network("10.77.0.0/16")
# What runs is killed when the thread that started it is no more.
MORTAL = ("setpriv", "--pdeathsig", "KILL")


def run(*command, **more):
    subprocess.run(command, check=True, **more)


def hold(*namespaces):
    """A process that does nothing but keep these namespaces; the caller ends it."""
    keep = [*MORTAL, "unshare", *namespaces, "sh", "-c", "echo; exec >&-; read x"]
    process = subprocess.Popen(keep, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    if not process.stdout.readline():
        raise OSError(f"no namespaces {namespaces}: exit code {process.wait()}")
    process.stdout.close()
    return process


def release(process):
    process.stdin.close()
    process.wait()


class Network:
    """The switch. Addresses are given in turn, never twice."""

    def __init__(self):
        self.switch = hold("--net")
        self.addresses = SUBNET.hosts()
        next(self.addresses)
        self.ports = 0
        self._in(self.switch, "link", "add", "name", "fabric", "type", "bridge")
        self._in(self.switch, "link", "set", "fabric", "up")

    @staticmethod
    def _in(process, *words):
        run("nsenter", "-t", str(process.pid), "-n", "ip", *words)

    def add(self, host_name):
        """A pod's namespaces (net, uts, ipc) with their address."""
        pod = hold("--net", "--uts", "--ipc")
        self.ports += 1
        port, address = f"pod{self.ports}", str(next(self.addresses))
        run("nsenter", "-t", str(pod.pid), "-n", "-u", "sh", "-euc",
            f"hostname {host_name}; ip link set lo up; "
            f"ip link add name eth0 type veth peer name {port}"
            f" netns /proc/{self.switch.pid}/ns/net;"
            f"ip address add {address}/{SUBNET.prefixlen} dev eth0; ip link set eth0 up")
        self._in(self.switch, "link", "set", port, "master", "fabric", "up")
        return pod, address

    def close(self):
        release(self.switch)


def enter(sandbox, *command):
    """The command that runs another in a pod's namespaces, and in ones of its own."""
    return [*MORTAL, "nsenter", "-t", str(sandbox.pid), "-n", "-u", "-i",
            "unshare", "--mount", "--pid", "--fork", "--kill-child", *command]


def child_of(process, seconds=10):
    """The process that `unshare --fork` made."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="utf-8") as file:
            children = file.read().split()
        if children:
            return int(children[0])
        time.sleep(0.002)
    return None
