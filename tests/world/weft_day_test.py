#!/usr/bin/env python3
"""What weft-day tells: the page of a day, how to replay a day that breaks a law, crashes or does not
end, and that leaving parts out changes nothing else. Days without an operator break a law, because
no job starts.

    weft_day_test.py build/bin/weft-day
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

FOLDER = os.path.dirname(os.path.abspath(__file__))
PROGRAM = ""
BROKEN = ["--seed", "5", "--count", "2", "--hours", "1", "--jobs", "6", "--faults", "4", "--nodes", "8",
          "--operators", "0"]


def play(*words):
    return subprocess.run([*words], capture_output=True, text=True, check=False)


def broken(done):
    """(step, law and its words) of the first day that breaks a law."""
    found = re.search(r"breaks at step (\d+):\n  (\S+: .*)", done.stdout)
    assert found, done.stdout + done.stderr
    return found[1], found[2]


class WeftDayTest(unittest.TestCase):
    def test_the_page_shows_jobs_nodes_leaders_and_faults(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "day.html")
            done = play(PROGRAM, "--seed", "4", "--hours", "1", "--jobs", "5", "--faults", "20",
                        "--nodes", "8", "--timeline", file)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            with open(file, encoding="utf-8") as page:
                text = page.read()
        names = [f"/job-{i}" for i in range(5)] + ["/batch-0", "/batch-4"]
        for name in names + [f"node-{i:04}" for i in range(8)] + ["weft-0-1"]:
            self.assertIn(name, text)
        parts = {one.split(">")[0]: one for one in text.split("<h2>")[1:]}
        jobs = next(one for name, one in parts.items() if name.startswith("Jobs"))
        self.assertGreater(jobs.count("<rect"), 5, "jobs have bars")
        self.assertGreater(text.count('class="fault"'), 5, "faults are marked")

    def test_a_day_that_cannot_be_is_refused(self):
        for words, said in ((("--kueue", "1", "--nodes", "15"), "at least 16 nodes"),
                            (("--gates", "6"), "at most 5")):
            done = play(PROGRAM, *words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)

    def test_a_day_that_breaks_a_law_tells_how_to_replay_it(self):
        first = play(PROGRAM, *BROKEN)
        self.assertEqual(first.returncode, 1, first.stderr)
        self.assertRegex(first.stdout, r"\n  commit: ([0-9a-f]{7,40}(-dirty)?|unknown)\n")
        replay = re.search(r"\n  replay: (.*)\n", first.stdout)[1].split()
        self.assertEqual(replay[:3], [PROGRAM, "--seed", "5"])
        self.assertEqual(broken(play(*replay)), broken(first))

    def test_a_day_that_crashes_tells_what_one_that_breaks_a_law_does(self):
        days = [PROGRAM, "--seed", "5", "--count", "1000", "--hours", "1", "--jobs", "6", "--faults", "4"]
        with subprocess.Popen(days, stdout=subprocess.PIPE, text=True) as run:
            self.assertRegex(run.stdout.readline(), "^seed 5: ")
            run.send_signal(signal.SIGSEGV)
            told = run.stdout.read()
        self.assertEqual(run.returncode, -signal.SIGSEGV)
        seed, step = re.search(r"  seed (\d+) breaks at step (\d+):\n"
                               r"  I18: the program died: Segmentation fault\n  commit: .*\n", told).groups()
        self.assertIn(f"\n  replay: {PROGRAM} --seed {seed} --hours 1 --jobs 6 --faults 4 --until {step} -v\n"
                      f"  shrink: ", told)
        # In a buffer there are the lines of some thirty days.
        self.assertLess(int(seed), 25, "the line of a day comes at its end")

    def test_a_day_that_does_not_end_tells_its_last_changes(self):
        days = ["--seed", "5", "--hours", "100000", "--operators", "1", "--longest"]
        done = play(PROGRAM, *days, "5")
        self.assertEqual(done.returncode, -signal.SIGALRM, done.stdout + done.stderr)
        step, law = broken(done)
        self.assertEqual(law, "I6: the day has not ended in 5 s")
        self.assertIn(f"\n  replay: {PROGRAM} {' '.join(days[:-1])} --until {step} -v\n", done.stdout)
        self.assertRegex(done.stdout, r"\n  the last changes:\n(    [0-9.]+ .+\n){1,120}$")

    def test_the_command_that_shrinks_works(self):
        first = play(PROGRAM, *BROKEN)
        words = re.search(r"\n  shrink: (.*)\n", first.stdout)[1].split()
        done = play(sys.executable, os.path.join(FOLDER, os.path.basename(words[0])), *words[1:])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("\n0 faults and 1 jobs are left", done.stdout)
        last = play(*done.stdout.strip().splitlines()[-1].split())
        self.assertEqual(broken(last)[1].split()[0], broken(first)[1].split()[0])

    def test_leaving_a_job_out_leaves_the_others_as_they_are(self):
        def jobs(*more):
            """The first state of every job, by its name."""
            done = play(PROGRAM, "--seed", "9", "--hours", "1", "--jobs", "12", "--faults", "0", "--nodes",
                        "16", "--kueue", "1", "--show", "team-", *more)
            found = {}
            for line in done.stdout.splitlines():
                name = re.match(r'\{"apiVersion":"[^"]*","kind":"(?:TrainingJob|Job)","metadata":\{.*?'
                                r'"name":"((?:job|batch)-\d+)","namespace"', line)
                if name:
                    found.setdefault(name[1], re.sub(r'"(uid|resourceVersion)":"[^"]*"', "", line))
            return found
        every = jobs()
        self.assertGreaterEqual(len(every), 12)
        left = jobs("--without-jobs", "0,4-6")
        for name in ("job-0", "job-4", "job-5", "job-6", "batch-0", "batch-4"):
            self.assertNotIn(name, left)
            every.pop(name)
        self.assertEqual(left, every)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
