"""The laws that weft-operator keeps at every moment, whatever dies meanwhile: a fold over every change
of the cluster. Their numbers are those of operator/docs/reliability.md.

A law looks at one change at a time, with the cluster as it is after it, and says what it breaks. Laws
of time (a window that must end) are asked to look at the clock too.
"""

import collections
import re

from operator_history import key_of

GPUS = "nvidia.com/gpu"
GPUS_OF_A_NODE = 8
FINALIZER = "weft.dev/claims"
ENDED = ("Succeeded", "Failed")
# Reasons of a restart that say: the program itself failed.
PROGRAM_FAILED = re.compile(r"^(Error|OOMKilled|ContainerCannotRun|PodFailed|StartupTimeout)$")


def labels_of(thing):
    return thing["metadata"].get("labels") or {}


def weft(thing, name):
    return labels_of(thing).get(f"weft.dev/{name}", "")


def controller_of(thing):
    return next((one for one in thing["metadata"].get("ownerReferences", [])
                 if one.get("controller")), {})


def job_of(thing):
    """uid of the TrainingJob that controls it, or ""."""
    owner = controller_of(thing)
    return owner["uid"] if owner.get("kind") == "TrainingJob" else ""


def attempt_of(thing):
    return int(weft(thing, "attempt") or 0)


def has_ended(pod):
    return pod.get("status", {}).get("phase") in ENDED


def gpus_of(pod):
    return sum(int((container.get("resources") or {}).get("requests", {}).get(GPUS, 0))
               for container in pod["spec"]["containers"])


def pinned_node(pod):
    """The node that the pod's affinity names, or None."""
    needed = (pod["spec"].get("affinity") or {}).get("nodeAffinity", {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution", {})
    for term in needed.get("nodeSelectorTerms", []):
        for field in term.get("matchFields", []):
            if field["key"] == "metadata.name" and len(field.get("values", [])) == 1:
                return field["values"][0]
    return None


def condition_of(thing, kind):
    return next((one for one in (thing or {}).get("status", {}).get("conditions", [])
                 if one["type"] == kind), None)


def is_so(thing, kind):
    return (condition_of(thing, kind) or {}).get("status") == "True"


def nodes_of(placement):
    return placement.get("status", {}).get("nodes") or []


class World:
    """The cluster as it was after the last change."""

    def __init__(self):
        self.things = collections.defaultdict(dict)  # kind -> key -> object
        self.kinds = set()  # those that the record is of
        self.pods = collections.defaultdict(dict)  # job's uid -> pod's uid -> pod
        self.placements = collections.defaultdict(dict)  # job's uid -> attempt -> Placement
        self.jobs = {}  # by uid
        self.on_node = collections.defaultdict(dict)  # node -> uid -> pod that is bound there
        self.unhealthy = set()  # nodes that were lost or not Ready at some time
        self.led_anew = -1e9  # when the Lease changed hands last

    def apply(self, change, now):
        """The object as it was before, or None."""
        thing, gone = change.thing, change.type == "DELETED"
        self.kinds.add(change.plural)
        of_kind = self.things[change.plural]
        before = of_kind.pop(key_of(thing), None)
        if not gone:
            of_kind[key_of(thing)] = thing
        handler = getattr(self, "apply_" + change.plural, None)
        if handler:
            handler(thing, before, gone, now)
        return before

    def apply_pods(self, pod, _before, gone, _now):
        uid, node = pod["metadata"]["uid"], pod["spec"].get("nodeName")
        owner = job_of(pod)
        if gone:
            self.pods[owner].pop(uid, None)
        else:
            self.pods[owner][uid] = pod
        if node and (gone or has_ended(pod)):
            self.on_node[node].pop(uid, None)
        elif node:
            self.on_node[node][uid] = pod

    def apply_placements(self, placement, _before, gone, _now):
        owner = job_of(placement)
        if gone:
            self.placements[owner].pop(attempt_of(placement), None)
        else:
            self.placements[owner][attempt_of(placement)] = placement

    def apply_trainingjobs(self, job, _before, gone, _now):
        if gone:
            self.jobs.pop(job["metadata"]["uid"], None)
        else:
            self.jobs[job["metadata"]["uid"]] = job

    def apply_nodes(self, node, _before, gone, _now):
        ready = any(one["type"] == "Ready" and one["status"] == "True"
                    for one in node.get("status", {}).get("conditions", []))
        if gone or not ready:
            self.unhealthy.add(node["metadata"]["name"])

    def apply_leases(self, lease, before, _gone, now):
        holder = lease["spec"].get("holderIdentity")
        if holder and before and before["spec"].get("holderIdentity") not in (holder, "", None):
            self.led_anew = now

    def allocatable(self, node):
        there = self.things["nodes"].get(("", node))
        if there is None:
            return GPUS_OF_A_NODE
        return int(there.get("status", {}).get("allocatable", {}).get(GPUS, 0))

    def live_pods(self, job, attempt=None):
        return [pod for pod in self.pods[job].values() if not has_ended(pod)
                and attempt in (None, attempt_of(pod))]


class Law:
    name = ""
    says = ""

    def __init__(self):
        self.broken = []

    def look(self, change, before, world, now):
        raise NotImplementedError

    def tick(self, world, now):
        """Time has passed."""

    def say(self, thing, sentence):
        revision = thing["metadata"].get("resourceVersion", "?")
        self.broken.append(f"{self.name}: {'/'.join(key_of(thing))} at revision {revision}: "
                           f"{sentence}")


class SchedulerLaw(Law):
    name = "I1'"
    says = "Pods that are bound and have not ended never hold more GPUs than their node has."

    def look(self, change, before, world, now):
        pod, node = change.thing, change.thing["spec"].get("nodeName") if (
            change.plural == "pods") else None
        if not node or change.type == "DELETED" or has_ended(pod):
            return
        held = sum(gpus_of(one) for one in world.on_node[node].values())
        if held > world.allocatable(node) and node not in world.unhealthy:
            self.say(pod, f"node {node} holds {held} GPUs")


def state_of(pod):
    """A pod's name and what it is at, in brackets."""
    meta, spec = pod["metadata"], pod["spec"]
    words = [pod.get("status", {}).get("phase", ""), f"made {meta.get('creationTimestamp', '')}",
             "bound" if spec.get("nodeName") else "not bound"]
    if "deletionTimestamp" in meta:
        words.append(f"ends by {meta['deletionTimestamp']}")
    return f"{meta['name']} ({', '.join(words)})"


class ClaimLaw(Law):
    name = "I1"
    says = ("A plan never gives out GPUs that pods, bound or on their way, or another plan still "
            "hold; two leaders may overlap for a moment.")
    overlap_seconds = 30

    def look(self, change, before, world, now):
        placement = change.thing
        if change.plural != "placements" or change.type == "DELETED" or not nodes_of(placement):
            return
        if before is not None and nodes_of(before):
            return
        if now is not None and now - world.led_anew < self.overlap_seconds:
            return
        job, attempt = job_of(placement), attempt_of(placement)
        wanted = int((placement["spec"].get("accelerator") or {}).get("perWorker", GPUS_OF_A_NODE))
        for node in set(nodes_of(placement)):
            holders = self.holders(world, node, (job, attempt))
            held = sum(map(gpus_of, holders)) + wanted * nodes_of(placement).count(node)
            if held > world.allocatable(node) and node not in world.unhealthy:
                names = ", ".join(map(state_of, holders))
                self.say(placement,
                         f"with it {held} GPUs of node {node} are given out; {names} are there")

    @staticmethod
    def holders(world, node, besides):
        pods = list(world.on_node[node].values())
        pods += [pod for of_job in world.pods.values() for pod in of_job.values()
                 if not pod["spec"].get("nodeName") and not has_ended(pod)
                 and pinned_node(pod) == node]
        return [pod for pod in pods if (job_of(pod), attempt_of(pod)) != besides]


class PlanFirstLaw(Law):
    name = "I2a"
    says = "A pod is created only once its attempt's plan is stored, and is tied to that node."

    def look(self, change, before, world, now):
        pod = change.thing
        if change.plural != "pods" or change.type != "ADDED" or not job_of(pod):
            return
        if not weft(pod, "worker-index"):
            return
        plan = world.placements[job_of(pod)].get(attempt_of(pod))
        worker = int(weft(pod, "worker-index"))
        nodes = nodes_of(plan) if plan else []
        if worker >= len(nodes):
            self.say(pod, f"created without a plan for worker {worker}")
        elif pinned_node(pod) != nodes[worker]:
            self.say(pod, f"tied to {pinned_node(pod)}, the plan says {nodes[worker]}")


class FixedPlanLaw(Law):
    name = "I2d"
    says = "A job's plan never changes once it is stored."

    def look(self, change, before, world, now):
        if change.plural != "placements" or before is None or not job_of(change.thing):
            return
        same = before["metadata"]["uid"] == change.thing["metadata"]["uid"]
        if same and nodes_of(before) and nodes_of(before) != nodes_of(change.thing):
            self.say(change.thing, "its nodes have changed")


class WindowLaw(Law):
    name = "I2c"
    says = "A gang is not partly bound for longer than the bind deadline allows."

    def __init__(self, seconds):
        super().__init__()
        self.seconds = seconds
        self.bound = collections.defaultdict(set)  # (job, attempt) -> workers that were ever bound
        self.open = {}  # (job, attempt) -> (since, a pod)
        self.seen = 0  # windows, for a law that nothing ever tested has proven nothing

    def look(self, change, before, world, now):
        if change.plural != "pods" or now is None or not job_of(change.thing):
            return
        pod = change.thing
        gang = job_of(pod), attempt_of(pod)
        if pod["spec"].get("nodeName") and weft(pod, "worker-index"):
            self.bound[gang].add(int(weft(pod, "worker-index")))
        plan = world.placements[gang[0]].get(gang[1])
        whole = plan is not None and len(self.bound[gang]) == len(nodes_of(plan))
        partly = not whole and any(one["spec"].get("nodeName") for one in world.live_pods(*gang))
        if partly and gang not in self.open:
            self.seen += 1
            self.open[gang] = now, pod
        elif not partly:
            self.open.pop(gang, None)

    def tick(self, world, now):
        for gang, (since, pod) in list(self.open.items()):
            if now - since > self.seconds:
                del self.open[gang]
                self.say(pod, f"its gang has been partly bound for {now - since:.0f} s")


class OncePerWorkerLaw(Law):
    name = "I3"
    says = ("One pod at most is ever created for a worker of an attempt, and none while pods of an "
            "older attempt live.")

    def __init__(self):
        super().__init__()
        self.seen = set()

    def look(self, change, before, world, now):
        pod = change.thing
        if change.plural != "pods" or change.type != "ADDED" or not weft(pod, "job-uid"):
            return
        worker = tuple(weft(pod, name) for name in ("job-uid", "attempt", "worker-index"))
        if worker in self.seen:
            self.say(pod, "created twice")
        self.seen.add(worker)
        older = [one for one in world.live_pods(job_of(pod)) if attempt_of(one) < attempt_of(pod)
                 and not self.counts_as_gone(one, world)]
        if older:
            self.say(pod, f"created beside {in_short(older[0])}")

    @staticmethod
    def counts_as_gone(pod, world):
        """Nobody confirms an end on a node that is lost; being deleted is enough there."""
        if "deletionTimestamp" not in pod["metadata"]:
            return False
        node = pod["spec"].get("nodeName")
        return node in world.unhealthy or "nodes" not in world.kinds


class AttemptLaw(Law):
    name = "I4"
    says = "The attempt of a job never goes back, and nothing of an older attempt is created."

    def look(self, change, before, world, now):
        thing = change.thing
        if change.plural == "trainingjobs" and before is not None and change.type == "MODIFIED":
            attempt = thing.get("status", {}).get("attempt", 0)
            known = before.get("status", {}).get("attempt", 0)
            if attempt < known and before["metadata"]["uid"] == thing["metadata"]["uid"]:
                self.say(thing, f"attempt {attempt} after {known}")
        if change.plural in ("pods", "placements") and change.type == "ADDED" and job_of(thing):
            job = world.jobs.get(job_of(thing))
            known = (job or {}).get("status", {}).get("attempt", 0)
            if attempt_of(thing) < known:
                self.say(thing, f"of attempt {attempt_of(thing)}, created in attempt {known}")


class StatusLaw(Law):
    name = "I5"
    says = ("A job ends once; its counters never go back; a condition's time changes with its "
            "status; it is Complete when all have succeeded.")

    def look(self, change, before, world, now):
        job = change.thing
        if change.plural != "trainingjobs" or change.type == "DELETED":
            return
        status, was = job.get("status", {}), (before or {}).get("status", {})
        if before is not None and before["metadata"]["uid"] != job["metadata"]["uid"]:
            was = {}
        self.look_at_end(job, before if was else None, world)
        self.look_at_counters(job, status, was)
        self.look_at_times(job, was)

    def look_at_end(self, job, before, world):
        ends = {kind for kind in ("Complete", "Failed") if is_so(job, kind)}
        known = {kind for kind in ("Complete", "Failed") if is_so(before, kind)}
        if len(ends) > 1 or not known <= ends:
            self.say(job, f"{sorted(ends) or 'not ended'} after {sorted(known)}")
        if "Complete" in ends - known and job["spec"]["framework"]["type"] != "MPI":
            uid, attempt = job["metadata"]["uid"], job["status"].get("attempt", 0)
            done = sum(1 for pod in world.pods[uid].values() if attempt_of(pod) == attempt
                       and pod.get("status", {}).get("phase") == "Succeeded")
            if done < job["spec"]["workers"]["replicas"]:
                self.say(job, f"Complete with {done} workers that succeeded")

    def look_at_counters(self, job, status, was):
        resets = (job["spec"].get("failurePolicy") or {}).get("resetAfterSeconds")
        # A node turned out to be to blame.
        causes = [one.get("lastFailure", {}).get("cause") for one in (was, status)]
        if causes[0] == "ProgramFailed" != causes[1] and (
                status.get("restarts", 0) == was.get("restarts", 0) - 1):
            resets = True
        for field in ("observedGeneration",) if resets else ("observedGeneration", "restarts"):
            if status.get(field, 0) < was.get(field, 0):
                self.say(job, f"{field} {status.get(field, 0)} after {was[field]}")
        if status.get("observedGeneration", 0) > job["metadata"]["generation"]:
            self.say(job, "observedGeneration is of the future")
        # Counted: what its program did wrong.
        why, known = condition_of(job, "Restarting"), next(
            (one for one in was.get("conditions", []) if one["type"] == "Restarting"), {})
        begins = why and why["status"] == "True" and known.get("status") != "True"
        counts = begins and PROGRAM_FAILED.match(why["reason"])
        if counts and not resets and status.get("restarts", 0) <= was.get("restarts", 0):
            self.say(job, f"restarted for {why['reason']} and not counted")

    def look_at_times(self, job, was):
        for known in was.get("conditions", []):
            now = condition_of(job, known["type"])
            if now and now["status"] == known["status"] and (
                    now.get("lastTransitionTime") != known.get("lastTransitionTime")):
                self.say(job, f"{known['type']} is {now['status']} as before, at another time")


class DepartureLaw(Law):
    name = "I11"
    says = "A job's pods are gone before its finalizer is, and the job."

    def __init__(self, lost_nodes=()):
        super().__init__()
        self.lost_nodes = lost_nodes

    def look(self, change, before, world, now):
        job = change.thing
        if change.plural != "trainingjobs":
            return
        had = FINALIZER in (before or {}).get("metadata", {}).get("finalizers", [])
        has = FINALIZER in job["metadata"].get("finalizers", [])
        if change.type == "DELETED" or (had and not has):
            for pod in world.pods[job["metadata"]["uid"]].values():
                if not self.counts_as_gone(pod, world):
                    self.say(job, f"let go before its pod {in_short(pod)}")

    def counts_as_gone(self, pod, world):
        node = pod["spec"].get("nodeName")
        lost = node in self.lost_nodes or node in world.unhealthy
        return lost and "deletionTimestamp" in pod["metadata"]


class OwnedServiceLaw(Law):
    name = "I9"
    says = "The Service that a running job's workers are found by is the job's own."

    def look(self, change, before, world, now):
        job = change.thing
        if change.plural != "trainingjobs" or change.type == "DELETED":
            return
        if "services" not in world.kinds or not is_so(job, "PodsReady") or is_so(
                before, "PodsReady"):
            return
        uid = job["metadata"]["uid"]
        own = {uid} | {one["metadata"]["uid"] for one in world.placements[uid].values()}
        for pod in world.live_pods(uid, job["status"].get("attempt")):
            name = pod["spec"].get("subdomain")
            service = world.things["services"].get((pod["metadata"]["namespace"], name))
            meta = (service or {"metadata": {}})["metadata"]
            owners = {one["uid"] for one in meta.get("ownerReferences", [])}
            if not owners:  # nobody owns the operator's: its label names the job
                owners = {meta.get("labels", {}).get("weft.dev/job-uid", "")}
            if not owners & own:
                self.say(job, f"runs with the Service {name} of somebody else, or without")
                return


class ExclusionLaw(Law):
    name = "I10"
    says = "A node that refused a pod of the job is not planned again while others are free."

    def look(self, change, before, world, now):
        placement = change.thing
        if change.plural != "placements" or change.type == "DELETED" or not job_of(placement):
            return
        if not nodes_of(placement) or (before is not None and nodes_of(before)):
            return
        job = world.jobs.get(job_of(placement), {"status": {}})
        why = condition_of(job, "Restarting")
        if why is None or why["reason"] != "BindRefused":
            return
        words = why["message"]
        refused = [node for node in nodes_of(placement) if re.search(rf"\b{re.escape(node)}\b", words)]
        free = [node for (_, node) in world.things["nodes"] if not world.on_node[node]]
        if refused and len(free) > len(nodes_of(placement)):
            self.say(placement, f"planned on {refused[0]}, which refused it before: {words}")


class TemplateLaw(Law):
    name = "I15"
    says = "A pod is what its job's template says, but for what ties it to the job."
    exact = ("nodeSelector", "priorityClassName", "serviceAccountName", "runtimeClassName",
             "terminationGracePeriodSeconds", "securityContext", "imagePullSecrets")
    never = ("hostNetwork", "hostPID", "hostIPC")

    def look(self, change, before, world, now):
        pod = change.thing
        if change.plural != "pods" or change.type != "ADDED" or not weft(pod, "worker-index"):
            return
        job = world.jobs.get(job_of(pod))
        if job is None:
            return
        template = job["spec"]["workers"]["template"]["spec"]
        for field in self.exact:
            if field in template and pod["spec"].get(field) != template[field]:
                self.say(pod, f"{field} is not the template's")
        for field in self.never:
            if pod["spec"].get(field, False) != template.get(field, False):
                self.say(pod, f"{field} is not the template's")
        made = {one["name"]: one for one in pod["spec"]["containers"]}
        # mpirun of worker 0 starts the others' ranks: their container serves ssh.
        serves = job["spec"]["framework"]["type"] == "MPI" and weft(pod, "worker-index") != "0"
        for wanted in template["containers"]:
            if serves:
                wanted = {**wanted}
                wanted.pop("command", None)
                wanted.pop("args", None)
            self.compare(pod, wanted, made.get(wanted["name"], {}))
        if len(made) != len(template["containers"]):
            self.say(pod, "has containers that the template lacks")

    def compare(self, pod, wanted, made):
        for field, value in wanted.items():
            if field == "env":
                there = {one["name"]: one for one in made.get("env", [])}
                same = all(there.get(one["name"]) is not None for one in value)
            elif field == "volumeMounts":
                same = all(one in made.get(field, []) for one in value)
            elif field == "resources":
                same = as_text((made.get(field) or {}).get("limits")) == as_text(
                    value.get("limits"))
            else:
                same = made.get(field) == value
            if not same:
                self.say(pod, f"container {wanted['name']}: {field} is not the template's")


def as_text(amounts):
    return {name: str(amount) for name, amount in (amounts or {}).items()}


class CanaryLaw(Law):
    name = "I17"
    says = "Nothing secret of a job is told in a status, an event or a file of Weft's."
    kinds = ("trainingjobs", "placements", "events", "configmaps", "services")

    def __init__(self, canary):
        super().__init__()
        self.canary = canary

    def look(self, change, before, world, now):
        if not self.canary or change.plural not in self.kinds or change.type == "DELETED":
            return
        thing = change.thing
        told = thing.get("status") if change.plural == "trainingjobs" else {
            key: value for key, value in thing.items() if key != "metadata"}
        if self.canary in str(told):
            self.say(thing, f"a {change.plural} tells a secret")


class VisibleLaw(Law):
    name = "I20"
    says = "A job that does not start says why, soon, in a condition."

    def __init__(self, seconds):
        super().__init__()
        self.seconds = seconds
        self.mute = {}  # job -> (since, it)

    def look(self, change, before, world, now):
        if change.plural != "trainingjobs" or now is None:
            return
        uid = change.thing["metadata"]["uid"]
        if change.type == "DELETED" or self.speaks(change.thing):
            self.mute.pop(uid, None)
        elif uid not in self.mute:
            self.mute[uid] = now, change.thing

    @staticmethod
    def speaks(job):
        """Placed, or a reason why not."""
        refused = any(one["status"] == "False" and one.get("reason") and one.get("message")
                      and one["type"] in ("Accepted", "Placed")
                      for one in job.get("status", {}).get("conditions", []))
        return refused or is_so(job, "Placed") or is_so(job, "Suspended") or (
            "deletionTimestamp" in job["metadata"])

    def tick(self, world, now):
        for uid, (since, job) in list(self.mute.items()):
            if now - since > self.seconds:
                del self.mute[uid]
                self.say(job, f"neither placed nor told why for {now - since:.0f} s")


def in_short(pod):
    name, status, deleted = (pod["metadata"]["name"], pod.get("status", {}).get("phase"),
                             pod["metadata"].get("deletionTimestamp"))
    return f"{name} on {pod['spec'].get('nodeName')}, {status}" + (
        f", deleted at {deleted}" if deleted else "")


class Laws:
    """All of them over one history."""

    def __init__(self, *laws, clock=None):
        self.world = World()
        self.laws = laws
        self.clock = clock or (lambda: None)

    def see(self, change):
        now = self.clock()
        before = self.world.apply(change, -1e9 if now is None else now)
        for law in self.laws:
            law.look(change, before, self.world, now)

    def tick(self):
        for law in self.laws:
            law.tick(self.world, self.clock())

    @property
    def broken(self):
        return [sentence for law in self.laws for sentence in law.broken]


def timeless(lost_nodes=()):
    return [SchedulerLaw(), PlanFirstLaw(), FixedPlanLaw(), OncePerWorkerLaw(), AttemptLaw(),
            StatusLaw(), DepartureLaw(lost_nodes), TemplateLaw()]


def broken_laws(changes, lost_nodes=()):
    """What the changes break of the laws that need no clock, each in a sentence."""
    laws = Laws(*timeless(lost_nodes))
    for change in changes:
        laws.see(change)
    return laws.broken

