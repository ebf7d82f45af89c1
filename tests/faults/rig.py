"""A real control plane, operators whose every request goes through the fault proxy, and the laws that
look at everything that happens there."""

import base64
import collections
import http.client
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import threading
import time

import paths  # noqa: F401  pylint: disable=unused-import
import operator_lib
from operator_history import key_of
from operator_lib import Cluster, condition, free_port, poll, server_process, training_job
from operator_laws import (
    CanaryLaw, ClaimLaw, ExclusionLaw, Laws, OwnedServiceLaw, VisibleLaw, WindowLaw, gpus_of,
    has_ended, timeless)

from etcd_record import EtcdRecord
from proxy import Proxy
from rules import Plan
from write_laws import (
    CommitLaw, FreshLaw, HotLaw, LeaderLaw, OwnerLaw, PodLaw, RequestLaws, SpecLaw, UidLaw)

CANARY = "canary-5e1f0b7d"  # the value of an environment variable of every job
BIND_DEADLINE = 10
# What a gang may be partly bound for: the deadline, its pods' end, and a busy machine.
WINDOW_SECONDS = BIND_DEADLINE + 20
VISIBLE_SECONDS = 30
# An ended operator is looked for so often.
GUARD_SECONDS = 0.1
# Processes that want each processor: the rig itself keeps so many busy.
BUSY_LOAD = 3.0
RESTART_SECONDS = 900
RESTART_TRIES = 4
FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"
SERVERS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")
# The API server must store what the record can read, and keep what a stale list is of.
API_SERVER_FLAGS = "--storage-media-type=application/json --etcd-compaction-interval=0"


def processors():
    """That this process may use: a container may have fewer than the machine."""
    here = len(os.sched_getaffinity(0))
    try:
        with open("/sys/fs/cgroup/cpu.max", encoding="utf-8") as file:
            quota, period = file.read().split()
        return here if quota == "max" else min(here, max(1.0, int(quota) / int(period)))
    except (OSError, ValueError):
        return here


def patience():
    """How much longer than on a quiet machine things may take now: laws of time allow for it."""
    return max(1.0, os.getloadavg()[0] / (BUSY_LOAD * processors()))


class Clock:
    """Seconds in which nothing hard was broken: what laws of time go by."""

    def __init__(self):
        self._lock = threading.Lock()
        self._begun = time.monotonic()
        self._away = 0.0
        self._since = None  # when the outage began

    def __call__(self):
        with self._lock:
            end = time.monotonic() if self._since is None else self._since
            return end - self._begun - self._away

    def stop(self):
        with self._lock:
            if self._since is None:
                self._since = time.monotonic()

    def go_on(self):
        with self._lock:
            if self._since is not None:
                self._away += time.monotonic() - self._since
                self._since = None


class FaultCluster(Cluster):
    """Seen through etcd instead of through watches, which an API server that dies would end."""

    def __init__(self, keep=False):  # pylint: disable=super-init-not-called
        self.server = operator_lib.ApiServer()
        self.folder = os.path.dirname(os.environ["KUBECONFIG"])
        with open(os.path.join(self.folder, "ports"), encoding="utf-8") as file:
            port = int(re.search(r"etcd_port=(\d+)", file.read()).group(1))
        self.history = EtcdRecord(port, keep)

    def until(self, expectation, holds, seconds=operator_lib.PATIENCE_SECONDS):
        return super().until(expectation, holds, seconds * patience())

    def call(self, method, path, body=None, media="application/json"):
        """Tried again while the API server is away."""
        end, again = time.monotonic() + RESTART_SECONDS, False
        while True:
            try:
                return super().call(method, path, body, media)
            except (OSError, ValueError, http.client.HTTPException):
                if time.monotonic() > end:
                    raise
                again = True
                time.sleep(0.2)
            except AssertionError as error:
                if again and method == "POST" and ": 409 " in str(error):
                    return body  # it was created, and the answer lost
                if not re.search(r": (5\d\d|429) ", str(error)) or time.monotonic() > end:
                    raise
                time.sleep(0.2)


class Operator:
    """weft-operator behind the proxy, as a user of its own. It may end and be started again."""

    def __init__(self, rig, name, flags=(), environment=None, log=None, preexec=None):
        self.rig, self.name = rig, name
        self.port = free_port()
        self.log = log or os.path.join(rig.work, f"{name}.log")
        self.command = [
            os.environ["WEFT_OPERATOR"], "--kubeconfig", rig.kubeconfig(name), "--identity", name,
            "--probe-address", f"127.0.0.1:{self.port}", "--grpc-address", "",
            "--bind-deadline", str(BIND_DEADLINE), "--node-loss", "3", "--node-news", "3", *flags]
        self.environment = {**os.environ, **(environment or {})}
        self.preexec = preexec
        self.expected_end = False  # a fault ended it, or will
        self.kept = True  # started again when it has ended
        self.ends = []  # (exit status, whether it was expected)
        self.begun = 0.0
        self.start()

    def start(self):
        self.begun = time.monotonic()
        self.expected_end = False
        self.log_begins = os.path.getsize(self.log) if os.path.exists(str(self.log)) else 0
        log = self.log if hasattr(self.log, "fileno") else open(  # pylint: disable=consider-using-with
            self.log, "a", encoding="utf-8")
        try:
            # pylint: disable-next=consider-using-with,subprocess-popen-preexec-fn
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log,
                                            env=self.environment, preexec_fn=self.preexec)
        finally:
            if log is not self.log:
                log.close()

    def running(self):
        return self.process.poll() is None

    def signal(self, number, ends=True):
        self.expected_end = self.expected_end or ends
        if self.running():
            self.process.send_signal(number)

    def stop(self, seconds=30):
        """Asked to end; the seconds that it took."""
        begun = time.monotonic()
        self.signal(signal.SIGTERM)
        self.process.wait(seconds)
        return time.monotonic() - begun

    def get(self, path):
        """(status, text) of one of its own pages; 0 where it does not answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except (OSError, http.client.HTTPException) as error:
            return 0, str(error)
        finally:
            connection.close()

    def metrics(self):
        """{(name, labels as text): value}"""
        status, text = self.get("/metrics")
        lines = text.splitlines() if status == 200 else []
        found = (re.match(r"(\w+)(?:\{(.*)\})? (\S+)$", line) for line in lines)
        return {(one[1], one[2] or ""): float(one[3]) for one in found if one}

    def resident_kib(self):
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def whole_log(self, begin=0):
        if hasattr(self.log, "fileno"):
            return ""
        with open(self.log, encoding="utf-8", errors="replace") as log:
            log.seek(begin)
            return log.read()

    def log_of_this_life(self):
        return self.whole_log(self.log_begins)

    def tail(self, lines=20):
        return "\n".join(self.whole_log().splitlines()[-lines:])


class Rig:
    """with Rig(seed) as rig: operators are started by the caller, and ended with it."""

    def __init__(self, name, seed=0, keep=False, window_seconds=WINDOW_SECONDS,
                 visible_seconds=VISIBLE_SECONDS):
        self.name = name  # that of its operators begins with it
        self.patience = patience()
        self.seed = seed
        self.how = {}  # of the operators that scenarios start themselves
        self.figures = {}  # what was measured
        self.fired = collections.Counter()  # faults that are not the proxy's
        self.spaces = []  # where jobs are
        self.said = []  # violations that scenarios found themselves
        self.folder = tempfile.TemporaryDirectory(prefix="weft-faults-")
        self.work = self.folder.name
        self.operators = []
        self.clock = Clock()
        self.leader_law = LeaderLaw()
        self.hot_law = HotLaw()
        self.window_law = WindowLaw(window_seconds * self.patience)
        self.laws = Laws(*timeless(), ClaimLaw(), self.window_law, OwnedServiceLaw(), ExclusionLaw(),
                         CanaryLaw(CANARY), VisibleLaw(visible_seconds * self.patience), clock=self.clock)
        self.request_laws = RequestLaws(UidLaw(), CommitLaw(), OwnerLaw(), SpecLaw(), PodLaw(),
                                        self.hot_law, self.leader_law)
        self.fresh_law = FreshLaw()
        self.writes = []  # of operators, of jobs; times and what they are about
        self._lock = threading.Lock()
        self.cluster = FaultCluster(keep)
        # What a run that was broken off left.
        for space in {key_of(job)[0] for job in self.cluster.history.all_now("trainingjobs")}:
            self.wipe(space)
        self.cluster.make_quiet()
        with self.cluster.history._changed:  # pylint: disable=protected-access
            for change in self.cluster.history.first():
                self.laws.see(change)
            self.cluster.history.observers.append(self._see)
        # Of an operator that was killed: nobody need wait for its end.
        self.cluster.delete("leases", "weft-system", "weft-operator")
        self.cluster.until("the Lease is free", lambda: not self.holder())
        self.plan = Plan(seed)
        trace = open(os.path.join(self.work, "trace.jsonl"), "w",  # pylint: disable=consider-using-with
                     encoding="utf-8")
        certificates = os.path.join(self.cluster.folder, "certificates")
        server = self.cluster.server
        self.proxy = Proxy(
            lambda: http.client.HTTPSConnection(
                server._host, server._port, context=server._tls, timeout=90),  # pylint: disable=protected-access
            (f"{certificates}/server.crt", f"{certificates}/server.key"), self.plan,
            (lambda ask: self._see_ask(ask), self._see_write), trace)
        self._ended = threading.Event()
        threading.Thread(target=self._guard, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._ended.set()
        for operator in self.operators:
            operator.signal(signal.SIGCONT)
            operator.signal(signal.SIGKILL)
            operator.process.wait()
        self.proxy.close()
        self.cluster.close()
        if kept := os.environ.get("WEFT_FAULTS_LOGS"):
            shutil.copytree(self.work, os.path.join(kept, self.name), dirs_exist_ok=True)
        self.folder.cleanup()

    def _see(self, change):
        self.laws.see(change)

    def _see_ask(self, ask):
        if ask.verb in ("list", "watch"):
            with self._lock:
                self.fresh_law.look(_Asked(ask), self.laws.world)

    def _see_write(self, write):
        with self._lock:
            self.request_laws.see(write, self.laws.world)
            if write.ask.resource not in ("leases",):
                self.writes.append((write.received, write.ask.client, write.ask.verb,
                                    write.ask.resource, write.ask.space, write.ask.name,
                                    write.ask.dry, write.status))

    def _guard(self):
        """As a kubelet: what has ended is started again. Time passes for the laws."""
        while not self._ended.wait(GUARD_SECONDS):
            with self.cluster.history._changed:  # pylint: disable=protected-access
                self.laws.tick()
            with self._lock:
                self.leader_law.judge(time.monotonic())
            for operator in list(self.operators):
                if operator.running() or not operator.kept or self._ended.is_set():
                    continue
                lost_lead = (operator.process.returncode == 1
                             and "lost the lead" in operator.log_of_this_life())
                operator.ends.append((operator.process.returncode,
                                      operator.expected_end or lost_lead))
                operator.start()

    def kubeconfig(self, user):
        authority = os.path.join(self.cluster.folder, "certificates", "ca.crt")
        with open(authority, "rb") as file:
            data = base64.b64encode(file.read()).decode()
        config = {"apiVersion": "v1", "kind": "Config", "current-context": "rig",
                  "clusters": [{"name": "rig", "cluster": {
                      "server": f"https://127.0.0.1:{self.proxy.port}",
                      "certificate-authority-data": data}}],
                  "users": [{"name": "rig", "user": {"token": CANARY + "-token", "as": user,
                                                     "as-groups": ["system:masters"]}}],
                  "contexts": [{"name": "rig", "context": {"cluster": "rig", "user": "rig"}}]}
        path = os.path.join(self.work, f"{user}.kubeconfig")
        with open(path, "w", encoding="utf-8", opener=lambda *file: os.open(*file, 0o600)) as file:
            json.dump(config, file)
        return path

    def start_operator(self, name, flags=(), **how):
        operator = Operator(self, name, flags, **how)
        self.operators.append(operator)
        return operator

    def remove(self, operator):
        """For good."""
        self.operators.remove(operator)
        operator.signal(signal.SIGCONT)
        operator.signal(signal.SIGKILL)
        operator.process.wait()

    def holder(self):
        lease = self.cluster.history.now("leases", "weft-system", "weft-operator")
        return (lease or {}).get("spec", {}).get("holderIdentity", "")

    def leader(self):
        return next((one for one in self.operators if one.name == self.holder()), None)

    def until_led(self, by=None, seconds=60):
        """By one of these; the seconds that it took."""
        begun = time.monotonic()
        names = [one.name for one in (by or self.operators)]
        self.cluster.until(f"one of {names} leads", lambda: self.holder() in names, seconds)
        return time.monotonic() - begun

    def namespace(self, name):
        """Made anew, where an earlier run left one of that name."""
        self.cluster.delete("namespaces", "", name)
        poll(lambda: self.cluster.get("namespaces", "", name) is None, f"the old {name} is gone")
        self.cluster.make_namespace(name)
        return name

    def until_ready(self):
        """Every operator says that it is."""
        poll(lambda: all(one.get("/readyz")[0] == 200 for one in self.operators), "all are ready")

    def until_asked(self, verb, plural, space, status=None, times=1, seconds=60):
        """Operators have asked for such a write so often."""
        def asked():
            with self._lock:
                return sum(1 for one in self.writes if one[2:5] == (verb, plural, space)
                           and status in (None, one[7])) >= times
        poll(asked, f"{times} times {verb} {plural} in {space}", seconds)

    @staticmethod
    def job(space, name, replicas=2, run_seconds=None, template=None, **spec):
        """With a secret in its environment."""
        job = training_job(space, name, replicas, run_seconds, **spec)
        pod = job["spec"]["workers"]["template"]["spec"]
        pod["containers"][0]["env"] = [{"name": "PASSWORD", "value": CANARY}]
        pod.update({"terminationGracePeriodSeconds": 1, **(template or {})})
        return job

    def apply(self, space, name, replicas=2, run_seconds=None, **spec):
        return self.cluster.create("trainingjobs", self.job(
            space, name, replicas, run_seconds, **spec))

    def has_ended(self, space, name, how="Complete"):
        job = self.cluster.job(space, name)
        return (condition(job, how) or {}).get("status") == "True"

    def until_ended(self, space, name, how="Complete", seconds=60):
        self.cluster.until(f"{space}/{name} is {how}", lambda: self.has_ended(space, name, how),
                           seconds)

    def clean(self, space):
        """Ends the operators, and whatever is left of the namespace."""
        self._ended.set()
        for operator in self.operators:
            operator.signal(signal.SIGCONT)
            operator.signal(signal.SIGKILL)
            operator.process.wait()
        self.plan.set()
        self.wipe(space)

    def wipe(self, space):
        """Whatever no operator is there for to end."""
        history, now = self.cluster.history, {"gracePeriodSeconds": 0}
        for job in history.all_now("trainingjobs", space):
            name = job["metadata"]["name"]
            self.cluster.delete("trainingjobs", space, name)
            if self.cluster.get("trainingjobs", space, name):
                self.cluster.patch("trainingjobs", space, name, {"metadata": {"finalizers": None}})
        for plural in ("pods", "placements"):
            self.cluster.delete(plural, space, options=now)
        self.cluster.until("nothing holds nodes any more", lambda: not (
            history.all_now("pods", space) or history.all_now("placements", space)))
        self.cluster.delete("namespaces", "", space)

    # What is done to the control plane.

    def signal_server(self, name, number):
        os.kill(server_process(name), number)

    def start_servers(self):
        """Those that have died. Somebody's connection may have taken a dead server's port meanwhile."""
        environment = {**os.environ, "WEFT_API_SERVER_FLAGS": API_SERVER_FLAGS}
        up = [os.environ["WEFT_LOCAL_CLUSTER"], "up", "--name", os.path.basename(self.cluster.folder)]
        for _ in range(RESTART_TRIES):
            done = subprocess.run(up, capture_output=True, text=True, timeout=RESTART_SECONDS,
                                  check=False, env=environment)
            if done.returncode == 0:
                return
        raise AssertionError(f"local-cluster up: {done.stderr}")

    def annotate_node(self, name, key, value):
        self.cluster.patch("nodes", "", name, {"metadata": {"annotations": {key: value}}})

    def put_back(self, node):
        """A node that was deleted."""
        kept = ("name", "labels", "annotations")
        self.cluster.create("nodes", {
            "apiVersion": "v1", "kind": "Node", "spec": {},
            "metadata": {key: node["metadata"][key] for key in kept if key in node["metadata"]},
            "status": {key: node["status"][key] for key in ("capacity", "allocatable")}})

    def clock_of_its_own(self):
        """Environment of an operator whose clock set_clock moves."""
        self.set_clock(0)
        return {"LD_PRELOAD": FAKETIME, "FAKETIME_TIMESTAMP_FILE": self.clock_file,
                "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}

    @property
    def clock_file(self):
        return os.path.join(self.work, "clock")

    def set_clock(self, seconds_ahead):
        with open(self.clock_file + ".new", "w", encoding="utf-8") as file:
            file.write(f"{seconds_ahead:+d}\n")
        os.rename(self.clock_file + ".new", self.clock_file)

    def limit_memory(self, operator, more_bytes):
        """It may take so much more address space than it has now."""
        with open(f"/proc/{operator.process.pid}/statm", encoding="utf-8") as file:
            size = int(file.read().split()[0]) * resource.getpagesize()
        operator.expected_end = True
        resource.prlimit(operator.process.pid, resource.RLIMIT_AS,
                         (size + more_bytes, resource.RLIM_INFINITY))

    # How it ends.

    def say(self, law, sentence):
        self.said.append(f"{law}: {sentence}")

    def truth(self):
        """What the leader's copy of the cluster and the API server say differently."""
        told, history = self.leader().metrics(), self.cluster.history
        jobs = {(match[2], match[1]) for name, labels in told if name == "weft_trainingjob_info"
                if (match := re.search(
                    r'trainingjob="([^"]*)",trainingjob_namespace="([^"]*)"', labels))}
        there = {(one["metadata"]["namespace"], one["metadata"]["name"])
                 for one in history.all_now("trainingjobs")}
        used = sum(value for (name, labels), value in told.items()
                   if name == "weft_fabric_accelerators" and 'state="used"' in labels)
        held = sum(gpus_of(pod) for pod in history.all_now("pods")
                   if pod["spec"].get("nodeName") and not has_ended(pod))
        return [text for text in (
            f"jobs {sorted(jobs ^ there)}" if jobs != there else "",
            f"{used:.0f} GPUs in use, not {held}" if used != held else "") if text]

    def last_writes(self, count):
        with self._lock:
            return [one[1:] for one in self.writes if one[3] != "events"][-count:]

    def falls_quiet(self, seconds, within):
        """Whether there comes a time of so many seconds without a write, but for Lease and events."""
        end = time.monotonic() + seconds + within
        while time.monotonic() < end:
            with self._lock:
                last = max((one[0] for one in self.writes if one[3] != "events"), default=0.0)
            left = last + seconds - time.monotonic()
            if left <= 0:
                return True
            time.sleep(min(left, 1.0))
        return False

    def judge_truth(self, seconds=15):
        """At rest the operator sees what is there (I16)."""
        end = time.monotonic() + seconds
        while (wrong := self.truth()) and time.monotonic() < end:
            time.sleep(0.2)
        if wrong:
            self.say("I16", "; ".join(wrong))

    def broken(self):
        """Every violation, in a sentence each."""
        with self._lock:
            self.leader_law.judge(time.monotonic() + self.leader_law.behind_seconds)
            found = self.said + self.request_laws.broken + self.fresh_law.broken
        with self.cluster.history._changed:  # pylint: disable=protected-access
            self.laws.tick()
            found += self.laws.broken
        for operator in self.operators:
            found += [f"I18: {operator.name} ended with {status}" for status, expected in
                      operator.ends if not expected]
            if CANARY in operator.whole_log():
                found.append(f"I17: the log of {operator.name} tells a secret")
            if CANARY in operator.get("/metrics")[1]:
                found.append(f"I17: the metrics of {operator.name} tell a secret")
        return found


class _Asked:  # pylint: disable=too-few-public-methods
    """A request that is no write, as request laws want it."""

    def __init__(self, ask):
        self.ask, self.status, self.fault = ask, 0, ""


__all__ = ["BIND_DEADLINE", "CANARY", "Rig", "condition", "poll", "training_job"]
