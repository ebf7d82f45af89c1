#!/usr/bin/env python3
"""shrink.py, with small programs in place of weft-day."""

import contextlib
import io
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import shrink  # noqa: E402

# Breaks I22 while fault 17 and the jobs 3 and 20 come, in at least two hours and on eight nodes, and
# another law without fault 5: that one must stay too.
FAKE = """#!{python}
import sys
words = sys.argv[1:]
flags = dict(zip(words[::2], words[1::2]))
def without(name):
    for part in filter(None, flags.get(name, "").split(",")):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)
def comes(name, number):
    return number not in without("--without-" + name) and number < int(flags["--" + name])
law = ""
if comes("faults", 17) and comes("jobs", 3) and comes("jobs", 20):
    if int(flags["--hours"]) >= 2 and int(flags["--nodes"]) >= 8:
        law = "I22" if comes("faults", 5) else "I6"
if law:
    print("seed 1: 3 faults\\n  seed 1 breaks at step 9:\\n  " + law + ": it did")
sys.exit(1 if law else 0)
"""
# Dies if faults are left out, by its own limit of time if jobs are, and does not end otherwise.
RUNAWAY = """#!{python}
import os, signal, sys
if "--without-jobs" in sys.argv:
    os.kill(os.getpid(), signal.SIGALRM)
if "--without-faults" in sys.argv:
    os.abort()
while True:
    pass
"""


class ShrinkTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.program = os.path.join(folder.name, "day")
        self.addCleanup(setattr, shrink, "LONGEST_SECONDS", shrink.LONGEST_SECONDS)

    def write(self, source):
        with open(self.program, "w", encoding="utf-8") as file:
            file.write(source.format(python=sys.executable))
        os.chmod(self.program, 0o755)

    def shrunk(self, *flags):
        """What it prints, and the flags of the last line."""
        told = io.StringIO()
        self.addCleanup(setattr, sys, "argv", sys.argv)
        sys.argv = ["shrink.py", self.program, *flags]
        with contextlib.redirect_stdout(told):
            shrink.main()
        lines = told.getvalue().strip().splitlines()
        words = lines[-1].split()[1:]
        return lines, dict(zip(words[::2], words[1::2]))

    def test_leaves_only_what_the_law_needs(self):
        self.write(FAKE)
        lines, flags = self.shrunk("--seed", "1", "--hours", "9", "--jobs", "30", "--faults", "40",
                                   "--nodes", "64")
        self.assertEqual(lines[0], "breaks I22")
        self.assertEqual(flags, {
            "--seed": "1", "--hours": "2", "--jobs": "30", "--faults": "40", "--nodes": "8",
            "--without-faults": "0-4,6-16,18-39", "--without-jobs": "0-2,4-19,21-29"})
        self.assertTrue(lines[1].startswith("2 faults and 2 jobs are left"), lines)

    def test_a_day_that_breaks_no_law_is_told(self):
        self.write(FAKE)
        with self.assertRaisesRegex(SystemExit, "breaks no law"):
            self.shrunk("--seed", "1", "--hours", "1", "--jobs", "30", "--faults", "40",
                        "--nodes", "64")

    def test_a_day_that_does_not_end_is_told_by_its_processor_time(self):
        self.write(RUNAWAY)
        shrink.LONGEST_SECONDS = 1
        self.assertEqual(shrink.law_of([self.program]), "I6")
        self.assertEqual(shrink.law_of([self.program, "--without-jobs", "2"]), "I6")

    def test_a_program_that_dies_is_told(self):
        self.write(RUNAWAY)
        self.assertEqual(shrink.law_of([self.program, "--without-faults", "2"]), "I18")


if __name__ == "__main__":
    unittest.main()
