#!/usr/bin/env python3
"""Packs a folder as an OCI image of one layer, in an archive of its image layout.

Same folder, same bytes: names in order, no owner, no time but SOURCE_DATE_EPOCH. Source: OCI image
format specification 1.1 (2024), image layout, manifest, config and layer.
"""

import argparse
import datetime
import gzip
import hashlib
import io
import json
import os
import platform
import tarfile

ABOUT = ("title", "description", "licenses", "version")
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def digest(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


def entries(rootfs):
    """Paths below a folder, parents first, in one order on every machine."""
    for folder, folders, files in os.walk(rootfs):
        folders.sort()
        links = [one for one in folders if os.path.islink(os.path.join(folder, one))]
        for name in sorted(folders + files):
            yield os.path.relpath(os.path.join(folder, name), rootfs)
        folders[:] = [one for one in folders if one not in links]


def layer(rootfs, time):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path in sorted(entries(rootfs)):
            info = tar.gettarinfo(os.path.join(rootfs, path), arcname=path)
            info.uid = info.gid = 0
            info.uname = info.gname = ""
            info.mtime = time
            if info.islnk():  # the same file under another name: written again
                info.type, info.linkname = tarfile.REGTYPE, ""
                info.size = os.path.getsize(os.path.join(rootfs, path))
            if info.isreg():
                with open(os.path.join(rootfs, path), "rb") as file:
                    tar.addfile(info, file)
            else:
                tar.addfile(info)
    return out.getvalue()


class Layout:
    """The files of an image layout."""

    def __init__(self):
        self.files = {"oci-layout": b'{"imageLayoutVersion":"1.0.0"}'}

    def add(self, media, content):
        """A blob; its descriptor."""
        self.files["blobs/sha256/" + digest(content)[len("sha256:"):]] = content
        return {"mediaType": media, "digest": digest(content), "size": len(content)}

    def add_json(self, media, value):
        return self.add(media, json.dumps(value, sort_keys=True, separators=(",", ":")).encode())

    def write(self, path, time):
        with tarfile.open(path, mode="w", format=tarfile.USTAR_FORMAT) as tar:
            for name in sorted(self.files):
                info = tarfile.TarInfo(name)
                info.size, info.mode, info.mtime = len(self.files[name]), 0o644, time
                tar.addfile(info, io.BytesIO(self.files[name]))


def image(arguments, time):
    created = datetime.datetime.fromtimestamp(time, datetime.timezone.utc).strftime(
        "%Y-%m-%dT%H:%M:%SZ")
    about = {f"org.opencontainers.image.{key}": getattr(arguments, key) for key in ABOUT
             if getattr(arguments, key)}
    runs = {"User": arguments.user, "WorkingDir": arguments.directory, "Labels": about,
            "Env": arguments.env, "Entrypoint": arguments.entrypoint}
    files = layer(arguments.rootfs, time)
    layout = Layout()
    config = layout.add_json("application/vnd.oci.image.config.v1+json", {
        "architecture": ARCHITECTURES.get(platform.machine(), platform.machine()),
        "os": "linux",
        "created": created,
        "config": runs,
        "rootfs": {"type": "layers", "diff_ids": [digest(files)]},
        "history": [{"created": created, "created_by": "deploy/image.sh"}],
    })
    packed = layout.add("application/vnd.oci.image.layer.v1.tar+gzip",
                        gzip.compress(files, arguments.compression, mtime=0))
    manifest = layout.add_json("application/vnd.oci.image.manifest.v1+json", {
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": config, "layers": [packed], "annotations": about})
    manifest["annotations"] = names(arguments.name)
    layout.files["index.json"] = json.dumps(
        {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json",
         "manifests": [manifest]}, sort_keys=True).encode()
    layout.write(arguments.output, time)
    return manifest["digest"], len(files), packed["size"]


def names(name):
    """A name with a registry or repository is also containerd's own; a mere tag has no place there."""
    annotations = {"org.opencontainers.image.ref.name": name.rpartition(":")[2]}
    if ":" in name:
        annotations["io.containerd.image.name"] = name
    return annotations


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("rootfs", "output", "name"):
        parser.add_argument(f"--{name}", required=True)
    for name in ABOUT:
        parser.add_argument(f"--{name}", default="")
    parser.add_argument("--user", default="0:0")
    parser.add_argument("--directory", default="/", help="where the program begins")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--entrypoint", nargs="+", default=[])
    parser.add_argument("--compression", type=int, default=9, help="of gzip, 1 to 9")
    arguments = parser.parse_args()
    what, size, packed = image(arguments, int(os.environ.get("SOURCE_DATE_EPOCH", "0")))
    print(f"{arguments.output}: {arguments.name}@{what}, {size / 1e6:.1f} MB, "
          f"{packed / 1e6:.1f} MB to pull")


if __name__ == "__main__":
    main()
