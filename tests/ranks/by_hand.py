"""The same commands with the same environment, files and names as those of pods that have run, but
started by hand all at once: what Weft and Kubernetes add to a start is the difference."""

import json
import os
import subprocess
import sys
import time

import network
from pod_runtime import HERE


def run_again(net, runtimes, folder, seconds=180):
    """The logs of the first containers, and when the last of them was started."""
    sandboxes, processes, logs = [], [], []
    try:
        hosts = ["127.0.0.1 localhost"]
        for runtime in runtimes:
            sandbox, address = net.add(runtime.host_name)
            sandboxes.append(sandbox)
            service = runtime.pod["spec"]["subdomain"]
            hosts.append(f"{address} {runtime.host_name}.{service} {runtime.host_name}")
        for number, (runtime, sandbox) in enumerate(zip(runtimes, sandboxes)):
            own = os.path.join(folder, str(number))
            os.makedirs(os.path.join(own, "root"))
            logs.append(os.path.join(own, "log"))
            plan = write_plan(runtime, own, "\n".join(hosts) + "\n")
            processes.append(start(sandbox, plan, logs[-1]))
        started = time.time()
        # Of an MPI job only the launcher ends by itself.
        processes[0].wait(seconds)
        return [read(log) for log in logs], started
    finally:
        for process in processes:
            process.kill()
            process.wait()
        for sandbox in sandboxes:
            network.release(sandbox)


def write_plan(runtime, own, hosts):
    with open(os.path.join(runtime.containers[0].folder, "plan.json"), encoding="utf-8") as file:
        plan = json.load(file)
    replaced = {"/etc/hosts": hosts, "/dev/termination-log": ""}
    for mount in plan["mounts"]:
        if mount["path"] in replaced:
            mount["source"] = os.path.join(own, os.path.basename(mount["path"]))
            with open(mount["source"], "w", encoding="utf-8") as file:
                file.write(replaced[mount["path"]])
    plan["root"] = os.path.join(own, "root")
    path = os.path.join(own, "plan.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(plan, file)
    return path


def start(sandbox, plan, log):
    with open(log, "ab") as file:
        return subprocess.Popen(
            network.enter(sandbox, sys.executable, "-B", os.path.join(HERE, "container.py"), plan),
            stdin=subprocess.DEVNULL, stdout=file, stderr=file)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()
