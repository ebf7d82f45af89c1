"""Which request or watch event suffers which fault: decided from a seed, never from clock or chance.

A decision is a hash of the seed, the rule's name, what the request is about and how often that has
come by before, so the same seed makes the same choices, in whatever order threads run.
"""

import collections
import dataclasses
import hashlib
import json
import threading
import urllib.parse

# What happens to a request.
BEFORE = ("delay", "drop", "status", "hang")  # before it is sent on
AFTER = ("reset", "hold", "slow", "truncate")  # after the API server has answered it
# What happens to a watch at one of its events.
EVENT = ("duplicate", "split", "cut", "close", "gone", "silence", "stall")
OTHER = ("stale",)  # lists answered as of an earlier version

VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete", "GET": "get"}
WRITES = ("create", "update", "patch", "delete")


@dataclasses.dataclass
class Ask:
    """A request as the rules see it."""

    method: str
    path: str
    query: dict
    client: str = ""
    body: bytes = b""
    verb: str = ""
    group: str = ""
    resource: str = ""
    part: str = ""  # status, eviction
    space: str = ""
    name: str = ""

    def __post_init__(self):
        pieces = [piece for piece in self.path.split("/") if piece]
        if pieces[:1] == ["api"]:
            pieces = pieces[2:]
        elif pieces[:1] == ["apis"]:
            self.group, pieces = pieces[1], pieces[3:]
        if pieces[:1] == ["namespaces"] and len(pieces) > 2:
            self.space, pieces = pieces[1], pieces[2:]
        self.resource, self.name, self.part = (pieces + ["", "", ""])[:3]
        self.verb = VERBS.get(self.method, self.method.lower())
        if self.verb == "get" and self.query.get("watch") in ("true", "1"):
            self.verb = "watch"
        elif self.verb == "get" and not self.name:
            self.verb = "list"
        if self.verb == "create" and not self.name:
            self.name = self.object().get("metadata", {}).get("name", "")

    def object(self):
        try:
            parsed = json.loads(self.body)
        except ValueError:
            return {}
        return parsed if isinstance(parsed, dict) else {"operations": parsed}

    @property
    def dry(self):
        return "dryRun" in self.query

    @property
    def key(self):
        return f"{self.verb} {self.resource}/{self.part} {self.space}/{self.name}"


def parse_target(target):
    parsed = urllib.parse.urlsplit(target)
    return parsed.path, dict(urllib.parse.parse_qsl(parsed.query, keep_blank_values=True))


@dataclasses.dataclass
class Rule:
    """Does `action` to a share of what matches. Empty tuples match everything but Leases."""

    name: str
    action: str
    rate: float = 1.0
    verbs: tuple = ()
    resources: tuple = ()
    clients: tuple = ()
    most: int = 0  # times in all; 0: without bound
    first: int = 0  # so many matches are let through before
    seconds: float = 1.0  # of delays, hangs and silences
    code: int = 0  # of "status"
    retry_after: str = ""
    where: object = None  # a further condition on the Ask, or on (Ask, event)

    def matches(self, ask):
        if self.resources:
            if ask.resource not in self.resources:
                return False
        elif ask.resource == "leases":
            return False
        return (not self.verbs or ask.verb in self.verbs) and (
            not self.clients or ask.client in self.clients)


def share(*parts):
    """A number in [0, 1) that only depends on its parts."""
    digest = hashlib.blake2b("|".join(map(str, parts)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


class Plan:
    """The rules in force, and what they did. Safe to share between threads."""

    def __init__(self, seed=0, rules=()):
        self.seed = seed
        self.fired = collections.Counter()  # by action
        self._rules = list(rules)
        self._times = collections.Counter()  # by rule
        self._seen = collections.Counter()  # by rule and key
        self._lock = threading.Lock()

    def set(self, *rules):
        """Instead of those before."""
        with self._lock:
            self._rules = list(rules)
            for rule in rules:
                self._times.pop(rule.name, None)

    def times(self, name):
        with self._lock:
            return self._times[name]

    def of_request(self, ask):
        """The rule that this request falls under, or None."""
        return self._first(ask, BEFORE + AFTER + OTHER, ask.key, lambda rule: (
            rule.where is None or rule.where(ask)))

    def looks_at_events(self, ask):
        with self._lock:
            return any(rule.action in EVENT and rule.matches(ask) for rule in self._rules)

    def of_event(self, ask, kind, key):
        return self._first(ask, EVENT, f"{ask.resource} {kind} {key}", lambda rule: (
            rule.where is None or rule.where(ask, kind, key)))

    def _first(self, ask, actions, key, holds):
        with self._lock:
            for rule in self._rules:
                if rule.action not in actions or not rule.matches(ask) or not holds(rule):
                    continue
                ordinal = self._seen[rule.name, key]
                self._seen[rule.name, key] += 1
                if self._seen[rule.name, ""] < rule.first:
                    self._seen[rule.name, ""] += 1
                    continue
                if rule.most and self._times[rule.name] >= rule.most:
                    continue
                if share(self.seed, rule.name, key, ordinal) < rule.rate:
                    self._times[rule.name] += 1
                    self.fired[self.kind_of(rule)] += 1
                    return rule
        return None

    @staticmethod
    def kind_of(rule):
        return f"status {rule.code}" if rule.action == "status" else rule.action
