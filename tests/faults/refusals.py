#!/usr/bin/env python3
"""What is written for jobs that cannot start: no room, no quota, quota for some pods only, a node that
refuses them, a silent kube-scheduler, a spec that cannot be read. Once settled, at most one write a
minute for each.

WEFT_SETTLE_SECONDS, WEFT_MEASURE_SECONDS   before and while it is counted; 240 and 180
"""

import collections
import os
import signal
import sys
import time

import paths  # noqa: F401  pylint: disable=unused-import
import catalogue
from operator_laws import has_ended
from operator_lib import GPUS, condition, label, poll
from rig import Rig
from scenarios import NODES

SETTLE_SECONDS = float(os.environ.get("WEFT_SETTLE_SECONDS", 240))
MEASURE_SECONDS = float(os.environ.get("WEFT_MEASURE_SECONDS", 180))
MOST_A_MINUTE = 1.0
# A try that creates pods is made up to this seldom (operator/life/retry.cc): longer than is measured
# here, so its writes are counted and spread over it.
LONGEST_WAIT_MINUTES = 15.0
LOOPS = ("room", "quota", "part", "sick", "unreadable", "silent")
WHAT = {"room": "no room for it", "quota": "a quota without any pod",
        "part": "a quota for two of its four pods", "sick": "a node that refuses every pod",
        "unreadable": "a spec that cannot be read", "silent": "kube-scheduler is stopped"}


def apply_refused(rig):
    cluster = rig.cluster
    rig.apply("refused-room", "room", NODES + 1)
    for space, pods in (("quota", 0), ("part", 2)):
        cluster.create("resourcequotas", {
            "metadata": {"name": "few", "namespace": f"refused-{space}"},
            "spec": {"hard": {"pods": str(pods)}}})
        poll(lambda of=f"refused-{space}": cluster.get("resourcequotas", of, "few").get("status"),
             "the quota is in force")
        rig.apply(f"refused-{space}", space, 4)
    job = rig.job("refused-unreadable", "unreadable", 2)
    job["spec"]["workers"]["template"]["spec"]["containers"][0]["resources"]["limits"][GPUS] = 4
    cluster.create("trainingjobs", job)
    sick = cluster.list("nodes")[0]["metadata"]["name"]
    rig.apply("refused-sick", "sick", 1, template={"nodeSelector": {
        "kubernetes.io/hostname": sick}})


def refuse_pods(rig):
    """As the sick node's kubelet does, at every pod."""
    for pod in rig.cluster.history.all_now("pods", "refused-sick"):
        if pod["spec"].get("nodeName") and not has_ended(pod) and "deletionTimestamp" not in pod[
                "metadata"]:
            catalogue.Node.refuse(rig, pod["spec"]["nodeName"])


def wait(rig, seconds):
    end, seen = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        seen = rig.cluster.history.grown_beyond(seen, 0.5)
        refuse_pods(rig)


def writes_of(rig, since):
    """By namespace; events and the Lease are no writes of a job."""
    counts = collections.Counter(space.removeprefix("refused-") for at, _, _, plural, space, *_
                                 in list(rig.writes) if at >= since and plural != "events")
    events = collections.Counter(space.removeprefix("refused-") for at, _, _, plural, space, *_
                                 in list(rig.writes) if at >= since and plural == "events")
    return counts, events


def measure(rig, loops):
    """Settles, counts, and says which are too many."""
    wait(rig, SETTLE_SECONDS)
    begun = time.monotonic()
    wait(rig, MEASURE_SECONDS)
    counts, events = writes_of(rig, begun)
    minutes = MEASURE_SECONDS / 60
    for loop in loops:
        rate, words = counts[loop] / minutes, WHAT[loop]
        if loop == "sick":
            rate = writes_of_a_try(rig, f"refused-{loop}") / LONGEST_WAIT_MINUTES
            words += ", at its longest wait"
        print(f"    {rate:6.2f} {events[loop] / minutes:6.2f}  {words}", flush=True)
        if rate > MOST_A_MINUTE:
            rig.say("I6", f"{rate:.1f} writes a minute: {words}: {reasons(rig, loop)}")


def writes_of_a_try(rig, space):
    """Most of them from one Placement that was created to the next."""
    tries = [0]
    for _, _, verb, plural, where, *_ in list(rig.writes):
        if where != space or plural == "events":
            continue
        if (verb, plural) == ("create", "placements"):
            tries.append(0)
        tries[-1] += 1
    if len(tries) < 3:
        rig.say("rig", f"{space}: tried {len(tries) - 1} times: that proves nothing")
    return max(tries)


def run():
    with Rig("refusals", window_seconds=1e9) as rig:
        rig.spaces = [rig.namespace(f"refused-{loop}") for loop in LOOPS]
        rig.start_operator("refusals", ("--bind-deadline", "20"))
        rig.until_led()
        apply_refused(rig)
        print(f"writes a minute once settled ({SETTLE_SECONDS:.0f} s); of events")
        measure(rig, LOOPS[:-1])
        rig.signal_server("kube-scheduler", signal.SIGSTOP)
        try:
            rig.apply("refused-silent", "silent", 4)
            measure(rig, LOOPS[-1:])
        finally:
            rig.signal_server("kube-scheduler", signal.SIGCONT)
        if rig.operators[0].ends:
            rig.say("rig", "the operator did not lead all the time: the figures prove nothing")
        broken = rig.broken()
        for space in rig.spaces:
            rig.clean(space)
    for sentence in broken:
        print(f"BROKEN {sentence}")
    return not broken


def reasons(rig, loop):
    job = rig.cluster.job(f"refused-{loop}", loop)
    return [(kind, (condition(job, kind) or {}).get("reason")) for kind in (
        "Accepted", "Placed", "Restarting")] + [len(
            [pod for pod in rig.cluster.history.all_now("pods") if label(pod, "job-name") == loop])]


if __name__ == "__main__":
    sys.exit(0 if run() else 1)
