"""A reverse proxy before an API server that does to requests and watches what a Plan says.

TLS and HTTP/1.1 on both sides. Only what a real server or network may do: events of one kind are
never lost or reordered within a watch, and a write that the server did not take is never
acknowledged. What every request was and how it ended is kept as a Write or a line of the trace.
"""

import contextlib
import dataclasses
import http.client
import json
import select
import socket
import ssl
import struct
import threading
import time

import wire
from rules import AFTER, Ask, Plan, WRITES, parse_target

LONGEST_LINE = 64 << 10
UPSTREAM_SECONDS = 90
# What a connection may end in.
BROKEN = (OSError, ValueError, http.client.HTTPException)
WORDS = {401: "Unauthorized", 409: "Conflict", 410: "Expired", 429: "TooManyRequests",
         500: "InternalError", 503: "ServiceUnavailable", 504: "Timeout"}
HOP_BY_HOP = ("connection", "transfer-encoding", "content-length", "keep-alive", "host")
SPLIT_BYTES = 7  # pieces of an event that is split
SLOW_PIECES = 5  # pieces of a slow body


@dataclasses.dataclass
class Write:
    """One write as the proxy saw it; revision is what the API server stored it as."""

    ask: Ask
    received: float  # time.monotonic()
    sent: float = 0.0  # to the API server; 0: never
    answered: float = 0.0
    status: int = 0  # of the API server, whatever the client was told; 0: none
    revision: int = 0
    fault: str = ""
    answer: dict = dataclasses.field(default_factory=dict)


class Cut(Exception):
    """The connection to the client is to be ended with a reset."""


def status_body(code, words="injected"):
    return json.dumps({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                       "message": words, "reason": WORDS.get(code, ""), "code": code}).encode()


class Client:
    """One connection of a client, and its own to the API server."""

    def __init__(self, proxy, connection):
        self.proxy = proxy
        self.plan = proxy.plan
        self.connection = connection
        self.reader = connection.makefile("rb")
        self.upstream = None
        self.watches = None  # what it asked to watch last

    def serve(self):
        with contextlib.suppress(Cut, *BROKEN):
            while (ask_and_head := self.read_request()) is not None:
                self.answer(*ask_and_head)
        self.reset()
        if self.upstream:
            self.upstream.close()

    def hang_up(self):
        """From any thread. Its own closes the socket: whoever closed it here would hand its number
        to the next connection while that thread still reads from it."""
        with contextlib.suppress(OSError):
            socket.socket.shutdown(self.connection, socket.SHUT_RDWR)  # TLS has no say in it

    def reset(self):
        with contextlib.suppress(OSError):
            # Without lingering a close sends a reset instead of an orderly end.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                       struct.pack("ii", 1, 0))
        with contextlib.suppress(OSError):
            self.reader.close()
            self.connection.close()

    def read_request(self):
        line = self.reader.readline(LONGEST_LINE)
        if not line:
            return None
        method, target, _ = line.decode().split(" ", 2)
        head = {}
        while (line := self.reader.readline(LONGEST_LINE)) not in (b"\r\n", b"\n", b""):
            name, value = line.decode("latin-1").split(":", 1)
            head.setdefault(name.strip().lower(), []).append(value.strip())
        length = int(head.get("content-length", ["0"])[0])
        body = self.reader.read(length)
        if not line or len(body) < length:
            return None  # its sender was killed: half a request is none
        path, query = parse_target(target)
        client = head.get("impersonate-user", [""])[0]
        return Ask(method, path, query, client, body), target, head

    def answer(self, ask, target, head):
        write = Write(ask, time.monotonic())
        self.proxy.on_ask(ask)
        rule = self.plan.of_request(ask)
        write.fault = rule.name if rule else ""
        try:
            if rule is None or rule.action in AFTER:
                self.forward(ask, target, head, write, rule)
            elif rule.action == "stale":
                self.forward_stale(ask, target, head, write, rule)
            else:
                self.fail_before(ask, target, head, write, rule)
        finally:
            write.answered = time.monotonic()
            self.proxy.note(write)

    def fail_before(self, ask, target, head, write, rule):
        if rule.action == "delay":
            self.proxy.pause(rule.seconds)
            return self.forward(ask, target, head, write, None)
        if rule.action == "hang":
            self.wait_for_client(rule.seconds)
            raise Cut
        if rule.action == "drop":
            raise Cut
        extra = {"Retry-After": rule.retry_after} if rule.retry_after else {}
        return self.reply(rule.code, extra, status_body(rule.code))

    def wait_for_client(self, seconds):
        """Until it hangs up, or for that long."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self.proxy.closed:
            self.connection.settimeout(0.2)
            with contextlib.suppress(TimeoutError, ssl.SSLWantReadError):
                if not self.connection.recv(1):
                    break
        self.connection.settimeout(None)

    def send_on(self, ask, target, head, write):
        """The API server's answer, still unread. A connection that lay idle is made anew once."""
        names = {name: values for name, values in head.items() if name not in HOP_BY_HOP}
        for last in (False, True):
            if self.upstream is None:
                self.upstream = self.proxy.connect()
            write.sent = time.monotonic()
            try:
                self.upstream.putrequest(ask.method, target, skip_accept_encoding=True)
                for name, values in names.items():
                    for value in values:
                        self.upstream.putheader(name, value)
                if ask.body or ask.method in ("POST", "PUT", "PATCH"):
                    self.upstream.putheader("Content-Length", str(len(ask.body)))
                self.upstream.endheaders(ask.body or None)
                return self.upstream.getresponse()
            except (http.client.RemoteDisconnected, http.client.CannotSendRequest, BrokenPipeError):
                self.upstream.close()
                self.upstream = None
                if last or (ask.verb in WRITES and ask.method == "POST"):
                    raise
        raise Cut

    def forward(self, ask, target, head, write, rule):
        answer = self.send_on(ask, target, head, write)
        write.status = answer.status
        if ask.verb == "watch" and answer.status == 200:
            return self.relay_watch(ask, answer)
        body = answer.read()
        if ask.verb in WRITES:
            write.answer = parsed(body)
            write.revision = int(write.answer.get("metadata", {}).get("resourceVersion") or 0)
        action = rule.action if rule else ""
        if action == "reset":
            raise Cut
        if action == "hold":
            self.proxy.pause(rule.seconds)
        extra = {name: value for name, value in answer.getheaders()
                 if name.lower() not in HOP_BY_HOP}
        if action == "truncate":
            self.begin(answer.status, {**extra, "Content-Length": str(len(body))})
            self.connection.sendall(body[:len(body) // 2])
            raise Cut
        if action == "slow":
            return self.reply_slowly(answer.status, extra, body, rule.seconds)
        return self.reply(answer.status, extra, body)

    def forward_stale(self, ask, target, head, write, rule):
        """A list, as of the version that the proxy pinned; the watch after it is held back by a
        rule of its own."""
        pinned = self.proxy.pinned
        if ask.verb == "watch":  # a streamed list: the client falls back to pages
            return self.reply(400, {}, status_body(400, "no streamed lists here"))
        if ask.verb == "list" and pinned and "continue" not in ask.query:
            separator = "&" if "?" in target else "?"
            target += f"{separator}resourceVersion={pinned}&resourceVersionMatch=Exact"
        return self.forward(ask, target, head, write, None)

    def begin(self, status, head):
        lines = [f"HTTP/1.1 {status} {http.client.responses.get(status, 'Status')}"]
        lines += [f"{name}: {value}" for name, value in head.items()]
        self.connection.sendall("\r\n".join(lines + ["", ""]).encode("latin-1"))

    def reply(self, status, head, body):
        if "Content-Type" not in head:
            head = {**head, "Content-Type": "application/json"}
        self.begin(status, {**head, "Content-Length": str(len(body))})
        self.connection.sendall(body)

    def reply_slowly(self, status, head, body, seconds):
        self.begin(status, {**head, "Content-Length": str(len(body))})
        size = max(1, len(body) // SLOW_PIECES)
        for start in range(0, len(body), size):
            self.connection.sendall(body[start:start + size])
            self.proxy.pause(seconds / SLOW_PIECES)

    def relay_watch(self, ask, answer):
        """Event by event."""
        self.begin(200, {"Content-Type": answer.getheader("Content-Type") or "application/json",
                         "Transfer-Encoding": "chunked"})
        self.watches = ask
        self.proxy.open_watches.add(self)
        try:
            for frame in wire.frames(answer):
                self.relay_event(ask, frame)
            self.connection.sendall(b"0\r\n\r\n")
        finally:
            self.proxy.open_watches.discard(self)
            self.upstream.close()
            self.upstream = None

    def chunk(self, piece):
        self.connection.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))

    def end_watch(self):
        self.connection.sendall(b"0\r\n\r\n")
        raise Cut

    def relay_event(self, ask, frame):
        self.proxy.await_release(ask)
        # Of a watch the client says no more, unless that it has gone.
        if select.select([self.connection], [], [], 0)[0]:
            raise Cut
        if not self.plan.looks_at_events(ask):
            return self.chunk(frame)
        kind, key = wire.subject_of(frame)
        rule = self.plan.of_event(ask, kind, key)
        if rule is None:
            return self.chunk(frame)
        self.proxy.trace(ask, rule, kind, key)
        if rule.action == "duplicate":
            self.chunk(frame)
            return self.chunk(frame) if kind in ("ADDED", "MODIFIED") else None
        if rule.action == "split":
            for start in range(0, len(frame), max(SPLIT_BYTES, len(frame) // 50)):
                self.chunk(frame[start:start + max(SPLIT_BYTES, len(frame) // 50)])
            return None
        if rule.action == "cut":
            self.chunk(frame[:len(frame) // 2])
            raise Cut
        if rule.action == "close":
            return self.end_watch()
        if rule.action == "gone":
            self.chunk(wire.expired(wire.is_binary(frame)))
            return self.end_watch()
        if rule.action == "stall":
            self.proxy.pause(rule.seconds)
            return self.chunk(frame)
        self.wait_for_client(rule.seconds)  # silence: nothing more comes, and nobody says so
        raise Cut


def parsed(body):
    try:
        answer = json.loads(body)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


class Proxy:
    """Listens on loopback with the certificate and key of `files`.

    `connect` makes a connection to the API server. The hooks are called with every Ask as it comes,
    and with every Write once it has been answered.
    """

    def __init__(self, connect, files, plan=None, hooks=(None, None), trace_file=None):
        self.connect = connect
        self.plan = plan or Plan()
        self.on_ask, self.on_write = (hook or (lambda _: None) for hook in hooks)
        self.pinned = ""  # version that stale lists are answered as of
        self.closed = False
        self.open_watches = set()
        self.requests = 0
        self._hold = set()  # resources whose events are held back
        self._changed = threading.Condition()
        self._trace_file = trace_file
        self._begun = time.monotonic()
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.load_cert_chain(*files)
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self._listener.getsockname()[1]
        self._clients = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while not self.closed:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            connection = self._tls.wrap_socket(connection, server_side=True)
        except OSError:
            connection.close()
            return
        client = Client(self, connection)
        self._clients.add(client)
        try:
            client.serve()
        finally:
            self._clients.discard(client)

    def pause(self, seconds):
        """Ends early where the proxy does."""
        with self._changed:
            self._changed.wait_for(lambda: self.closed, seconds)

    def hold(self, *resources):
        """Events of these kinds wait, in order, until the next call that leaves them out."""
        with self._changed:
            self._hold = set(resources)
            self._changed.notify_all()

    def await_release(self, ask):
        with self._changed:
            self._changed.wait_for(lambda: self.closed or ask.resource not in self._hold)

    def follows(self, resource):
        """Whether somebody has read the list and watches what comes after it."""
        return any(client.watches.resource == resource
                   and "sendInitialEvents" not in client.watches.query
                   for client in list(self.open_watches))

    def cut_watches(self):
        """Ends every watch now, in the middle of whatever it is at."""
        for client in list(self.open_watches):
            client.hang_up()

    def note(self, write):
        self.requests += 1
        if write.fault:
            self.trace(write.ask, write, str(write.status), "")
        if write.ask.verb in WRITES:
            self.on_write(write)

    def trace(self, ask, what, kind, key):
        if self._trace_file is None:
            return
        name = what.fault if isinstance(what, Write) else what.name
        line = json.dumps({"at": round(time.monotonic() - self._begun, 3), "rule": name,
                           "client": ask.client, "key": ask.key, "event": f"{kind} {key}".strip()})
        with self._changed:
            self._trace_file.write(line + "\n")
            self._trace_file.flush()

    def close(self):
        self.closed = True
        with self._changed:
            self._changed.notify_all()
        self._listener.close()
        for client in list(self._clients):
            client.hang_up()
