"""A way to the API server that can fall silent: bytes are kept, and no connection is closed."""

import json
import os
import socket
import subprocess
import threading
import urllib.parse


class StalledConnection:
    """`kubeconfig` names the API server through it."""

    def __init__(self, work):
        shown = subprocess.run(["kubectl", "config", "view", "--raw", "--minify", "-o", "json"],
                               check=True, capture_output=True)
        config = json.loads(shown.stdout)
        cluster = config["clusters"][0]["cluster"]
        address = urllib.parse.urlsplit(cluster["server"])
        self._server = (address.hostname, address.port)
        self._flowing = threading.Event()
        self._flowing.set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        port = self._listener.getsockname()[1]
        cluster["server"] = f"https://127.0.0.1:{port}"
        self.kubeconfig = os.path.join(work, "stalled.kubeconfig")
        with open(self.kubeconfig, "w", encoding="utf-8",
                  opener=lambda *file: os.open(*file, 0o600)) as file:
            json.dump(config, file)
        threading.Thread(target=self._accept, daemon=True).start()

    def stall(self):
        self._flowing.clear()

    def flow(self):
        self._flowing.set()

    def close(self):
        self.flow()
        self._listener.close()

    def _accept(self):
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.create_connection(self._server)
            for ends in ((near, far), (far, near)):
                threading.Thread(target=self._pass_on, args=ends, daemon=True).start()

    def _pass_on(self, source, sink):
        try:
            while part := source.recv(65536):
                self._flowing.wait()
                sink.sendall(part)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        finally:
            source.close()
