"""Everything that happens in a cluster, read from its etcd: no change is missed where the API server
dies, and changes of all kinds come in one order."""

import base64
import http.client
import json
import threading
import time

import paths  # noqa: F401  pylint: disable=unused-import
from operator_history import BROKEN, Change, Record

# Prefixes in etcd of the kinds that are kept, and the kinds' names.
PREFIXES = {"/registry/pods/": "pods", "/registry/services/specs/": "services",
            "/registry/minions/": "nodes", "/registry/leases/weft-system/": "leases",
            "/registry/weft.dev/trainingjobs/": "trainingjobs",
            "/registry/weft.dev/placements/": "placements",
            "/registry/weft.dev/fabrics/": "fabrics",
            "/registry/configmaps/": "configmaps", "/registry/events/": "events"}
PATIENCE_SECONDS = 120  # with an etcd that is away


def encoded(text):
    return base64.b64encode(text.encode()).decode()


class EtcdRecord(Record):
    """Follows the etcd at a port of this machine from now on. The API server must store JSON.

    With keep=False changes are shown to the observers and then forgotten.
    """

    def __init__(self, port, keep=True):
        super().__init__(sorted(PREFIXES.values()), keep)
        self._port = port
        self._revision = 0
        self.outage = 0.0  # seconds that etcd has been away, in all
        self._read_all()
        threading.Thread(target=self._follow, daemon=True).start()

    def first(self):
        """What was there at the beginning, as changes."""
        return [Change(int(thing["metadata"]["resourceVersion"]), plural, "ADDED", thing)
                for plural, things in self._now.items() for thing in things.values()]

    def _call(self, path, body, seconds):
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=seconds)
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        if answer.status != 200:
            raise ConnectionError(f"etcd: {answer.status} {answer.read(500)}")
        return connection, answer

    def _read_all(self):
        for prefix in PREFIXES:
            end = prefix[:-1] + chr(ord(prefix[-1]) + 1)
            body = {"key": encoded(prefix), "range_end": encoded(end)}
            if self._revision:
                body["revision"] = str(self._revision)
            connection, answer = self._call("/v3/kv/range", body, 60)
            listed = json.loads(answer.read())
            connection.close()
            self._revision = self._revision or int(listed["header"]["revision"])
            for pair in listed.get("kvs", []):
                self._see("ADDED", pair, pair)

    def _follow(self):
        """Where etcd is away, it goes on at the next revision: none is missed."""
        last_word = time.monotonic()
        while not self._closed:
            try:
                connection, answer = self._call("/v3/watch", {"create_request": {
                    "key": encoded("/registry/"), "range_end": encoded("/registry0"),
                    "start_revision": str(self._revision + 1), "prev_kv": True}}, 30)
                for line in answer:
                    last_word = time.monotonic()
                    self._take(json.loads(line))
                connection.close()
            except BROKEN as error:
                if time.monotonic() - last_word > PATIENCE_SECONDS:
                    self._break(f"etcd: {error}")
                    return
                time.sleep(0.1)  # until it listens again

    def _take(self, message):
        result = message.get("result")
        if result is None or result.get("canceled"):
            raise ConnectionError(f"etcd ended the watch: {message}")
        for event in result.get("events", []):
            deleted = event.get("type") == "DELETE"
            pair = event["kv"]
            revision = int(pair["mod_revision"])
            if deleted:
                self._see("DELETED", event.get("prev_kv"), pair)
            else:
                is_new = pair["create_revision"] == pair["mod_revision"]
                self._see("ADDED" if is_new else "MODIFIED", pair, pair)
            self._revision = max(self._revision, revision)

    def _see(self, kind, holds, pair):
        key = base64.b64decode(pair["key"]).decode()
        plural = next((of for prefix, of in PREFIXES.items() if key.startswith(prefix)), None)
        if plural is None or holds is None:
            return
        thing = json.loads(base64.b64decode(holds["value"]))
        thing["metadata"]["resourceVersion"] = pair["mod_revision"]
        self._record(plural, kind, thing)
