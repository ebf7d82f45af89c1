"""A registry of registry.py that every node of the cluster finds, for as long as it is wanted."""

import contextlib
import os
import shutil
import subprocess

import real_node

HERE = os.path.dirname(os.path.abspath(__file__))
NAME = "registry.ground.test"
ADDRESS = real_node.BRIDGE + ":5000"


@contextlib.contextmanager
def slow_registry(rate, size=1 << 20):
    """Images named registry.ground.test/NAME:TAG have a layer of so many bytes, and come at so many
    bytes a second."""
    archive = subprocess.run([os.path.join(HERE, "image.sh"), "ranks"], check=True,
                             capture_output=True, text=True).stdout.strip()
    folder = os.path.join(real_node.FOLDER, "nodes", "registries", NAME)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "hosts.toml"), "w", encoding="ascii") as file:
        file.write(f'server = "http://{ADDRESS}"\n[host."http://{ADDRESS}"]\n'
                   '  capabilities = ["pull", "resolve"]\n')
    command = real_node.in_room("python3", "-B", os.path.join(HERE, "registry.py"), "--archive",
                                archive, "--address", ADDRESS, "--rate", str(rate),
                                "--bytes", str(size))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            if process.stdout.readline() != "listens\n":
                raise AssertionError("the registry does not listen")
            yield
        finally:
            process.kill()
            shutil.rmtree(folder)
