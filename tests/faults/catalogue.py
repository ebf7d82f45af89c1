"""The faults that are injected, one by one or by chance: each begins, lasts for a while and ends, and
leaves the cluster as it found it."""

import contextlib
import signal
import socket

import paths  # noqa: F401  pylint: disable=unused-import
from operator_laws import has_ended
from operator_lib import poll
from rules import Rule

WRITES = ("create", "update", "patch", "delete")
READS = ("list", "watch")


class Fault:
    """While `hard`, laws of time wait: nothing can go on. While `deaf`, the API server does not answer:
    nothing can be asked of it."""

    hard = False
    deaf = False

    def __init__(self, name, seconds=4.0):
        self.name, self.seconds = name, seconds

    def begin(self, rig):
        raise NotImplementedError

    def end(self, rig):
        raise NotImplementedError


class Rules(Fault):
    """Of the proxy, in force for a while."""

    def __init__(self, name, *rules, seconds=4.0):
        super().__init__(name, seconds)
        self.rules = rules

    def begin(self, rig):
        rig.plan.set(*self.rules)

    def end(self, rig):
        rig.plan.set()


class Cut(Fault):
    """Every watch breaks at once, and what follows is as the rules say."""

    def begin(self, rig):
        rig.proxy.cut_watches()
        rig.fired[self.name] += 1

    def end(self, rig):
        pass


class Signal(Fault):
    """A server is stopped for a while, or killed and started again."""

    hard = True

    def __init__(self, server, number, seconds=4.0):
        super().__init__(f"{signal.Signals(number).name} {server}", seconds)
        self.server, self.number = server, number
        self.deaf = server in ("etcd", "kube-apiserver")

    def begin(self, rig):
        rig.signal_server(self.server, self.number)
        rig.fired[self.name] += 1

    def end(self, rig):
        if self.number == signal.SIGSTOP:
            rig.signal_server(self.server, signal.SIGCONT)
        else:
            rig.start_servers()


class Leader(Fault):
    """The leading operator is killed, asked to go, or stopped until another has taken over."""

    hard = True

    def __init__(self, number, seconds=0.0):
        super().__init__(f"{signal.Signals(number).name} operator", seconds)
        self.number, self.hit = number, None

    def begin(self, rig):
        self.hit = rig.leader() or rig.operators[0]
        self.hit.signal(self.number, ends=self.number != signal.SIGSTOP)
        rig.fired[self.name] += 1

    def end(self, rig):
        if self.number == signal.SIGSTOP:
            self.hit.signal(signal.SIGCONT, ends=False)
        with contextlib.suppress(AssertionError):
            rig.until_led()


class Memory(Fault):
    """The leading operator may take no more memory than it has."""

    hard = True

    def begin(self, rig):
        self.hit = rig.leader() or rig.operators[0]  # pylint: disable=attribute-defined-outside-init
        self.ends = len(self.hit.ends)  # pylint: disable=attribute-defined-outside-init
        rig.limit_memory(self.hit, 0)
        rig.fired[self.name] += 1

    def end(self, rig):
        """What it needs no more of does not kill it: then the next fault begins with it as it is."""
        if len(self.hit.ends) == self.ends:
            self.hit.signal(signal.SIGKILL)
        rig.until_led()


class Node(Fault):
    """A node where something runs is deleted, falls ill, is cordoned, or refuses its pods."""

    def __init__(self, how, seconds=5.0):
        super().__init__(f"node {how}", seconds)
        self.how, self.node = how, None

    def begin(self, rig):
        pods = [pod for pod in rig.cluster.history.all_now("pods") if pod["spec"].get("nodeName")
                and not has_ended(pod)]
        name = pods[0]["spec"]["nodeName"] if pods else rig.cluster.list("nodes")[0]["metadata"][
            "name"]
        self.node = rig.cluster.get("nodes", "", name)
        rig.fired[self.name] += 1
        change = {"deleted": lambda: rig.cluster.delete("nodes", "", name),
                  "not ready": lambda: rig.annotate_node(name, "weft.test/ready", "false"),
                  "cordoned": lambda: rig.cluster.patch("nodes", "", name,
                                                        {"spec": {"unschedulable": True}}),
                  "refuses pods": lambda: self.refuse(rig, name)}
        change[self.how]()

    @staticmethod
    def refuse(rig, name):
        """As a kubelet whose device plugin is sick."""
        for pod in rig.cluster.history.all_now("pods"):
            if pod["spec"].get("nodeName") != name or has_ended(pod):
                continue
            meta = pod["metadata"]
            with contextlib.suppress(AssertionError):  # it may be gone or have ended by now
                rig.cluster.call(
                    "PATCH", rig.cluster.path("pods", meta["namespace"], meta["name"]) + "/status",
                    {"status": {"phase": "Failed", "reason": "UnexpectedAdmissionError",
                                "message": "Allocate failed: device plugin"}},
                    "application/merge-patch+json")

    def end(self, rig):
        name = self.node["metadata"]["name"]
        if self.how == "deleted":
            rig.put_back(self.node)
        elif self.how == "not ready":
            rig.annotate_node(name, "weft.test/ready", None)
        elif self.how == "cordoned":
            rig.cluster.patch("nodes", "", name, {"spec": {"unschedulable": None}})
        poll(lambda: is_well(rig.cluster.get("nodes", "", name)), f"{name} is well again")


def is_well(node):
    return node is not None and any(
        one["type"] == "Ready" and one["status"] == "True"
        for one in node["status"].get("conditions", [])) and not node["spec"].get("taints")


class Webhook(Fault):
    """One that must be asked about every pod, and never answers."""

    def __init__(self, seconds=4.0):
        super().__init__("webhook", seconds)
        self.listener = None

    def begin(self, rig):
        self.listener = socket.create_server(("127.0.0.1", 0))
        rig.fired[self.name] += 1
        port = self.listener.getsockname()[1]
        rig.cluster.call("POST", WEBHOOKS, {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "silent"},
            "webhooks": [{
                "name": "silent.example.com", "admissionReviewVersions": ["v1"],
                "sideEffects": "None", "timeoutSeconds": 1, "failurePolicy": "Fail",
                "clientConfig": {"url": f"https://127.0.0.1:{port}/"},
                "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
                           "resources": ["pods"]}]}]})

    def end(self, rig):
        rig.cluster.call("DELETE", WEBHOOKS + "/silent", {})
        self.listener.close()


WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"


class Quota(Fault):
    """A namespace may have no more pods than it has, for a while."""

    def __init__(self, seconds=5.0):
        super().__init__("quota", seconds)

    def begin(self, rig):
        for number, space in enumerate(rig.spaces):
            rig.fired[self.name] += 1
            rig.cluster.create("resourcequotas", {
                "metadata": {"name": "passing", "namespace": space},
                "spec": {"hard": {"pods": str(number)}}})

    def end(self, rig):
        for space in rig.spaces:
            rig.cluster.delete("resourcequotas", space, "passing")


class ClockJump(Fault):
    """The clock of the operators that were started with one of their own jumps, and jumps back."""

    def __init__(self, seconds_ahead, seconds=4.0):
        super().__init__(f"clock {seconds_ahead:+d} s", seconds)
        self.ahead = seconds_ahead

    def begin(self, rig):
        rig.set_clock(self.ahead)
        rig.fired[self.name] += 1

    def end(self, rig):
        rig.set_clock(0)


def requests(share=0.2):
    """Faults of single requests."""
    def some(name, action, rate=share, **how):
        return Rules(name, Rule(name, action, rate=rate, **how))
    return [
        some("delay", "delay", seconds=1.0, verbs=WRITES),
        some("drop", "drop"),
        some("reset after apply", "reset", verbs=WRITES),
        some("hang", "hang", seconds=3.0, verbs=WRITES),
        some("hold reply", "hold", seconds=2.0, verbs=WRITES),
        some("slow body", "slow", seconds=1.0),
        some("truncated body", "truncate"),
        some("409", "status", code=409, verbs=("patch", "update")),
        # Reads are few.
        some("410 on a request", "status", rate=max(share, 0.5), code=410, verbs=READS),
        some("429 with Retry-After", "status", code=429, retry_after="1"),
        some("429", "status", code=429),
        some("500", "status", code=500),
        some("503 with Retry-After", "status", code=503, retry_after="1"),
        some("503", "status", code=503),
        some("504", "status", code=504),
        some("401", "status", code=401),
    ]


def watches(share=0.2):
    """Faults of watches."""
    def some(name, action, rate=share, **how):
        return Rules(name, Rule(name, action, rate=rate, **how))
    return [
        some("duplicated events", "duplicate"), some("split events", "split"),
        some("event cut short", "cut"), some("watch closed", "close"),
        some("410 in a watch", "gone"), some("events late", "stall", seconds=1.0),
        Cut("all watches cut"),
        Rules("half-open watches", Rule("half-open watches", "silence", rate=share, seconds=40.0,
                                        most=2), seconds=6.0),
    ]


def processes():
    return [
        Signal("kube-apiserver", signal.SIGKILL, 0.5), Signal("kube-apiserver", signal.SIGSTOP),
        Signal("etcd", signal.SIGKILL, 0.5), Signal("etcd", signal.SIGSTOP),
        Signal("kube-scheduler", signal.SIGKILL, 2.0), Signal("kube-scheduler", signal.SIGSTOP),
        Signal("kube-controller-manager", signal.SIGKILL, 2.0),
        Signal("kube-controller-manager", signal.SIGSTOP),
    ]


def leaders():
    return [Leader(signal.SIGKILL), Leader(signal.SIGTERM), Leader(signal.SIGSTOP, 18.0),
            Leader(signal.SIGSTOP, 3.0), Memory("memory limit", 3.0)]


def world():
    return [Node("deleted"), Node("not ready"), Node("cordoned"), Node("refuses pods", 0.0),
            Webhook(), Quota()]


def clocks():
    return [ClockJump(61), ClockJump(-61), ClockJump(3600), ClockJump(-3600)]
