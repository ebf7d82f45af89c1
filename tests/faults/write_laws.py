"""The laws of what weft-operator asks of the API server, over every request that the proxy saw."""

import collections
import json

import paths  # noqa: F401  pylint: disable=unused-import
from operator_laws import GPUS, controller_of, job_of, weft

OURS = ("trainingjobs", "placements", "fabrics")
OWNED = ("pods", "services", "placements", "configmaps", "secrets")
HOT_SECONDS = 10
# What was refused for good is asked for again after 2, 2, 4 s and more, or when its spec changes.
REFUSED = (400, 403, 422)
MOST_REFUSED, REFUSED_SECONDS = 8, 2


class RequestLaw:
    name = ""
    says = ""

    def __init__(self):
        self.broken = []

    def look(self, write, world):
        raise NotImplementedError

    def say(self, write, sentence):
        ask = write.ask
        self.broken.append(f"{self.name}: {ask.client} {ask.verb} {ask.resource}"
                           f"{'/' + ask.part if ask.part else ''} {ask.space}/{ask.name} "
                           f"({write.status}): {sentence}")


def target_of(write, world):
    return world.things[write.ask.resource].get((write.ask.space, write.ask.name))


def preconditions(ask):
    """(uid, resourceVersion) that the request says the object must have."""
    body = ask.object()
    if ask.verb == "delete" or ask.part == "eviction":
        only = (body.get("deleteOptions") or body).get("preconditions") or {}
        return only.get("uid", ""), only.get("resourceVersion", "")
    if "operations" in body:
        tests = {one["path"]: one.get("value") for one in body["operations"] if one["op"] == "test"}
        return tests.get("/metadata/uid", ""), tests.get("/metadata/resourceVersion", "")
    meta = body.get("metadata") or {}
    return meta.get("uid", ""), meta.get("resourceVersion", "")


class UidLaw(RequestLaw):
    name = "I8"
    says = "Every delete names the uid that it means, and every patch the uid or the version."

    def look(self, write, world):
        ask = write.ask
        if ask.resource not in OURS + OWNED or ask.resource == "fabrics":
            return
        uid, version = preconditions(ask)
        if ask.resource == "secrets":  # they are never read; the name has the Placement's uid
            return
        if (ask.verb == "delete" or ask.part == "eviction") and not uid:
            self.say(write, "without the uid that it means")
        elif ask.verb in ("patch", "update") and not (uid or version):
            self.say(write, "without the uid or version that it means")


class CommitLaw(RequestLaw):
    name = "I2b"
    says = "A plan is stored by compare-and-swap: the write names the version it was decided on."

    def look(self, write, world):
        ask = write.ask
        if (ask.resource, ask.part, ask.verb) != ("placements", "status", "patch"):
            return
        body = ask.object()
        if "operations" in body or not (body.get("status") or {}).get("nodes"):
            return
        if not preconditions(ask)[1]:
            self.say(write, "nodes are written whatever the Placement has become")


class OwnerLaw(RequestLaw):
    name = "I9"
    says = "What is written is a job's, or was given to Weft; what is created is owned by one."

    def look(self, write, world):
        ask = write.ask
        if ask.resource not in OWNED or write.fault and not write.status:
            return
        if ask.verb == "create" and not ask.part:
            meta = ask.object().get("metadata", {})
            if ask.resource == "services":  # nobody owns them: the operator deletes them
                if "weft.dev/job-uid" not in meta.get("labels", {}):
                    self.say(write, "created without its job's label")
                return
            owners = meta.get("ownerReferences", [])
            if not any(one["kind"] in ("TrainingJob", "Placement", "Workload") for one in owners):
                self.say(write, "created without an owner")
            return
        there = target_of(write, world)
        if there is None or ask.resource == "placements":
            return
        given = "weft.dev/placement" in str(there["spec"].get("schedulingGates", "")) or (
            "weft.dev/placement-uid" in str(there["metadata"].get("annotations", "")))
        labelled = ask.resource == "services" and "weft.dev/job-uid" in there["metadata"].get(
            "labels", {})
        if not job_of(there) and not given and not labelled and (
                controller_of(there).get("kind") != "Placement"):
            self.say(write, "it belongs to somebody else")


class SpecLaw(RequestLaw):
    name = "I9"
    says = "The spec of a TrainingJob is its author's."

    def look(self, write, world):
        ask = write.ask
        if ask.resource == "trainingjobs" and ask.verb in ("patch", "update") and (
                "spec" in ask.object()):
            self.say(write, "writes a spec")


class FreshLaw(RequestLaw):
    name = "I16"
    says = "Lists are asked for as of now, never as of whenever the server likes."

    def look(self, write, world):
        ask = write.ask
        if ask.verb == "list" and ask.query.get("resourceVersion") == "0":
            self.say(write, "lists with resourceVersion=0")
        if ask.verb == "watch" and ask.query.get("resourceVersion") == "0":
            self.say(write, "watches from resourceVersion=0")


class LeaderLaw(RequestLaw):
    name = "I7"
    says = "An operator writes only while it holds the Lease."
    # What was decided under the Lease may still be on its way.
    grace_seconds = 2.0

    # Requests are seen when they are answered: those of before are all known after so long.
    behind_seconds = 5.0

    def __init__(self):
        super().__init__()
        self.holders = []  # (time of the request, holder), as the API server took them
        self.writes = collections.deque()  # that are not judged yet

    def look(self, write, world):
        ask = write.ask
        if ask.resource == "leases":
            if ask.verb in ("create", "update") and write.status in (200, 201):
                holder = (ask.object().get("spec") or {}).get("holderIdentity", "")
                self.holders.append((write.sent, holder))
                self.holders.sort()
        elif ask.resource not in ("tokenreviews", "subjectaccessreviews") and ask.client:
            self.writes.append(write)

    def judge(self, now):
        """Those that the record has caught up with."""
        while self.writes and self.writes[0].received + self.behind_seconds < now:
            self.judge_one(self.writes.popleft())

    def judge_one(self, write):
        begin, end = write.received - self.grace_seconds, write.received + self.grace_seconds
        for place, (since, holder) in enumerate(self.holders):
            until = self.holders[place + 1][0] if place + 1 < len(self.holders) else end + 1
            if holder == write.ask.client and since <= end and until >= begin:
                return
        if self.holders and self.holders[0][0] < begin:
            holder = [one for since, one in self.holders if since <= write.received][-1]
            since = max(since for since, one in self.holders if since <= write.received)
            self.say(write, f"the Lease is {holder or 'nobody'}'s for {write.received - since:.1f} s")


class HotLaw(RequestLaw):
    name = "I6"
    says = "Nothing is asked for again and again: every retry waits longer than the last."

    def __init__(self, most=25):
        super().__init__()
        self.most = most
        self.times = collections.defaultdict(collections.deque)
        self.refused = collections.defaultdict(collections.deque)
        self.told = set()

    def look(self, write, world):
        ask = write.ask
        if ask.resource in ("leases", "events"):
            return
        key = ask.client, ask.key, ask.dry
        times = self.times[key]
        times.append(write.received)
        while times and times[0] < write.received - HOT_SECONDS:
            times.popleft()
        if len(times) > self.most:
            self.tell(key, write, f"{len(times)} times within {HOT_SECONDS} s")
        if write.status in REFUSED:
            refused = self.refused[key]
            refused.append(write.received)
            while refused and refused[0] < write.received - REFUSED_SECONDS:
                refused.popleft()
            if len(refused) > MOST_REFUSED:
                self.tell(key, write, f"{len(refused)} times within {REFUSED_SECONDS} s")

    def tell(self, key, write, sentence):
        if key not in self.told:
            self.told.add(key)
            self.say(write, sentence)


class PodLaw(RequestLaw):
    name = "I15"
    says = "A pod that is asked for asks for the GPUs of its job, and no more."

    def look(self, write, world):
        ask = write.ask
        if (ask.verb, ask.resource, ask.part) != ("create", "pods", "") or ask.dry:
            return
        pod = ask.object()
        job = world.jobs.get(weft(pod, "job-uid"))
        if job is None:
            return
        asked = sum(int(((one.get("resources") or {}).get("limits") or {}).get(GPUS, 0))
                    for one in pod["spec"]["containers"])
        accelerator = job["spec"]["accelerator"]
        if accelerator["resourceName"] == GPUS and asked != accelerator.get("perWorker", asked):
            self.say(write, f"asks for {asked} GPUs")


class RequestLaws:
    def __init__(self, *laws):
        self.laws = laws

    def see(self, write, world):
        for law in self.laws:
            law.look(write, world)

    @property
    def broken(self):
        return [sentence for law in self.laws for sentence in law.broken]


def shown(write):
    """One line of a log of writes."""
    return json.dumps({"client": write.ask.client, "key": write.ask.key, "status": write.status,
                       "revision": write.revision, "fault": write.fault})
