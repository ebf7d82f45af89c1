#!/usr/bin/env python3
"""Jobs in and out, by the thousand: the operator's memory does not grow with what is gone.

WEFT_JOBS: how many; it is measured after a fifth of them, three fifths and all.
"""

import os
import time

from operator_lib import condition, training_job
from operator_scenarios import Scenarios, main

JOBS = int(os.environ.get("WEFT_JOBS", 1000))
JOBS_AT_ONCE = 24
GROWTH = 1.10  # at most, from the first measure to the last
STATIONS = (JOBS // 5, JOBS * 3 // 5, JOBS)
SECONDS_OF_A_JOB = 3


class Soak(Scenarios):
    flags = ()

    def apply_job(self, number):
        name = f"job-{number}"
        # The one that fails, and the one that is deleted while it runs, leave by other doors.
        fails = {"weft.test/exit-code": "1"} if number % 10 == 3 else {}
        self.apply(training_job(self.space, name, 1 + number % 2, 1, annotations=fails,
                                failurePolicy={"maxRestarts": 1}, ttlSecondsAfterFinished=1))
        return name

    def drop_if_due(self, name):
        if name.endswith("7") and condition(self.cluster.job(self.space, name), "Placed"):
            self.cluster.delete("trainingjobs", self.space, name)

    def test_memory_is_flat(self):
        begun, applied, there, seen, sizes = time.monotonic(), 0, set(), 0, []
        end = begun + 60 + JOBS * SECONDS_OF_A_JOB
        while applied < JOBS or there:
            self.assertLess(time.monotonic(), end, f"still there: {sorted(there)}")
            while applied < JOBS and len(there) < JOBS_AT_ONCE:
                there.add(self.apply_job(applied))
                applied += 1
                # Until the watch tells of it, it would pass for gone.
                self.cluster.until("the job is seen", lambda: self.cluster.job(
                    self.space, f"job-{applied - 1}"))
            seen = self.cluster.history.grown_beyond(seen, 1)
            for name in there:
                self.drop_if_due(name)
            there = {name for name in there if self.cluster.job(self.space, name)}
            if len(sizes) < 3 and applied - len(there) >= STATIONS[len(sizes)]:
                sizes.append(self.operator.resident_kib())
                print(f"{STATIONS[len(sizes) - 1]} jobs in and out after "
                      f"{time.monotonic() - begun:.0f} s: {sizes[-1]} KiB resident", flush=True)
        self.assertEqual(len(sizes), 3)
        self.assertLess(sizes[-1], sizes[0] * GROWTH, sizes)


if __name__ == "__main__":
    main()
