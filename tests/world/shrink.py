#!/usr/bin/env python3
"""Makes a day that breaks a law small: as few faults, jobs and hours as still break the same law.
Prints the command that plays it.

    shrink.py build/bin/weft-day --seed 17 --hours 2 --jobs 40 --faults 60 [--kueue 1] [--bug N]

Every day that it tries is played in full, so it takes some hundred times as long as the day.
"""

import re
import resource
import signal
import subprocess
import sys

LONGEST_SECONDS = 120  # of the processor, which other work on the machine does not change
# What weft-day takes for granted.
USUAL = {"--hours": 24, "--jobs": 200, "--faults": 100, "--nodes": 64}


def law_of(command):
    """The law that the day breaks; "I6" if it does not end, "I18" if the program dies, "" if none."""
    longest = (LONGEST_SECONDS, LONGEST_SECONDS + 5)
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, longest))
    if done.returncode in (-signal.SIGXCPU, -signal.SIGALRM):
        return "I6"
    if done.returncode == 2:
        sys.exit(done.stderr.strip())
    if done.returncode not in (0, 1):
        return "I18"
    found = re.search(r"breaks at step \d+:\n  (\S+): ", done.stdout)
    return found[1] if found else ""


def ranges(numbers):
    """{0, 1, 2, 5} as "0-2,5"."""
    parts = []
    for one in sorted(numbers):
        if parts and parts[-1][1] == one - 1:
            parts[-1][1] = one
        else:
            parts.append([one, one])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


class Day:
    """A day as flags, with the faults and jobs that are left out."""

    def __init__(self, program, flags):
        self.program = program
        self.flags = flags
        self.without = {"--without-faults": set(), "--without-jobs": set()}
        self.tried = 0

    def command(self, flags=None, without=None):
        command = [self.program]
        for name, value in (flags or self.flags).items():
            command += [name, str(value)]
        for name, numbers in (without or self.without).items():
            if numbers:
                command += [name, ranges(numbers)]
        return command

    def breaks(self, law, flags=None, without=None):
        self.tried += 1
        return law_of(self.command(flags, without)) == law

    def number(self, name):
        return int(self.flags.get(name, USUAL[name]))

    def lessen(self, law, name, least):
        """Halves the number while the law still breaks."""
        while self.number(name) // 2 >= least:
            flags = {**self.flags, name: self.number(name) // 2}
            if not self.breaks(law, flags):
                return
            self.flags = flags

    def leave_out(self, law, name, total):
        """Leaves out ever smaller runs of numbers (delta debugging)."""
        size = max(1, total // 2)
        while True:
            for first in range(0, total, size):
                more = set(range(first, min(total, first + size))) - self.without[name]
                without = {**self.without, name: self.without[name] | more}
                if more and self.breaks(law, without=without):
                    self.without = without
            if size == 1:
                return
            size = max(1, size // 2)


def main():
    if len(sys.argv) < 4 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    words = sys.argv[2:]
    day = Day(sys.argv[1], dict(zip(words[::2], words[1::2])))
    law = law_of(day.command())
    if not law:
        sys.exit("this day breaks no law")
    print(f"breaks {law}")
    day.lessen(law, "--hours", 1)
    day.leave_out(law, "--without-faults", day.number("--faults"))
    day.leave_out(law, "--without-jobs", day.number("--jobs"))
    day.lessen(law, "--nodes", 4)
    left = [day.number(name) - len(day.without[f"--without-{name[2:]}"]) for name in ("--faults", "--jobs")]
    print(f"{left[0]} faults and {left[1]} jobs are left after {day.tried} days:")
    print(" ".join(day.command()))


if __name__ == "__main__":
    main()
