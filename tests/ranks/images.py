"""What images hold, since there are none here: the environment that an image would bring, and the
folders of this machine that are seen in it."""

import os

# The scripts of the tests, in every container. One short path wherever the tree is: Debian's
# mpirun 4.1.4 dies in libhwloc where it is long.
PROGRAMS = "/programs"
PROGRAMS_HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Images:
    """By name. Each sees the machine's own programs and those of its folders."""

    def __init__(self):
        self.images = {}

    def add(self, name, folders=(), container=None, **environment):
        """`folders` with a bin/ come first in PATH. On real nodes the pods have the image
        `container`, of tests/ground/image.sh; else that of all frameworks."""
        paths = [os.path.join(folder, "bin") for folder in folders]
        path = ":".join([*filter(os.path.isdir, paths), SYSTEM_PATH])
        self.images[name] = {"folders": {PROGRAMS: PROGRAMS_HERE, **{one: one for one in folders}},
                             "environment": {"PATH": path, "HOME": "/tmp", **environment},
                             "container": container}

    def get(self, name):
        return self.images.get(name)
