#!/usr/bin/env python3
"""The bounded form of the campaign: every story without a bug and every single fault, in minutes."""

import seeded

if __name__ == "__main__":
    raise SystemExit(0 if seeded.play_healthy([]) else 1)
