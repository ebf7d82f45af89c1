#!/usr/bin/env python3
"""Proof that each law can fail: every bug of operator/base/seeded_bug.h is planted in turn, and the law
that is meant for it must tell. Needs a weft-operator built with WEFT_SEEDED_BUGS.

    seeded.py                 all bugs, on one control plane
    seeded.py kLeak 14        only these
    seeded.py --healthy       the same stories without any bug: no law may tell; so also with a
                              weft-operator that is built without bugs
"""

import os
import re
import sys
import threading
import time

from rig import Rig
import scenarios as of

HEADER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "operator", "base",
                      "seeded_bug.h")
CAUGHT_SECONDS = 75
BIND_DEADLINE, WINDOW_SECONDS, VISIBLE_SECONDS = 5, 12, 12
# The law that is meant for each bug, and the story in which it tells.
MEANT = {
    "kDeleteWithoutUid": ("I8", of.plain),
    "kCommitWithoutVersion": ("I2b", of.plain),
    "kPodsBeforePlan": ("I2a", of.plain),
    "kOldPodsKept": ("I3", of.a_pod_is_lost),
    "kFinalizerEarly": ("I11", of.plain),
    "kListAtZero": ("I16", of.plain),
    "kForeignServiceTaken": ("I9", of.a_foreign_service),
    "kWritesWithoutLead": ("I7", of.a_leader_cut_off),
    "kBindDeadlineIgnored": ("I2c", of.a_rule_that_only_the_scheduler_knows),
    "kRefusedNodeAgain": ("I10", of.a_rule_that_only_the_scheduler_knows),
    "kHotRefusal": ("I6", of.a_quota_that_comes_and_goes),
    "kCompleteEarly": ("I5", of.one_worker_ends_before_the_other),
    "kRestartUncounted": ("I5", of.the_program_fails),
    "kFailedTriedAgain": ("I5", of.the_program_fails),
    "kSecretTold": ("I17", of.plain),
    "kGoneIgnored": ("I16", of.a_version_that_is_gone),
    "kPinnedElsewhere": ("I2a", of.plain),
    "kTemplateChanged": ("I15", of.plain),
    "kLeak": ("I19", of.jobs_in_and_out),
    "kClaimsFreedEarly": ("I1", of.pods_that_take_long_to_end),
    "kMuteRefusal": ("I20", of.a_job_that_is_too_large),
    "kDiesOfOddObject": ("I18", of.an_odd_object),
    "kLeaseKept": ("I7", of.a_leader_asked_to_go),
    "kAttemptBack": ("I4", of.a_pod_is_lost),
}


def bugs():
    """(name, number, what goes wrong), as the header has them; without those of tests/world."""
    with open(HEADER, encoding="utf-8") as file:
        text = file.read()
    of_world = int(re.search(r"kFirstOfWorld = (\d+);", text)[1])
    every = re.finditer(r"^\s+(k\w+) = (\d+),\s*// (.*)$", text, re.MULTILINE)
    return [(one[1], int(one[2]), one[3]) for one in every if int(one[2]) < of_world]


def run(story, rig, space):
    """The story's end, in words; "" where it ended as it should."""
    try:
        story(rig, space)
        return ""
    except Exception as error:  # pylint: disable=broad-exception-caught
        return f"{type(error).__name__}: {error}"


def play(story, space, environment=None, law=None):
    """(violations, how the story ended, seconds, figures); until the law tells where one is named."""
    begun = time.monotonic()
    with Rig(space, window_seconds=WINDOW_SECONDS, visible_seconds=VISIBLE_SECONDS) as rig:
        rig.how = {"flags": ("--bind-deadline", str(BIND_DEADLINE)), "environment": environment}
        rig.namespace(space)
        rig.start_operator(space, **rig.how)
        rig.until_led()
        ends, longest = [], CAUGHT_SECONDS * rig.patience
        thread = threading.Thread(target=lambda: ends.append(run(story, rig, space)), daemon=True)
        thread.start()
        while time.monotonic() - begun < longest:
            if law and any(one.startswith(law + ":") for one in rig.broken()):
                break
            thread.join(0.3)
            # Laws of time need some of it after the story.
            if not thread.is_alive() and not law:
                break
        broken = rig.broken()
        rig.clean(space)
        return broken, (ends or ["it goes on"])[0], time.monotonic() - begun, dict(rig.figures)


def try_one(story):
    """What the story without a bug broke, and how it ended unless well; printed."""
    broken, end, seconds, figures = play(story, story.__name__.replace("_", "-")[:50])
    broken += [end] if end else []
    print(f"{'BROKEN' if broken else 'ok':7} {seconds:5.1f} s  {story.__name__}"
          + "".join(f"; {what}: {figure}" for what, figure in figures.items()), flush=True)
    for sentence in broken:
        print(f"        {sentence}", flush=True)
    return broken


def play_healthy(names):
    """Whether no law was broken."""
    wrong = []
    stories = list(dict.fromkeys(story for _, story in MEANT.values()))
    stories += [of.a_leader_that_is_killed, of.edited_to_bad_and_back, of.a_full_disk_under_the_log,
                of.a_log_that_nobody_reads, of.a_stale_list]
    stories = [story for story in stories if not names or story.__name__ in names]
    for story in stories:
        wrong += [story.__name__] if try_one(story) else []
    print(f"{len(stories) - len(wrong)} of {len(stories)} stories without a violation")
    return not wrong


def catch_all(names):
    caught, all_bugs = 0, [one for one in bugs() if not names or one[0] in names
                           or str(one[1]) in names]
    print(f"{'bug':28} {'law':4} {'caught':7} {'s':>5}  what goes wrong")
    for name, number, sentence in all_bugs:
        law, story = MEANT[name]
        broken, end, seconds, _ = play(story, f"bug-{number}", {"WEFT_SEEDED_BUG": str(number)}, law)
        told = [one for one in broken if one.startswith(law + ":")]
        caught += bool(told)
        print(f"{name:28} {law:4} {'yes' if told else 'NO':7} {seconds:5.1f}  {sentence}", flush=True)
        if not told:
            print("".join(f"        {one}\n" for one in broken + [end]), flush=True)
    print(f"{caught} of {len(all_bugs)} planted bugs caught by the law that is meant for them")
    return caught == len(all_bugs)


def has_bugs(program):
    with open(program, "rb") as file:
        return b"WEFT_SEEDED_BUG" in file.read()


def main():
    names = [one for one in sys.argv[1:] if one != "--healthy"]
    healthy = "--healthy" in sys.argv or not has_bugs(os.environ["WEFT_OPERATOR"])
    if {one[0] for one in bugs()} - {"kNone"} != set(MEANT):
        raise SystemExit("seeded.py and seeded_bug.h know different bugs")
    raise SystemExit(0 if (play_healthy if healthy else catch_all)(names) else 1)


if __name__ == "__main__":
    main()
