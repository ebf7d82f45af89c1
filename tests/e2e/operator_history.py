"""Every change of some kinds of objects, recorded as the API server tells it."""

import collections
import http.client
import json
import threading
import time

from api_server import ApiServer

# What a connection may end in, or an answer that is cut short.
BROKEN = (OSError, ValueError, http.client.HTTPException)

RESUMES = 100  # of a watch that has broken, ten a second

Change = collections.namedtuple("Change", "version plural type thing")


class Record:
    """What is there now of some kinds of objects, and how it came about.

    With keep=False the changes are shown to the observers, in order, and then forgotten.
    """

    def __init__(self, plurals, keep=True):
        self._changed = threading.Condition()
        self._now = {plural: {} for plural in plurals}
        self._changes = []
        self._count = 0
        self._keep = keep
        self._broken = None
        self._closed = False
        self.observers = []  # called with every change, from the thread that records it

    def _break(self, why):
        with self._changed:
            self._broken = None if self._closed else why
            self._changed.notify_all()

    def _record(self, plural, kind, thing):
        if kind == "ERROR":
            raise ConnectionError(thing.get("message"))
        with self._changed:
            version = int(thing["metadata"]["resourceVersion"])
            change = Change(version, plural, kind, thing)
            self._count += 1
            if self._keep:
                self._changes.append(change)
            if kind == "DELETED":
                self._now[plural].pop(key_of(thing), None)
            else:
                self._now[plural][key_of(thing)] = thing
            for observer in self.observers:
                observer(change)
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

    def expect_whole(self):
        """What is now there is known only as long as the record has no hole."""
        if self._broken:
            raise AssertionError(f"the record has a hole: {self._broken}")

    def changes(self, space=None):
        """In the order in which they were made; a record with a hole is none."""
        with self._changed:
            self.expect_whole()
            return sorted((change for change in self._changes
                           if space in (None, change.thing["metadata"].get("namespace"))),
                          key=lambda change: change.version)

    def grown_beyond(self, length, seconds):
        """How many changes there were, as soon as that is more than so many, or after the time."""
        with self._changed:
            self._changed.wait_for(lambda: self._count > length or self._broken, seconds)
            return self._count

    def until(self, expectation, holds, seconds):
        end = time.monotonic() + seconds
        with self._changed:
            while not (found := holds()):
                self.expect_whole()
                if not self._changed.wait(max(0.0, end - time.monotonic())):
                    raise AssertionError(f"not within {seconds} s: {expectation}")
            return found


class History(Record):
    """Watches from now on, each kind in a thread of its own.

    One etcd gives all kinds their versions, so changes of different kinds have an order too.
    """

    def __init__(self, plurals, roots):
        super().__init__(plurals)
        self._outages = False
        for plural in plurals:
            server = ApiServer()
            listed = first_list(server, f"{roots[plural]}/{plural}")
            self._now[plural] = {key_of(thing): thing for thing in listed["items"]}
            threading.Thread(target=self._watch, daemon=True, args=(
                server, f"{roots[plural]}/{plural}", plural,
                listed["metadata"]["resourceVersion"])).start()

    def _watch(self, server, path, plural, version):
        failures = 0
        while not self._closed:  # the server ends a watch that is slow; nothing is lost by that
            try:
                for change in server.watch(f"{path}?watch=1&resourceVersion={version}"):
                    version = self._record(plural, change["type"], change["object"])
                    failures = 0
            except BROKEN as error:
                failures += 1
                if not self._outages:
                    return self._break(f"{plural}: {error}")
                if "too old resource version" not in str(error) and failures < RESUMES:
                    time.sleep(0.1)  # the server may still know all that has happened since
                    continue
                try:
                    version = self._catch_up(plural, first_list(server, path))
                except BROKEN as again:
                    return self._break(f"{plural}: {again}")
        return None

    def expect_outages(self):
        """Of the API server: what it no longer knows of is known by its result alone."""
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
    return thing["metadata"].get("namespace", ""), thing["metadata"]["name"]
