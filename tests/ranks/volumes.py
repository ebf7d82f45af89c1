"""A pod's volumes as a kubelet makes them."""

import base64
import json
import os


class Volumes:
    """Of one pod, below `folder`; `cluster` reads ConfigMaps and Secrets."""

    def __init__(self, cluster, pod, folder):
        self.cluster, self.pod, self.folder = cluster, pod, folder
        self.space = pod["metadata"]["namespace"]
        self.made = {volume["name"]: self._make(volume)
                     for volume in pod["spec"].get("volumes", [])}

    def mounts(self, container):
        """For container.py, in the order of the spec."""
        for mount in container.get("volumeMounts", []):
            volume = dict(self.made[mount["name"]])
            if mount.get("subPath"):
                volume["source"] = os.path.join(volume["source"], mount["subPath"])
            if mount.get("readOnly"):
                volume["read_only"] = True
            yield {"path": mount["mountPath"], **volume}

    def _make(self, volume):
        folder = os.path.join(self.folder, volume["name"])
        os.makedirs(folder)
        if "emptyDir" in volume:
            if volume["emptyDir"].get("medium") == "Memory":
                return {"memory": True, "size": volume["emptyDir"].get("sizeLimit")}
            return {"source": folder}
        kind = next(key for key in volume if key != "name")
        source = volume[kind]
        mode = source.get("defaultMode", 0o644)
        for part in source["sources"] if kind == "projected" else [{kind: source}]:
            self._write(part, folder, mode)
        return {"source": folder, "read_only": True}

    def _write(self, part, folder, mode):
        [(kind, source)] = part.items()
        if kind == "serviceAccountToken":
            account = self.pod["spec"].get("serviceAccountName", "default")
            path = self.cluster.path("serviceaccounts", self.space, account) + "/token"
            answer = self.cluster.call("POST", path, {"spec": {}})
            return self._file(folder, source["path"], answer["status"]["token"].encode(), mode)
        if kind == "downwardAPI":
            for item in source["items"]:
                text = field_of(self.pod, item["fieldRef"]["fieldPath"])
                self._file(folder, item["path"], text.encode(), mode)
            return None
        files = self._files(kind, source)
        items = source.get("items") or [{"key": key, "path": key} for key in files]
        for item in items:
            self._file(folder, item["path"], files[item["key"]], item.get("mode", mode))
        return None

    def _files(self, kind, source):
        name = source.get("secretName") or source["name"]
        plural = {"configMap": "configmaps", "secret": "secrets"}[kind]
        thing = self.cluster.get(plural, self.space, name)
        if thing is None:
            raise LookupError(f"{plural} {self.space}/{name} is not there")
        if kind == "secret":
            return {key: base64.b64decode(text) for key, text in thing.get("data", {}).items()}
        files = {key: text.encode() for key, text in thing.get("data", {}).items()}
        for key, text in thing.get("binaryData", {}).items():
            files[key] = base64.b64decode(text)
        return files

    @staticmethod
    def _file(folder, path, content, mode):
        path = os.path.join(folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
        os.chmod(path, mode)


def field_of(pod, path):
    """What a fieldRef names, of those that are used here."""
    value = pod
    for key in path.split("."):
        value = value.get(key, "")
    return value if isinstance(value, str) else json.dumps(value)
