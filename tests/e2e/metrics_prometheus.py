"""A Prometheus of one test's own, with the chart's rules hastened, and samples of DCGM's exporter."""

import http.server
import json
import math
import os
import re
import subprocess
import threading
import urllib.parse
import urllib.request

from operator_lib import SOURCE, free_port, poll, slowness

FILES = os.path.join(SOURCE, "charts", "weft", "files")

# Between two scrapes, each of which must end before the next; a minute of the rules is two of them.
SCRAPE_MILLISECONDS = 250 * min(4, math.ceil(slowness()))
MINUTE_MILLISECONDS = 2 * SCRAPE_MILLISECONDS

# What the test's day shortens, and nothing else: a minute of the rules is a moment of the day; a
# healthy watch is silent for up to 17 s, so a minute of silence becomes half of one; and no search
# on a small fabric takes the 100 ms that are slow.
HASTE = [
    (r"for: (\d+)m\b", lambda minutes: f"for: {int(minutes[1]) * MINUTE_MILLISECONDS}ms"),
    (r"\[(\d+)m\]", lambda minutes: f"[{int(minutes[1]) * MINUTE_MILLISECONDS}ms]"),
    (r"> 30 \* 60", f"> 30 * {MINUTE_MILLISECONDS / 1000}"),
    (r"silence_seconds\) > 60", "silence_seconds) > 30"),
    (r"p99 > 0\.1", "p99 > 0.000001"),
]


def fetch(url):
    with urllib.request.urlopen(url, timeout=30) as answer:
        return answer.read().decode()


def rule_files():
    folder = os.path.join(FILES, "rules")
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]


def alerts_of_rules():
    found = []
    for path in rule_files():
        with open(path, encoding="utf-8") as file:
            found += re.findall(r"- alert: (\w+)", file.read())
    return found


def hastened(work):
    """The rules as files of the day; each shortening must meet something."""
    paths, met = [], set()
    for path in rule_files():
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for pattern, by in HASTE:
            text, times = re.subn(pattern, by, text)
            met |= {pattern} if times else set()
        paths.append(os.path.join(work, "hastened-" + os.path.basename(path)))
        with open(paths[-1], "w", encoding="utf-8") as file:
            file.write(text)
    assert met == {pattern for pattern, _ in HASTE}, met
    return paths


class Page:
    """Serves the text that `text()` returns, at /metrics."""

    def __init__(self, text):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # pylint: disable=invalid-name
                body = text().encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):  # pylint: disable=arguments-differ
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Prometheus:
    """Scrapes four times a second; `targets`: {job name: (port, labels of the target, honorLabels)}."""

    def __init__(self, work, targets):
        self.port = free_port()
        self.log = os.path.join(work, "prometheus.log")
        config = os.path.join(work, "prometheus.json")  # JSON is YAML
        with open(config, "w", encoding="utf-8") as file:
            json.dump({
                "global": {"scrape_interval": f"{SCRAPE_MILLISECONDS}ms",
                           "scrape_timeout": f"{SCRAPE_MILLISECONDS}ms",
                           "evaluation_interval": f"{SCRAPE_MILLISECONDS}ms"},
                "rule_files": hastened(work),
                "scrape_configs": [
                    {"job_name": name, "honor_labels": honor,
                     "static_configs": [{"targets": [f"127.0.0.1:{port}"], "labels": labels}]}
                    for name, (port, labels, honor) in targets.items()]}, file)
        with open(self.log, "w", encoding="utf-8") as log:
            # pylint: disable-next=consider-using-with
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={config}",
                 f"--web.listen-address=127.0.0.1:{self.port}",
                 f"--storage.tsdb.path={os.path.join(work, 'tsdb')}"], stdout=log, stderr=log)
        poll(self._ready, "Prometheus is ready")

    def _ready(self):
        if self.process.poll() is not None:
            with open(self.log, encoding="utf-8") as log:
                raise AssertionError(f"prometheus ended: {log.read()[-2000:]}")
        try:
            return fetch(f"http://127.0.0.1:{self.port}/-/ready")
        except OSError:
            return None

    def close(self):
        self.process.terminate()
        self.process.wait(30)

    def ask(self, path, **arguments):
        query = urllib.parse.urlencode(arguments)
        try:
            answer = json.loads(fetch(f"http://127.0.0.1:{self.port}/api/v1/{path}?{query}"))
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{arguments}: {error.read().decode()}") from None
        return answer["data"]

    def value(self, query):
        """Of a query with one series; None where there is none."""
        result = self.ask("query", query=query)["result"]
        assert len(result) <= 1, (query, result)
        return float(result[0]["value"][1]) if result else None

    def firing(self):
        """Alerts as (name, their labels)."""
        return [(one["labels"]["alertname"], one["labels"])
                for one in self.ask("alerts")["alerts"] if one["state"] == "firing"]

    def fired(self, name, labels, seconds):
        """Whether the alert fired in the last seconds."""
        matchers = "".join(f', {label}="{value}"' for label, value in labels.items())
        alert = f'ALERTS{{alertname="{name}", alertstate="firing"{matchers}}}'
        return self.ask("query", query=f"last_over_time({alert}[{int(seconds) + 1}s])")["result"]
