#!/usr/bin/env python3
"""How fast a job becomes bound pods with a PodGroup for its gang, against pins alone.

Two weft-operators in turn, on one cluster: as it is by default, and with --pod-groups=false. Each is
given one job; measured is the time from the request to the last pod bound, on servers that are
quiet before. A first round is not counted. Prints each run, the medians, and the median of the
ratios within a round. See pod_groups.sh.
"""

import argparse
import os
import statistics
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
from handoff import Bench, show  # noqa: E402
from operator_lib import Operator  # noqa: E402

MODES = {"PodGroup": (), "pins alone": ("--pod-groups=false",)}
GOAL = 1.2  # times as long as with pins alone


def measure(bench, mode, work):
    """One run, and whether the pods were in a group."""
    bench.cluster.delete("leases", "weft-system", "weft-operator")  # of the one before
    operator = Operator(work, mode.replace(" ", "-"), *MODES[mode])
    try:
        bench.warm_up()
        run, pods, _ = bench.by_operator(operator)
    finally:
        operator.stop()
    grouped = all("schedulingGroup" in pod["spec"] for pod in pods)
    if grouped != (mode == "PodGroup"):
        raise AssertionError(f"{mode}: pods with a PodGroup: {grouped}")
    return run


def compare(bench, rounds, work):
    taken = {mode: [] for mode in MODES}
    for number in range(rounds + 1):
        order = list(MODES) if number % 2 else list(MODES)[::-1]
        for mode in order:
            run = measure(bench, mode, work)
            show(mode, run, bench.workers, counted=number > 0)
            if number > 0:
                taken[mode].append(run)
    print(f"{bench.workers} workers, medians:")
    for mode, runs in taken.items():
        seconds = statistics.median(run.seconds for run in runs)
        processor = statistics.median(run.processor["kube-scheduler"] for run in runs)
        print(f"{mode:>12}  {seconds:6.2f} s  kube-scheduler {processor:.1f} processor s")
    ratio = statistics.median(a.seconds / b.seconds for a, b in zip(*taken.values()))
    print(f"{'':>12}  PodGroup against pins alone {ratio:.2f}, goal {GOAL}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, nargs="+", default=[64, 256])
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    bench = Bench(jobs=1, workers=0)
    with tempfile.TemporaryDirectory() as work:
        for bench.workers in arguments.workers:
            compare(bench, arguments.rounds, work)


if __name__ == "__main__":
    main()
