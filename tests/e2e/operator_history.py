"""Every change of some kinds of objects, recorded as the API server tells it, and the laws that
weft-operator keeps at every moment of it, whatever dies meanwhile."""

import collections
import http.client
import json
import threading
import time

from api_server import ApiServer

# What a connection may end in, or an answer that is cut short.
BROKEN = (OSError, ValueError, http.client.HTTPException)

Change = collections.namedtuple("Change", "version plural type thing")


class History:
    """Watches from now on, each kind in a thread of its own.

    One etcd gives all kinds their versions, so changes of different kinds have an order too.
    """

    def __init__(self, plurals, roots):
        self._changed = threading.Condition()
        self._now = {plural: {} for plural in plurals}
        self._changes = []
        self._broken = None
        self._closed = False
        self._outages = False
        for plural in plurals:
            server = ApiServer()
            listed = first_list(server, f"{roots[plural]}/{plural}")
            self._now[plural] = {key_of(thing): thing for thing in listed["items"]}
            threading.Thread(target=self._watch, daemon=True, args=(
                server, f"{roots[plural]}/{plural}", plural,
                listed["metadata"]["resourceVersion"])).start()

    def _watch(self, server, path, plural, version):
        while not self._closed:  # the server ends a watch that is slow; nothing is lost by that
            try:
                for change in server.watch(f"{path}?watch=1&resourceVersion={version}"):
                    version = self._record(plural, change["type"], change["object"])
            except BROKEN as error:
                if not self._outages:
                    return self._break(f"{plural}: {error}")
                try:
                    version = self._catch_up(plural, first_list(server, path))
                except BROKEN as again:
                    return self._break(f"{plural}: {again}")
        return None

    def _break(self, why):
        with self._changed:
            self._broken = None if self._closed else why
            self._changed.notify_all()

    def expect_outages(self):
        """Of the API server: what happened meanwhile is known by its result alone."""
        self._outages = True

    def _catch_up(self, plural, listed):
        version = listed["metadata"]["resourceVersion"]
        there = {key_of(thing): thing for thing in listed["items"]}
        with self._changed:
            before = dict(self._now[plural])
        for key, thing in before.items():
            if key not in there or there[key]["metadata"]["uid"] != thing["metadata"]["uid"]:
                gone = {**thing, "metadata": {**thing["metadata"], "resourceVersion": version}}
                self._record(plural, "DELETED", gone)
        for key, thing in there.items():
            known = before.get(key, {"metadata": {}})["metadata"]
            if known.get("resourceVersion") != thing["metadata"]["resourceVersion"]:
                is_new = known.get("uid") != thing["metadata"]["uid"]
                self._record(plural, "ADDED" if is_new else "MODIFIED", thing)
        return version

    def _record(self, plural, kind, thing):
        if kind == "ERROR":
            raise ConnectionError(thing.get("message"))
        with self._changed:
            version = int(thing["metadata"]["resourceVersion"])
            self._changes.append(Change(version, plural, kind, thing))
            if kind == "DELETED":
                self._now[plural].pop(key_of(thing), None)
            else:
                self._now[plural][key_of(thing)] = thing
            self._changed.notify_all()
            return version

    def close(self):
        self._closed = True

    def now(self, plural, space, name):
        with self._changed:
            return self._now[plural].get((space, name))

    def all_now(self, plural, space=None):
        with self._changed:
            return [thing for (of, _), thing in self._now[plural].items() if space in (None, of)]

    def changes(self, space=None):
        """In the order in which they were made; a record with a hole is none."""
        with self._changed:
            if self._broken:
                raise AssertionError(f"the record has a hole: {self._broken}")
            return sorted((change for change in self._changes
                           if space in (None, change.thing["metadata"]["namespace"])),
                          key=lambda change: change.version)

    def grown_beyond(self, length, seconds):
        """How many changes there are, as soon as that is more than so many, or after the time."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._changes) > length or self._broken, seconds)
            return len(self._changes)

    def until(self, expectation, holds, seconds):
        end = time.monotonic() + seconds
        with self._changed:
            while not (found := holds()):
                if self._broken:
                    raise AssertionError(f"the record has a hole: {self._broken}")
                if not self._changed.wait(max(0.0, end - time.monotonic())):
                    raise AssertionError(f"not within {seconds} s: {expectation}")
            return found


def first_list(server, path, seconds=180):
    """A definition that has just been established, or a server that has, may not be served yet."""
    end = time.monotonic() + seconds
    while True:
        try:
            status, answer = server.request("GET", path)
        except BROKEN as error:
            status, answer = 0, error
        if status == 200:
            return answer
        if time.monotonic() > end:
            raise ConnectionError(f"{path}: {status} {answer}")
        time.sleep(0.1)


def key_of(thing):
    return thing["metadata"]["namespace"], thing["metadata"]["name"]


def broken_laws(changes, lost_nodes=(), gpus_of_a_node=8):
    """What the changes break, each in a sentence."""
    laws = [CapacityLaw(gpus_of_a_node), OncePerWorkerLaw(), AttemptLaw(), EndLaw(),
            DepartureLaw(lost_nodes)]
    for change in changes:
        for law in laws:
            law.look(change)
    return [sentence for law in laws for sentence in law.broken]


class CapacityLaw:
    """Pods that are bound and have not ended never hold more GPUs than their node has."""

    def __init__(self, gpus):
        self.gpus = gpus
        self.held = collections.defaultdict(dict)  # node -> pod -> GPUs
        self.broken = []

    def look(self, change):
        if change.plural != "pods":
            return
        pod = change.thing
        node = pod["spec"].get("nodeName")
        ended = change.type == "DELETED" or pod["status"].get("phase") in ("Succeeded", "Failed")
        if not node:
            return
        if ended:
            self.held[node].pop(pod["metadata"]["uid"], None)
            return
        self.held[node][pod["metadata"]["uid"]] = sum(
            int(container["resources"].get("requests", {}).get("nvidia.com/gpu", 0))
            for container in pod["spec"]["containers"])
        if sum(self.held[node].values()) > self.gpus:
            self.broken.append(f"{key_of(pod)}: node {node} holds too many GPUs")


class OncePerWorkerLaw:
    """One pod at most is ever created for a worker of an attempt of a job."""

    def __init__(self):
        self.seen = set()
        self.broken = []

    def look(self, change):
        if change.plural != "pods" or change.type != "ADDED":
            return
        labels = change.thing["metadata"].get("labels", {})
        if "weft.dev/job-uid" not in labels:
            return
        worker = tuple(labels[f"weft.dev/{name}"] for name in ("job-uid", "attempt", "worker-index"))
        if worker in self.seen:
            self.broken.append(f"{key_of(change.thing)}: created twice")
        self.seen.add(worker)


class AttemptLaw:
    """The attempt of a job never goes back."""

    def __init__(self):
        self.attempts = collections.defaultdict(int)
        self.broken = []

    def look(self, change):
        if change.plural != "trainingjobs":
            return
        attempt = change.thing.get("status", {}).get("attempt", 0)
        uid = change.thing["metadata"]["uid"]
        if attempt < self.attempts[uid]:
            self.broken.append(f"{key_of(change.thing)}: attempt {attempt} after "
                               f"{self.attempts[uid]}")
        self.attempts[uid] = attempt


class EndLaw:
    """A job ends once, Complete or Failed, and stays so."""

    def __init__(self):
        self.ends = collections.defaultdict(set)
        self.broken = []

    def look(self, change):
        if change.plural != "trainingjobs":
            return
        ends = {one["type"] for one in change.thing.get("status", {}).get("conditions", [])
                if one["type"] in ("Complete", "Failed") and one["status"] == "True"}
        before = self.ends[change.thing["metadata"]["uid"]]
        if len(ends) > 1 or not before <= ends:
            self.broken.append(f"{key_of(change.thing)}: {ends or 'not ended'} after {before}")
        self.ends[change.thing["metadata"]["uid"]] = ends


class DepartureLaw:
    """The pods of a job are gone before the job is; on a node that is lost nobody confirms that,
    and being deleted is enough."""

    def __init__(self, lost_nodes):
        self.lost_nodes = lost_nodes
        self.pods = collections.defaultdict(dict)  # job -> those that are there
        self.broken = []

    def look(self, change):
        uid = change.thing["metadata"]["uid"]
        if change.plural == "pods":
            pods = self.pods[change.thing["metadata"].get("labels", {}).get("weft.dev/job-uid")]
            if change.type == "DELETED":
                pods.pop(uid, None)
            else:
                pods[uid] = change.thing
        elif change.plural == "trainingjobs" and change.type == "DELETED":
            self.broken += [f"{key_of(change.thing)}: gone before its pod {in_short(pod)}"
                            for pod in self.pods[uid].values() if not self.counts_as_gone(pod)]

    def counts_as_gone(self, pod):
        return (pod["spec"].get("nodeName") in self.lost_nodes
                and "deletionTimestamp" in pod["metadata"])


def in_short(pod):
    name, status, deleted = (pod["metadata"]["name"], pod["status"].get("phase"),
                             pod["metadata"].get("deletionTimestamp"))
    return f"{name} on {pod['spec'].get('nodeName')}, {status}" + (
        f", deleted at {deleted}" if deleted else "")
