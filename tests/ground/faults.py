"""Faults of real nodes and of pods, as scenarios and the campaign make them."""

import contextlib
import os
import signal
import subprocess

from operator_lib import GPUS, condition
import real_node

# Nodes are lost soon, so that most scenarios are short.
FLAGS = ("--bind-deadline", "30", "--node-loss", "5", "--node-news", "5", "--leader-elect=false")
MEMORY_EATER = ("exec python3 -c "
                "'import os, time; all = os.urandom(200 << 20); time.sleep(99)'")


# -- pods; `container` is one of the pod's

def with_little_memory(container):
    """Too little for MEMORY_EATER."""
    container["resources"]["limits"]["memory"] = "64Mi"


def without_program(container):
    container["command"] = ["no-such-program"]


def with_failing_init(pod, mark, said=""):
    """It fails once, for whichever pod comes first: /cue/MARK then exists."""
    says = f"echo {said} >/dev/termination-log; " if said else ""
    container = pod["containers"][0]
    pod["initContainers"] = [{
        "name": "prepare", "image": container["image"], "volumeMounts": container["volumeMounts"],
        "command": ["bash", "-c", f"mkdir /cue/{mark} 2>/dev/null && {{ {says}exit 5; }}; exit 0"]}]


# -- nodes

def drain(node):
    subprocess.run(["kubectl", "drain", node.name, "--force", "--ignore-daemonsets",
                    "--delete-emptydir-data", "--timeout=120s"], check=True, capture_output=True)


def uncordon(node):
    subprocess.run(["kubectl", "uncordon", node.name], check=True, capture_output=True)


@contextlib.contextmanager
def silent_dns():
    dns = real_node.process_of("coredns")
    os.kill(dns, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(dns, signal.SIGCONT)


def is_true(thing, kind):
    return (condition(thing, kind) or {}).get("status") == "True"


def has_gpus(node, count):
    return node["status"]["allocatable"].get(GPUS) == str(count)


def is_well(node, gpus):
    """An object of kind Node: Ready, without taints, with so many GPUs."""
    return is_true(node, "Ready") and not node["spec"].get("taints") and has_gpus(node, gpus)
