#!/usr/bin/env python3
"""A registry of container images that answers slowly, on plain HTTP.

    registry.py --archive FILE --address HOST:PORT --bytes N --rate N

Every image that is asked for, whatever its name and tag, is that of the OCI archive with one layer
more: so many bytes by chance, the same for the same tag, at so many bytes a second. All else is
fast.
Source: OCI distribution specification 1.1 (2024).
"""

import argparse
import gzip
import hashlib
import http.server
import io
import json
import random
import re
import tarfile
import threading
import time

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
PIECES_A_SECOND = 10
PATH = re.compile(r"/v2/.+/(manifests|blobs)/([^/]+)$")


def digest(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


class Images:
    def __init__(self, archive, size):
        self.size = size
        self.blobs, self.slow, self.lock = {}, set(), threading.Lock()
        with tarfile.open(archive) as tar:
            for member in tar.getmembers():
                if member.name.startswith("blobs/sha256/"):
                    self.blobs["sha256:" + member.name[13:]] = tar.extractfile(member).read()
            index = json.load(tar.extractfile("index.json"))
        self.manifest = json.loads(self.blobs[index["manifests"][0]["digest"]])
        self.config = json.loads(self.blobs[self.manifest["config"]["digest"]])

    def add(self, content, media):
        self.blobs[digest(content)] = content
        return {"mediaType": media, "digest": digest(content), "size": len(content)}

    def of_tag(self, tag):
        """The manifest, as bytes."""
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
            info = tarfile.TarInfo(f"layer-of-{tag}")
            info.size = self.size
            tar.addfile(info, io.BytesIO(random.Random(tag).randbytes(self.size)))
        with self.lock:
            layer = self.add(gzip.compress(out.getvalue(), 1, mtime=0), LAYER)
            self.slow.add(layer["digest"])
            config = json.loads(json.dumps(self.config))
            config["rootfs"]["diff_ids"].append(digest(out.getvalue()))
            config["history"].append({"created_by": "registry.py"})
            whole = {**self.manifest, "layers": [*self.manifest["layers"], layer],
                     "config": self.add(json.dumps(config).encode(),
                                        self.manifest["config"]["mediaType"])}
            content = json.dumps(whole).encode()
            self.add(content, MANIFEST)
            return content


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_HEAD(self):
        self.answer(body=False)

    def do_GET(self):
        self.answer(body=True)

    def answer(self, body):
        images, content, media = self.server.images, None, "application/octet-stream"
        if self.path == "/v2/":
            content = b"{}"
        elif match := PATH.match(self.path.partition("?")[0]):
            kind, name = match.groups()
            if kind == "manifests":
                media = MANIFEST
            if name.startswith("sha256:"):
                content = images.blobs.get(name)
            elif kind == "manifests":
                content = images.of_tag(name)
        self.send_response(404 if content is None else 200)
        content = content or b""
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Docker-Content-Digest", digest(content))
        self.end_headers()
        if body:
            self.send(content, digest(content) in images.slow)

    def send(self, content, slowly):
        size = self.server.rate // PIECES_A_SECOND if slowly else len(content) or 1
        for at in range(0, len(content), size):
            self.wfile.write(content[at:at + size])
            if slowly:
                time.sleep(1 / PIECES_A_SECOND)

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--archive", required=True)
    parser.add_argument("--address", required=True, metavar="HOST:PORT")
    parser.add_argument("--bytes", type=int, default=1 << 20)
    parser.add_argument("--rate", type=int, default=1 << 17, help="bytes a second")
    arguments = parser.parse_args()
    host, _, port = arguments.address.rpartition(":")
    server = http.server.ThreadingHTTPServer((host, int(port)), Answer)
    server.images, server.rate = Images(arguments.archive, arguments.bytes), arguments.rate
    server.daemon_threads = True
    print("listens", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
