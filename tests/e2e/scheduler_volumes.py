"""Volumes of the random gangs of scheduler_rules.py: claims of every kind that kube-scheduler judges.

Volumes that a driver would make are left out: no driver runs here, so that kube-scheduler would wait
for them.
"""

HOST, ZONE = "kubernetes.io/hostname", "example.com/zone"
LOCAL, AT_ONCE, DRIVER = "weft-local", "weft-at-once", "disks.example.com"
CLASSES = (
    {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": LOCAL},
     "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"},
    {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": AT_ONCE},
     "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "Immediate"})
# Without it the controllers would make VolumeAttachments, which outlive their pods here.
CSI_DRIVER = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": DRIVER},
              "spec": {"attachRequired": False}}
SIZE = {"storage": "1Gi"}
LABELS = {"weft.test/volumes": "yes"}


def on(key, value):
    expression = {"key": key, "operator": "In", "values": [value]}
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}


class Volumes:
    """One round's claims and volumes; `claims` and `volumes` are objects to create."""

    def __init__(self, rng, nodes, space):
        self.rng, self.space = rng, space
        self.nodes = [node["metadata"]["name"] for node in nodes]
        self.claims, self.volumes, self.csi_nodes = [], [], []

    def volume(self, mode="ReadWriteMany", claim=None, storage_class="", csi=False):
        rng, name = self.rng, f"pv-{len(self.volumes)}"
        spec = {"capacity": SIZE, "accessModes": [mode], "persistentVolumeReclaimPolicy": "Retain",
                "storageClassName": storage_class}
        if csi:
            spec["csi"] = {"driver": DRIVER, "volumeHandle": name}
        else:
            spec["nfs"] = {"server": "none.example.com", "path": "/"}
        if claim:
            spec["claimRef"] = {"namespace": self.space, "name": claim}
        if storage_class == LOCAL:
            spec["nodeAffinity"] = on(HOST, rng.choice(self.nodes))
        elif rng.random() < 0.5:
            spec["nodeAffinity"] = on(*rng.choice(
                ((ZONE, "a"), (ZONE, "b"), (HOST, rng.choice(self.nodes)))))
        labels = dict(LABELS)
        if rng.random() < 0.2:
            labels["topology.kubernetes.io/zone"] = rng.choice(("a", "b", "a__b"))
        self.volumes.append({"apiVersion": "v1", "kind": "PersistentVolume",
                             "metadata": {"name": name, "labels": labels}, "spec": spec})
        return name

    def claim(self, name, mode="ReadWriteMany", storage_class="", volume=""):
        spec = {"accessModes": [mode], "storageClassName": storage_class,
                "resources": {"requests": SIZE}}
        if volume:
            spec["volumeName"] = volume
        self.claims.append({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
                            "metadata": {"name": name, "namespace": self.space}, "spec": spec})

    def bound(self, name, mode="ReadWriteMany", csi=False):
        self.claim(name, mode, volume=self.volume(mode, name, csi=csi))

    def limit_nodes(self):
        for name in self.nodes:
            if self.rng.random() < 0.7:
                driver = {"name": DRIVER, "nodeID": name, "topologyKeys": [],
                          "allocatable": {"count": self.rng.randrange(4)}}
                self.csi_nodes.append({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode",
                                       "metadata": {"name": name}, "spec": {"drivers": [driver]}})

    def add_to(self, template, running):
        """Gives the gang's template one or two claims, and some of them to pods that run."""
        spec = template["spec"]
        for number in range(self.rng.choice((1, 1, 2))):
            name = f"claim-{number}"
            kind = self.rng.choice(("bound", "bound", "bound", "missing", "waits", "at once",
                                    "one pod", "csi", "csi", "own"))
            if kind == "own":
                self.own(spec, f"own-{number}")
                continue
            if kind == "bound":
                self.bound(name)
            elif kind == "waits":
                self.claim(name, storage_class=LOCAL)
                self.local()
            elif kind == "at once":
                self.claim(name, storage_class=AT_ONCE)
            elif kind == "one pod":
                self.bound(name, "ReadWriteOncePod")
            elif kind == "csi":
                self.bound(name, csi=True)
                self.others(running)
            self.use(spec, name)
            for pod in running:
                if kind in ("bound", "csi", "one pod") and self.rng.random() < 0.1:
                    self.use_in(pod, name)
        if not self.csi_nodes:
            self.limit_nodes()

    def own(self, spec, name):
        """An ephemeral volume: a free local volume for each worker."""
        self.local()
        claim = {"spec": {"accessModes": ["ReadWriteMany"], "storageClassName": LOCAL,
                          "resources": {"requests": SIZE}}}
        spec.setdefault("volumes", []).append(
            {"name": name, "ephemeral": {"volumeClaimTemplate": claim}})

    def local(self):
        for _ in range(self.rng.randrange(7)):
            self.volume(storage_class=LOCAL)

    def others(self, running):
        """Other volumes of the driver, which pods that run use."""
        for number, pod in enumerate(running):
            if self.rng.random() < 0.5:
                name = f"other-{len(self.claims)}-{number}"
                self.bound(name, csi=True)
                self.use_in(pod, name)

    @staticmethod
    def use(spec, claim):
        volumes = spec.setdefault("volumes", [])
        volumes.append({"name": f"v{len(volumes)}", "persistentVolumeClaim": {"claimName": claim}})

    def use_in(self, pod, claim):
        if pod["metadata"]["namespace"] == self.space:
            self.use(pod["spec"], claim)
