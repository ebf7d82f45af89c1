#!/usr/bin/env python3
"""The bounded form of the campaign: every story without a bug, and some single faults. Other tests run
beside it, so laws of time have a second try; the campaign gives none."""

import seeded
import singles

# Of each group of the catalogue what differs most from the others.
FAULTS = ("drop", "reset after apply", "410 in a watch", "event cut short", "SIGKILL kube-apiserver",
          "SIGKILL etcd", "SIGKILL operator")

if __name__ == "__main__":
    healthy = seeded.play_healthy([], again=True)
    raise SystemExit(0 if singles.play_all(FAULTS, again=True) and healthy else 1)
