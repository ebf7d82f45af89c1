"""How much longer things take now than on this machine at rest: 1 where every process has a core. For
the few deadlines that a scenario waits for, and for laws of time.

slowness.py: prints it, rounded up.
"""

import math
import os


def slowness():
    return max(1.0, os.getloadavg()[0] / os.cpu_count())


if __name__ == "__main__":
    print(math.ceil(slowness()))
