#!/usr/bin/env python3
"""The live map as a browser shows it: what it holds, and its picture."""

import os
import re
import subprocess
import tempfile
import unittest

from metrics_prometheus import fetch, free_port
from operator_lib import Cluster, Operator, poll, training_job

SPACE = "map-page"


def browse(url, work, *arguments):
    """Chromium with a profile of its own; what it prints."""
    shown = subprocess.run(
        [os.environ["WEFT_CHROMIUM"], "--headless", "--no-sandbox", "--disable-gpu",
         "--disable-dev-shm-usage", "--no-first-run", f"--user-data-dir={work}/profile",
         *arguments, url], check=True, capture_output=True, timeout=120)
    return shown.stdout.decode()


class MapPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.work.cleanup)
        cls.cluster = Cluster()
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.make_namespace(SPACE)
        cls.port = free_port()
        cls.operator = Operator(cls.work.name, "map", "--probe-address", f"127.0.0.1:{cls.port}")
        cls.addClassCleanup(cls.operator.stop)
        cls.url = f"http://127.0.0.1:{cls.port}/map"

    def test_page(self):
        self.cluster.create("trainingjobs", training_job(SPACE, "left", 8))
        self.cluster.create("trainingjobs", training_job(SPACE, "right", 20))
        self.cluster.create("trainingjobs", training_job(SPACE, "huge", 500))
        for name in ("left", "right"):
            self.cluster.until_running(SPACE, name)
        self.cluster.until_condition(SPACE, "huge", "Placed", "False")

        def page_of_all():
            page = fetch(self.url)
            return page if "map-page/huge: not placed" in page and page.count(
                'data-name="map-page/') == 2 else None
        page = poll(page_of_all, "the page shows both jobs and the one that waits")
        self.assertNotRegex(page, r'(src|href)="?(https?:)?//')  # no asset from elsewhere
        self.assertIn("InsufficientCapacity", page)
        self.assertEqual(len(re.findall(r'<tr data-job="\d+" data-name="[^"]+" title="[^"]+', page)),
                         2, "a job's row tells why it is there")

        # What the browser makes of it: script run, no error, the jobs on the map.
        shown = browse(self.url, self.work.name, "--virtual-time-budget=1000", "--dump-dom")
        self.assertEqual(shown.count('<g data-job="'), 28 + 2)  # nodes, and the table's swatches
        picture = os.path.join(os.environ["WEFT_SCREENSHOTS"], "map_page.png")
        browse(self.url, self.work.name, "--window-size=1500,1300", f"--screenshot={picture}")
        self.assertGreater(os.path.getsize(picture), 20_000)


if __name__ == "__main__":
    unittest.main(verbosity=2)
