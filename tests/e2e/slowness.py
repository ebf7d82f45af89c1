"""How much longer things take now than on this machine at rest: 1 where every process has a core. For
the times that scenarios hand to programs, and for laws of time in campaigns. In a plain run no law
depends on the machine's speed.

WEFT_SIDE_BY_SIDE    how many scripts may run at once; default 1
"""

import os


def slowness():
    # Scripts that begin beside this one are not in the load yet.
    at_once = int(os.environ.get("WEFT_SIDE_BY_SIDE", "1"))
    return max(1.0, at_once / os.cpu_count(), os.getloadavg()[0] / os.cpu_count())
