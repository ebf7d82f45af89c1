#!/usr/bin/env python3
"""Runs weft-operator as a Deployment of a local cluster says, for kwok's kubelets run nothing.

    deploy/local-cluster/play_deployment.py weft-system/weft-operator [ARGUMENT...]

A container without an engine: the files of the image (deploy/image.sh --rootfs) as a read-only
root, the Deployment's arguments, environment, user, ConfigMaps and Secrets, and a token of its
ServiceAccount, which lives for a day. The network is this machine's. In the foreground, until it is stopped
or the cluster is taken down; its folder is in that of the cluster. Arguments are added to those of
the Deployment. Needs the cluster of $KUBECONFIG, and root or unprivileged user namespaces.
"""

import base64
import json
import os
import shutil
import subprocess
import sys
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
TOKEN_LIFE = "24h"
# Mounts of its own around the image: nothing of them is left when it ends.
ENTER = """set -e
root=$1; user=$2; shift 2
mount --bind "$root" "$root"
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --bind -o remount,ro "$root" "$root"
exec chroot ${user:+--userspec "$user"} "$root" "$@"
"""


def kubectl(*arguments):
    return subprocess.run(["kubectl", *arguments], check=True, capture_output=True,
                          text=True).stdout


def get(space, kind, name):
    return json.loads(kubectl("get", "-n", space, kind, name, "-o", "json"))


class Root:
    """What the container sees: the files of the image in $WEFT_ROOTFS, else of one made now."""

    def __init__(self, folder):
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        if made := os.environ.get("WEFT_ROOTFS"):
            shutil.copytree(made, folder, symlinks=True)
            return
        image = os.path.join(HERE, "..", "image.sh")
        bins = os.path.dirname(os.environ.get("WEFT_OPERATOR", ""))
        subprocess.run([image, "--rootfs", folder] + (["--bin", bins] if bins else []), check=True)

    def write(self, path, content):
        path = self.folder + path
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)

    def fill(self, space, volume, path):
        """With what a volume holds."""
        os.makedirs(self.folder + path, exist_ok=True)
        if "configMap" in volume:
            texts = get(space, "configmap", volume["configMap"]["name"]).get("data", {})
            files = {name: text.encode() for name, text in texts.items()}
        elif "secret" in volume:
            texts = get(space, "secret", volume["secret"]["secretName"]).get("data", {})
            files = {name: base64.b64decode(text) for name, text in texts.items()}
        elif "emptyDir" in volume:
            os.chmod(self.folder + path, 0o1777)
            files = {}
        else:
            raise SystemExit(f"play_deployment.py: volume {volume['name']}: of a kind that it does "
                             "not know")
        for name, content in files.items():
            self.write(f"{path}/{name}", content)


def account(root, space, name):
    """The ServiceAccount's files; where the API server is."""
    config = json.loads(kubectl("config", "view", "--raw", "--minify", "-o", "json"))
    cluster = config["clusters"][0]["cluster"]
    token = kubectl("create", "token", "-n", space, name, "--duration", TOKEN_LIFE)
    root.write(f"{ACCOUNT}/token", token.encode())
    root.write(f"{ACCOUNT}/namespace", space.encode())
    root.write(f"{ACCOUNT}/ca.crt", base64.b64decode(cluster["certificate-authority-data"]))
    return urllib.parse.urlparse(cluster["server"])


def environment(container, server):
    names = {"PATH": "/usr/bin", "HOME": "/home/weft",
             "KUBERNETES_SERVICE_HOST": server.hostname,
             "KUBERNETES_SERVICE_PORT": str(server.port)}
    for one in container.get("env", []):
        if "value" not in one:
            raise SystemExit(f"play_deployment.py: env {one['name']}: of a kind that it does not "
                             "know")
        names[one["name"]] = one["value"]
    return names


def main():
    if len(sys.argv) < 2 or "/" not in sys.argv[1]:
        print(__doc__, file=sys.stderr)
        return 2
    space, name = sys.argv[1].split("/")
    pod = get(space, "deployment", name)["spec"]["template"]["spec"]
    container = pod["containers"][0]
    root = Root(os.path.join(os.path.dirname(os.environ["KUBECONFIG"]), f"{space}-{name}"))
    volumes = {one["name"]: one for one in pod.get("volumes", [])}
    for mount in container.get("volumeMounts", []):
        root.fill(space, volumes[mount["name"]], mount["mountPath"])
    server = account(root, space, pod["serviceAccountName"])
    user = "{runAsUser}:{runAsGroup}".format(**pod["securityContext"])
    may = os.geteuid() == 0
    enter = ["unshare", "--mount"] + ([] if may else ["--user", "--map-root-user"])
    os.execvpe(enter[0], enter + [
        "sh", "-c", ENTER, "sh", root.folder, user if may else "", "/usr/bin/weft-operator",
        *container.get("args", []), *sys.argv[2:]],
        {**environment(container, server), "PATH": os.environ["PATH"]})
    return 1


if __name__ == "__main__":
    sys.exit(main())
