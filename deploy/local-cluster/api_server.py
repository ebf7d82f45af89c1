"""Plain requests to an API server: what a kubeconfig's current context names."""

import base64
import contextlib
import http.client
import json
import ssl
import subprocess
import tempfile
import threading
import urllib.parse

BROKEN = (http.client.HTTPException, OSError)


class ApiServer:
    """Keeps one connection a thread. Safe to share between threads.

    impersonate: the user whose requests these are to be; default that of the context."""

    def __init__(self, impersonate=""):
        self._user = {"Impersonate-User": impersonate} if impersonate else {}
        printed = subprocess.run(["kubectl", "config", "view", "--raw", "--minify", "-o", "json"],
                                 check=True, capture_output=True)
        config = json.loads(printed.stdout)
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        address = urllib.parse.urlsplit(cluster["server"])
        self._host, self._port = address.hostname, address.port
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        self._tls = ssl.create_default_context(cadata=authority)
        with tempfile.NamedTemporaryFile() as file:  # ssl reads a certificate from a file only
            file.write(base64.b64decode(user["client-certificate-data"]))
            file.write(base64.b64decode(user["client-key-data"]))
            file.flush()
            self._tls.load_cert_chain(file.name)
        self._of_thread = threading.local()

    def request(self, method, path, body=None, media="application/json"):
        """(HTTP status, decoded answer)"""
        if not hasattr(self._of_thread, "connection"):
            self._of_thread.connection = http.client.HTTPSConnection(
                self._host, self._port, context=self._tls, timeout=60)
        connection = self._of_thread.connection
        # The server indents its answers to agents that look like a browser or kubectl.
        headers = {"User-Agent": "weft-local-cluster", "Content-Type": media,
                   "Accept": "application/json", **self._user}
        try:
            answer = self._ask(connection, method, path, body, headers)
        except BROKEN:  # the server closes what lies idle
            answer = self._ask(connection, method, path, body, headers)
        return answer.status, json.loads(answer.read())

    @staticmethod
    def _ask(connection, *request):
        try:
            connection.request(*request)
            return connection.getresponse()
        except BROKEN:
            connection.close()  # the next request begins anew
            raise

    def close(self):
        """This thread's connection, before the thread ends."""
        if hasattr(self._of_thread, "connection"):
            self._of_thread.connection.close()
            del self._of_thread.connection

    def watch(self, path):
        """Every change that the server tells of, until it ends the answer; on its own connection"""
        connection = http.client.HTTPSConnection(self._host, self._port, context=self._tls)
        with contextlib.closing(connection):
            connection.request("GET", path, headers={"User-Agent": "weft-local-cluster"})
            with connection.getresponse() as answer:
                if answer.status != 200:
                    raise ConnectionError(f"{path}: {answer.status}")
                for line in answer:
                    yield json.loads(line)
