#!/usr/bin/env python3
"""The fault proxy before a small scripted server: what the server saw, and what the client got."""

import http.client
import http.server
import json
import ssl
import subprocess
import tempfile
import threading
import unittest

import paths  # noqa: F401  pylint: disable=unused-import
from proxy import Proxy
from rules import Ask, Plan, Rule, share

EVENTS = [{"type": "ADDED", "object": {"metadata": {"namespace": "a", "name": f"pod-{i}"}}}
          for i in range(3)]
PODS = "/api/v1/namespaces/a/pods"
CUT = (ConnectionError, http.client.IncompleteRead, http.client.RemoteDisconnected, ssl.SSLError)


class Scripted(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    seen = []

    def log_message(self, *_):
        pass

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.seen.append(("GET", self.path))
        if "watch=true" not in self.path:
            return self.answer(200, json.dumps({"items": [], "path": self.path}).encode())
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in EVENTS:
            line = json.dumps(event).encode() + b"\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
        return self.wfile.write(b"0\r\n\r\n")

    def do_POST(self):
        self.seen.append(("POST", self.path, self.body()))
        self.answer(201, b'{"metadata":{"name":"pod-1","resourceVersion":"7"}}')


def certificate(folder):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", f"{folder}/key", "-out", f"{folder}/crt"], check=True, capture_output=True)
    return f"{folder}/crt", f"{folder}/key"


class ProxyTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.files = certificate(cls.folder.name)
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Scripted)
        cls.server.daemon_threads = True
        cls.addClassCleanup(cls.server.server_close)
        cls.addClassCleanup(cls.server.shutdown)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()

    def setUp(self):
        Scripted.seen.clear()
        self.writes = []
        self.plan = Plan(seed=1)
        self.proxy = Proxy(lambda: http.client.HTTPConnection(
            "127.0.0.1", self.server.server_port, timeout=10), self.files, self.plan,
                           (None, self.writes.append))
        self.addCleanup(self.proxy.close)

    def connect(self):
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self.proxy.port, timeout=10,
            context=ssl.create_default_context(cafile=self.files[0]))
        self.addCleanup(connection.close)
        return connection

    def ask(self, method="GET", path=PODS, body=None):
        connection = self.connect()
        connection.request(method, path, body)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()

    def create(self):
        return self.ask("POST", PODS, b'{"metadata":{"name":"pod-1"}}')

    def watch(self):
        """(the events that came whole, whether it ended in order)"""
        connection = self.connect()
        connection.request("GET", PODS + "?watch=true")
        events, rest = [], b""
        try:
            answer = connection.getresponse()
            while piece := answer.read1(1 << 16):
                rest += piece
                *lines, rest = rest.split(b"\n")
                events += [json.loads(line) for line in lines]
        except CUT:
            return events, False
        return events, rest == b""

    def test_without_rules_all_passes(self):
        self.assertEqual(self.ask()[0], 200)
        self.assertEqual(self.create()[0], 201)
        self.assertEqual(self.watch(), (EVENTS, True))
        [write] = self.writes
        self.assertEqual((write.ask.verb, write.ask.resource, write.ask.space, write.ask.name,
                          write.status, write.revision, write.fault),
                         ("create", "pods", "a", "pod-1", 201, 7, ""))

    def test_a_dropped_request_never_arrives(self):
        self.plan.set(Rule("r", "drop", verbs=("create",)))
        with self.assertRaises(CUT):
            self.create()
        self.assertEqual((Scripted.seen, self.writes[0].status), ([], 0))

    def test_a_lost_answer_is_to_a_write_that_was_applied(self):
        self.plan.set(Rule("r", "reset", most=1))
        with self.assertRaises(CUT):
            self.create()
        self.assertEqual(len(Scripted.seen), 1)
        self.assertEqual((self.writes[0].status, self.writes[0].fault), (201, "r"))
        self.assertEqual(self.create()[0], 201)

    def test_a_status_with_and_without_a_time_to_wait(self):
        self.plan.set(Rule("r", "status", code=429, retry_after="3", most=1))
        status, head, body = self.create()
        self.assertEqual((status, head["Retry-After"], json.loads(body)["reason"]),
                         (429, "3", "TooManyRequests"))
        self.plan.set(Rule("r", "status", code=500))
        status, head, _ = self.create()
        self.assertEqual((status, "Retry-After" in head, Scripted.seen), (500, False, []))
        self.assertEqual(dict(self.plan.fired), {"status 429": 1, "status 500": 1})

    def test_bodies_slow_and_cut_short(self):
        self.plan.set(Rule("r", "slow", seconds=0.05))
        self.assertEqual(json.loads(self.ask()[2])["items"], [])
        self.plan.set(Rule("r", "truncate"))
        with self.assertRaises(CUT):
            self.ask()

    def test_a_request_that_hangs_until_the_client_goes(self):
        self.plan.set(Rule("r", "hang", seconds=60))
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self.proxy.port, timeout=0.3,
            context=ssl.create_default_context(cafile=self.files[0]))
        connection.request("GET", PODS)
        with self.assertRaises(TimeoutError):
            connection.getresponse()
        connection.close()
        self.assertEqual(Scripted.seen, [])

    def test_events_twice_and_in_pieces(self):
        self.plan.set(Rule("r", "duplicate"))
        self.assertEqual(self.watch(), ([event for event in EVENTS for _ in (1, 2)], True))
        self.plan.set(Rule("r", "split"))
        self.assertEqual(self.watch(), (EVENTS, True))

    def test_a_watch_cut_inside_an_event_and_ended_before_one(self):
        second = lambda ask, kind, key: key == "a/pod-1"  # noqa: E731
        self.plan.set(Rule("r", "cut", where=second))
        self.assertEqual(self.watch(), (EVENTS[:1], False))
        self.plan.set(Rule("r", "close", where=second))
        self.assertEqual(self.watch(), (EVENTS[:1], True))

    def test_a_watch_told_that_its_version_is_gone(self):
        self.plan.set(Rule("r", "gone", first=1))
        events, _ = self.watch()
        self.assertEqual([event["type"] for event in events], ["ADDED", "ERROR"])
        self.assertEqual(events[-1]["object"]["code"], 410)

    def test_held_events_come_in_order_once_released(self):
        self.proxy.hold("pods")
        got = []
        watcher = threading.Thread(target=lambda: got.append(self.watch()))
        watcher.start()
        watcher.join(0.2)
        self.assertEqual(got, [])
        self.proxy.hold()
        watcher.join(10)
        self.assertEqual(got, [(EVENTS, True)])

    def test_a_stale_list_is_of_the_pinned_version_and_never_streamed(self):
        self.plan.set(Rule("r", "stale"))
        self.proxy.pinned = "5"
        self.assertIn("resourceVersion=5&resourceVersionMatch=Exact",
                      json.loads(self.ask()[2])["path"])
        connection = self.connect()
        connection.request("GET", PODS + "?watch=true")
        self.assertEqual(connection.getresponse().status, 400)

    def test_leases_are_left_alone_unless_named(self):
        path = "/apis/coordination.k8s.io/v1/namespaces/weft-system/leases/weft-operator"
        self.plan.set(Rule("r", "status", code=500))
        self.assertEqual(self.ask(path=path)[0], 200)
        self.plan.set(Rule("r", "status", code=500, resources=("leases",)))
        self.assertEqual(self.ask(path=path)[0], 500)


class RulesTest(unittest.TestCase):
    def decisions(self, seed, names):
        plan = Plan(seed, [Rule("half", "drop", rate=0.5)])
        asks = {name: Ask("GET", f"{PODS}/{name}", {}) for name in names}
        return {name: plan.of_request(asks[name]) is not None for name in names}

    def test_the_same_seed_decides_alike_in_any_order(self):
        names = [f"pod-{i}" for i in range(64)]
        forward = self.decisions(7, names)
        self.assertEqual(forward, self.decisions(7, names[::-1]))
        self.assertNotEqual(forward, self.decisions(8, names))
        self.assertTrue(16 < sum(forward.values()) < 48)

    def test_shares_are_even(self):
        shares = [share(1, "rule", i) for i in range(1000)]
        self.assertTrue(0.45 < sum(shares) / 1000 < 0.55)

    def test_what_a_path_is_about(self):
        ask = Ask("PATCH", "/apis/weft.dev/v1alpha1/namespaces/a/placements/b/status", {})
        self.assertEqual((ask.verb, ask.group, ask.resource, ask.space, ask.name, ask.part),
                         ("patch", "weft.dev", "placements", "a", "b", "status"))
        ask = Ask("GET", "/api/v1/nodes", {"watch": "true"})
        self.assertEqual((ask.verb, ask.resource, ask.space, ask.name), ("watch", "nodes", "", ""))
        ask = Ask("GET", "/api/v1/namespaces/a", {})
        self.assertEqual((ask.verb, ask.resource, ask.name), ("get", "namespaces", "a"))


if __name__ == "__main__":
    unittest.main(verbosity=1)
