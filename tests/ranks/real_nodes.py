"""The real nodes of a cluster of `deploy/local-cluster.sh up --real`, in place of kubelet.Kubelet:
containers of one image, in which frameworks and programs of this machine are mounted."""

import os
import subprocess

COUNT = int(os.environ.get("WEFT_REAL_NODES", "0"))
IMAGE = "weft.test/ranks:1"  # tests/ground/image.sh ranks


class RealPod:
    def __init__(self, pod):
        self.space, self.name = pod["metadata"]["namespace"], pod["metadata"]["name"]

    def log(self):
        """Empty where the node has nothing of it any more, as of an MPI job's ended workers."""
        run = subprocess.run(["kubectl", "logs", "-n", self.space, self.name, "--all-containers"],
                             check=False, capture_output=True, text=True)
        if run.returncode != 0 and "(NotFound)" not in run.stderr:
            print(f"no log of {self.space}/{self.name}: {run.stderr.strip()}", flush=True)
        return run.stdout


class RealNodes:
    """`images` are named and used as with the kubelet that is played."""

    # A second worker does not fit: each node has this machine's cores.
    cpu_of_a_node = f"{os.cpu_count() * 750}m"

    def __init__(self, cluster, images, work):
        del work
        self.cluster, self.images = cluster, images

    def add_nodes(self, prefix, gpus, labels_of):
        """They are there, with the GPUs that the cluster was made with: they get these labels."""
        del prefix, gpus
        nodes = self.cluster.list("nodes", selector="weft.test/kubelet=real")
        for number, node in enumerate(nodes):
            self.cluster.patch("nodes", "", node["metadata"]["name"],
                               {"metadata": {"labels": labels_of(number)}})

    def dress(self, pod, container):
        """Gives a pod's container what the image of its name would hold."""
        image = self.images.get(container["image"])
        container.update(image=image["container"] or IMAGE, imagePullPolicy="IfNotPresent")
        container["env"] += [{"name": key, "value": value}
                             for key, value in image["environment"].items()]
        for number, (path, source) in enumerate(image["folders"].items()):
            pod.setdefault("volumes", []).append(
                {"name": f"folder-{number}", "hostPath": {"path": source, "type": "Directory"}})
            container.setdefault("volumeMounts", []).append(
                {"name": f"folder-{number}", "mountPath": path, "readOnly": True})

    @staticmethod
    def runtime(pod):
        return RealPod(pod)

    def close(self):
        pass
