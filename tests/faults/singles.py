#!/usr/bin/env python3
"""Each fault by itself under the same few jobs. Besides the laws: every object is created and deleted as
often as without a fault, and every job ends as it does then (the oracles of Sieve, OSDI 2022).

    singles.py              every fault of the catalogue
    singles.py NAME...      only these
"""

import collections
import contextlib
import sys
import threading
import time

import paths  # noqa: F401  pylint: disable=unused-import
import catalogue
from operator_lib import condition, label, poll
from rig import Rig

# Sizes and fates: they fit at once, so that nothing depends on who comes first.
JOBS = (("runs-0", 1), ("runs-1", 2), ("runs-2", 3), ("runs-3", 4), ("fails-0", 2), ("deleted-0", 2))
KINDS = ("pods", "services", "placements", "configmaps", "trainingjobs")
# How many go: of the job that is deleted itself, two pods, Placement and ConfigMap; of the first attempt
# of the one that fails two pods, Placement and ConfigMap. The garbage collector learns of Weft's kinds
# within half a minute of their creation. Services go besides: see Summary.by_chance.
DELETED = {"trainingjobs": 1, "pods": 4, "placements": 2, "configmaps": 2}
END_SECONDS = 120
SETTLE_SECONDS = 20
LONGEST_WORDS = 400
RECOVERY_SECONDS = 30
# A gang must not start anew for a fault that passes.
FLAGS = ("--bind-deadline", "60", "--node-loss", "60")


class Summary:
    """How often each object came and went, and how each job ended. A thread of the watch adds to it while others
    read it."""

    def __init__(self, space):
        self.lock = threading.RLock()
        self.space = space
        self.counts = collections.Counter()
        self.ends = {}
        self.over = False  # what comes now is the rig's own tidying up

    def see(self, change):
        with self.lock:
            self._see(change)

    def _see(self, change):
        meta = change.thing["metadata"]
        if self.over or meta.get("namespace") != self.space or change.plural not in KINDS:
            return
        if meta["name"] == "kube-root-ca.crt" or meta["name"].startswith("canary"):
            return
        if change.type != "MODIFIED":
            name = meta["name"]
            if change.plural == "services":
                name += f" of attempt {label(change.thing, 'attempt')}"
            self.counts[change.plural, name, change.type] += 1
        if change.plural == "trainingjobs":
            status = change.thing.get("status", {})
            self.ends[meta["name"]] = {
                "attempt": status.get("attempt"), "restarts": status.get("restarts"),
                "conditions": sorted(
                    (one["type"], one["status"], one["reason"])
                    for one in status.get("conditions", []))}

    def are_collected(self):
        """Whether all has gone that goes without a fault."""
        with self.lock:
            gone = collections.Counter()
            for (plural, _, kind), times in self.counts.items():
                gone[plural] += times if kind == "DELETED" else 0
            return all(gone[plural] >= least for plural, least in DELETED.items())

    def differs(self, reference):
        """In words; "" where nothing does."""
        with self.lock:
            return self._differs(reference)

    def _differs(self, reference):
        counts = {key: (self.counts[key], reference.counts[key])
                  for key in self.counts | reference.counts
                  if self.counts[key] != reference.counts[key]
                  and not self.by_chance(*key) and not reference.by_chance(*key)}
        ends = {name: (self.ends.get(name), end) for name, end in reference.ends.items()
                if self.ends.get(name) != end and not name.startswith("deleted")}
        return "; ".join(f"{what}: {now}, not {then}" for what, (now, then) in
                         sorted({**counts, **ends}.items(), key=str))

    def by_chance(self, plural, name, kind):
        """What depends on who comes first, with or without a fault. A Service is created after the
        pods: programs that end before that have none. And of a last attempt that fails, a worker that
        still runs when the other has failed is deleted, and the failed one stays."""
        if plural == "services":
            return not name.startswith("deleted") and not any(
                self.counts[plural, name, change] for change in ("ADDED", "DELETED"))
        last = [f"fails-0-2-{worker}" for worker in range(2)]
        return (plural == "pods" and name in last and kind == "DELETED"
                and sum(self.counts[plural, pod, kind] for pod in last) < len(last))


def apply_all(rig, space):
    for name, workers in JOBS:
        how = {"annotations": {"weft.test/exit-code": "1"}} if name.startswith("fails") else {}
        rig.apply(space, name, workers, None if name.startswith("deleted") else 1,
                  failurePolicy={"maxRestarts": 1}, **how)


def all_ended(rig, space):
    for name, _ in JOBS:
        job = rig.cluster.job(space, name)
        if name.startswith("deleted"):
            if job is not None:
                return False
            continue
        wanted = "Failed" if name.startswith("fails") else "Complete"
        if (condition(job, wanted) or {}).get("status") != "True":
            return False
    return True


def end_the_deleted(rig, space):
    """As soon as it runs."""
    rig.cluster.until_running(space, "deleted-0", seconds=END_SECONDS)
    rig.cluster.delete("trainingjobs", space, "deleted-0")


def play(fault, reference=None):
    """(summary, violations, seconds from the fault's end until all was well, faults that fired)"""
    space = "single-" + "".join(c if c.isalnum() else "-" for c in (
        fault.name.lower() if fault else "reference")).strip("-")
    with Rig(space, seed=1) as rig:
        rig.spaces = [rig.namespace(space)]
        summary = Summary(space)
        with rig.cluster.history._changed:  # pylint: disable=protected-access
            rig.cluster.history.observers.append(summary.see)
        for name in ("a", "b"):
            rig.start_operator(f"{space}-{name}"[:50], FLAGS,
                               environment=rig.clock_of_its_own() if name == "a" else None)
        rig.until_led()
        rig.until_ready()
        threading.Thread(target=end_the_deleted, args=(rig, space), daemon=True).start()
        if fault and fault.hard:
            rig.clock.stop()
        first = isinstance(fault, catalogue.Rules)
        if not first:
            apply_all(rig, space)
            rig.cluster.until("a gang is placed", lambda: any(
                condition(rig.cluster.job(space, name), "Placed") for name, _ in JOBS), END_SECONDS)
        begun = time.monotonic()
        if fault:
            fault.begin(rig)
        if first:
            apply_all(rig, space)
        end = begun + (fault.seconds if fault else 0)
        while (left := end - time.monotonic()) > 0:
            rig.cluster.history.grown_beyond(1 << 62, left)
        if fault:
            fault.end(rig)
        rig.clock.go_on()
        over = time.monotonic()
        rig.cluster.until("all ended as meant", lambda: all_ended(rig, space), END_SECONDS)
        seconds = time.monotonic() - over
        rig.judge_truth()
        if reference is not None and seconds > RECOVERY_SECONDS * rig.patience:
            rig.say("I6", f"all was well only {seconds:.0f} s after the fault")
        fired = sum((rig.plan.fired + rig.fired).values())
        if fault and not fired:
            rig.say("rig", "the fault never fired")
        if reference is None:
            poll(summary.are_collected, "what the deleted job owned is collected")
        else:  # what a deleted job owned is collected in the controllers' own time
            with contextlib.suppress(AssertionError):
                poll(lambda: not summary.differs(reference), "as without the fault", SETTLE_SECONDS)
            if words := summary.differs(reference):
                rig.say("I10 by count", words[:LONGEST_WORDS])
        summary.over = True
        broken = rig.broken()
        rig.clean(space)
        return summary, broken, seconds, fired


def try_one(fault, reference):
    """(summary, violations), printed. Without a fault and a reference this is the reference."""
    try:
        summary, broken, seconds, fired = play(fault, reference)
    except AssertionError as error:
        summary, broken, seconds, fired = None, [f"I6: {error}"], 0.0, 0
    print(f"{'BROKEN' if broken else 'ok':7} {fired:4} times, well after {seconds:5.1f} s  "
          f"{fault.name if fault else 'reference'}", flush=True)
    for sentence in broken:
        print(f"        {sentence}", flush=True)
    return summary, broken


def play_all(names=(), faults=None):
    """Whether no law was broken."""
    reference, wrong = try_one(None, None)
    if reference is None:
        return False
    faults = faults or (catalogue.requests() + catalogue.watches() + catalogue.processes()
                        + catalogue.leaders() + catalogue.clocks())
    for fault in [one for one in faults if not names or one.name in names]:
        wrong += try_one(fault, reference)[1]
    return not wrong


if __name__ == "__main__":
    sys.exit(0 if play_all(sys.argv[1:]) else 1)
