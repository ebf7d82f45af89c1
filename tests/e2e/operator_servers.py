"""Servers of the scenarios' cluster that stop and start, with other flags too."""

import os
import signal
import subprocess

from operator_lib import poll, server_process

RESTART_SECONDS = 900  # where the machine does much else
FLAGS = {"kube-apiserver": "WEFT_API_SERVER_FLAGS", "kube-scheduler": "WEFT_SCHEDULER_FLAGS",
         "kube-controller-manager": "WEFT_CONTROLLER_FLAGS"}


def is_there(process):
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def stop_server(name):
    process = server_process(name)
    os.kill(process, signal.SIGKILL)
    poll(lambda: not is_there(process), f"{name} has ended")


def start_servers(**flags):
    """Those that do not run. flags: of a server by its variable, instead of those of $environment."""
    done = subprocess.run([os.environ["WEFT_LOCAL_CLUSTER"], "up", "--name", "operator"],
                          capture_output=True, text=True, timeout=RESTART_SECONDS, check=False,
                          env={**os.environ, **flags})
    if done.returncode != 0:
        raise AssertionError(f"local-cluster up: {done.stderr}")


def restart_server(name, flags=None):
    """flags: default those that it began with."""
    stop_server(name)
    start_servers(**({} if flags is None else {FLAGS[name]: flags}))
