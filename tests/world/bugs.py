#!/usr/bin/env python3
"""Proof that the world's laws can fail: every bug of operator/base/seeded_bug.h is planted in turn, and
seeds are played until a law tells. Needs a weft-day built with WEFT_SEEDED_BUGS.

    bugs.py build-seeded/bin/weft-day                all bugs, at most 50 seeds each
    bugs.py build-seeded/bin/weft-day 101 kLeak      only these
    bugs.py build-seeded/bin/weft-day --all          plays every seed: how many of them tell
    bugs.py build-seeded/bin/weft-day --seeds 20     at most so many seeds
"""

import os
import re
import resource
import signal
import statistics
import subprocess
import sys

HEADER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "operator", "base",
                      "seeded_bug.h")
# A busy day, which a seed plays in a fraction of a second.
DAY = ["--hours", "2", "--jobs", "40", "--faults", "60"]
LONGEST_SECONDS = 60
# Other days, for bugs that show only there: jobs in queues of Kueue, or a cluster so small that jobs
# wait for all of it.
KUEUE = ["--kueue", "1"]
SMALL = ["--nodes", "24", "--whole", "1"]
MORE = {
    "kLostReservation": [*KUEUE, "--nodes", "20"],
    "kEvictedLast": [*KUEUE, "--nodes", "24"],
    "kQueueMerged": KUEUE,
    "kDoneForgotten": [*KUEUE, "--nodes", "16"],
    "kKueuesClock": [*KUEUE, "--nodes", "24"],
    "kCapacityUnheard": SMALL,
    "kPreemptionCut": ["--gates", "1"],
    "kExcludedForEver": SMALL,
}
# What the world has no model of, so that it cannot catch them.
NO_MODEL = {
    "kStepsNeverSlow": "needs a second bug, whose steps do not end",
}


def bugs():
    """(name, number, what goes wrong), as the header has them."""
    with open(HEADER, encoding="utf-8") as file:
        return [(one[1], int(one[2]), one[3]) for one in re.finditer(
            r"^\s+(k\w+) = (\d+),\s*// (.*)$", file.read(), re.MULTILINE)]


def play(program, bug, seed, more=()):
    """The law that told and its words, or ("", "")."""
    command = [program, "--bug", str(bug), "--seed", str(seed), *DAY, *more]
    # Time of the processor, which other work on the machine does not change.
    longest = (LONGEST_SECONDS, LONGEST_SECONDS + 5)
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, longest))
    if done.returncode in (-signal.SIGXCPU, -signal.SIGALRM):
        return "I6", f"seed {seed} does not end"
    if done.returncode not in (0, 1):
        return "I18", (done.stderr.strip().splitlines() or ["the process died"])[-1]
    found = re.search(r"breaks at step \d+:\n  (\S+): (.*)", done.stdout)
    return (found[1], found[2]) if found else ("", "")


def try_one(program, number, seeds, every, more=()):
    """([seeds that told], {law: how many}, the first words)."""
    told, laws, words = [], {}, ""
    for seed in range(1, seeds + 1):
        law, text = play(program, number, seed, more)
        # A day that breaks a law without the bug proves nothing.
        if not law or play(program, 0, seed, more)[0]:
            continue
        told.append(seed)
        laws[law] = laws.get(law, 0) + 1
        words = words or text
        if not every:
            break
    return told, laws, words


def options(arguments):
    every, seeds = "--all" in arguments, 50
    names = [one for one in arguments if one != "--all"]
    if "--seeds" in names:
        at = names.index("--seeds")
        seeds = int(names[at + 1])
        del names[at:at + 2]
    return names[0], names[1:], every, seeds


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    program, names, every, seeds = options(sys.argv[1:])
    chosen = [one for one in bugs() if one[1] and (not names or one[0] in names
                                                   or str(one[1]) in names)]
    print(f"{'bug':28} {'first':>5} {'told':>5}  {'by':10} what goes wrong", flush=True)
    firsts, missed = [], []
    for name, number, sentence in chosen:
        told, laws, words = try_one(program, number, seeds, every,
                                    MORE.get(name, ()))
        by = ",".join(sorted(laws, key=laws.get, reverse=True)[:3])
        print(f"{name:28} {told[0] if told else '-':>5} {len(told):>5}  "
              f"{by or NO_MODEL.get(name, 'NOBODY')[:20]:10} {sentence}", flush=True)
        if words:
            print(f"    {words[:150]}", flush=True)
        if told:
            firsts.append(told[0])
        elif name not in NO_MODEL:
            missed.append(name)
    if firsts:
        print(f"{len(firsts)} of {len(chosen)} bugs told; the first seed that tells is in the median "
              f"{statistics.median(firsts):g}, at worst {max(firsts)}")
    if missed:
        print("missed: " + ", ".join(missed))
    return not missed


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
