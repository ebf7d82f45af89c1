"""Every change of some kinds of objects, recorded as the API server tells it, and the laws that
weft-operator keeps at every moment of it, whatever dies meanwhile."""

import collections
import http.client
import json
import threading
import time

from api_server import ApiServer

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
        for plural in plurals:
            server = ApiServer()
            listed = first_list(server, f"{roots[plural]}/{plural}")
            self._now[plural] = {key_of(thing): thing for thing in listed["items"]}
            path = (f"{roots[plural]}/{plural}?watch=1&timeoutSeconds=7200"
                    f"&resourceVersion={listed['metadata']['resourceVersion']}")
            threading.Thread(target=self._watch, args=(server, plural, path), daemon=True).start()

    def _watch(self, server, plural, path):
        try:
            for change in server.watch(path):
                self._record(plural, change["type"], change["object"])
            raise ConnectionError("the watch ended")
        except (OSError, ValueError, http.client.HTTPException) as error:
            with self._changed:
                self._broken = None if self._closed else f"{plural}: {error}"
                self._changed.notify_all()

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

    def until(self, expectation, holds, seconds):
        end = time.monotonic() + seconds
        with self._changed:
            while not (found := holds()):
                if self._broken:
                    raise AssertionError(f"the record has a hole: {self._broken}")
                if not self._changed.wait(max(0.0, end - time.monotonic())):
                    raise AssertionError(f"not within {seconds} s: {expectation}")
            return found


def first_list(server, path, tries=100):
    """A definition that has just been established may not be served yet."""
    for _ in range(tries):
        status, answer = server.request("GET", path)
        if status == 200:
            return answer
        time.sleep(0.1)
    raise AssertionError(f"{path}: {status} {answer}")


def key_of(thing):
    return thing["metadata"]["namespace"], thing["metadata"]["name"]


def broken_laws(changes, gpus_of_a_node=8):
    """What the changes break, each in a sentence."""
    laws = [CapacityLaw(gpus_of_a_node), OncePerWorkerLaw(), AttemptLaw(), EndLaw(), DepartureLaw()]
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
    """The pods of a job are gone before the job is."""

    def __init__(self):
        self.pods = collections.defaultdict(set)
        self.broken = []

    def look(self, change):
        uid = change.thing["metadata"]["uid"]
        if change.plural == "pods":
            job = change.thing["metadata"].get("labels", {}).get("weft.dev/job-uid")
            (self.pods[job].discard if change.type == "DELETED" else self.pods[job].add)(uid)
        elif change.plural == "trainingjobs" and change.type == "DELETED" and self.pods[uid]:
            self.broken.append(f"{key_of(change.thing)}: gone before {len(self.pods[uid])} pods")
