"""Makes the names of new pods late on real nodes: CoreDNS hears of everything a while later.

    with LateDns(1): ...

While it lasts, CoreDNS reads from the API server through a program that holds back each answer. A
name is then not known (NXDOMAIN), as on a cluster whose CoreDNS has much to do; it is not an answer
that comes late, which every client waits for.
"""

import os
import re
import signal
import subprocess
import sys
import time

from late_api import API_PORT, LATE_PORT
from real_node import BRIDGE, FOLDER, in_room, process_of, read

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "late_api.py")
RELOADED = "Reloading complete"
PATIENCE_SECONDS = 60


class LateDns:
    def __init__(self, seconds):
        self.seconds, self.program = seconds, None
        self.corefile = os.path.join(FOLDER, "Corefile")
        self.usual = read(self.corefile)

    def __enter__(self):
        # pylint: disable-next=consider-using-with
        self.program = subprocess.Popen(in_room(sys.executable, "-B", PROGRAM, BRIDGE,
                                                str(self.seconds)), stdout=subprocess.PIPE)
        self.program.stdout.readline()  # it listens
        [usual] = re.findall(r"kubeconfig (\S+)", self.usual)
        late = os.path.join(FOLDER, "certificates", "coredns-late.kubeconfig")
        write(late, read(usual).replace(f":{API_PORT}", f":{LATE_PORT}"))
        self._load(self.usual.replace(usual, late))
        return self

    def __exit__(self, *_):
        self._load(self.usual)
        self.program.kill()
        self.program.wait()
        self.program.stdout.close()

    def _load(self, corefile):
        log = os.path.join(FOLDER, "logs", "coredns.log")
        write(self.corefile, corefile)
        before = read(log).count(RELOADED)
        os.kill(process_of("coredns"), signal.SIGUSR1)
        end = time.monotonic() + PATIENCE_SECONDS
        while read(log).count(RELOADED) == before:
            if time.monotonic() > end:
                raise AssertionError(f"CoreDNS does not load its Corefile: {read(log)[-500:]}")
            time.sleep(0.1)


def write(path, text):
    with open(path, "w", encoding="utf-8", opener=lambda *file: os.open(*file, 0o600)) as file:
        file.write(text)
