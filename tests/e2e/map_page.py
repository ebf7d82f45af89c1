#!/usr/bin/env python3
"""The live map as a browser shows it: what it holds, how it follows, its picture."""

import os
import re
import subprocess
import tempfile
import unittest

from browser import POINT_AT_A_JOB, Browser
from metrics_prometheus import fetch
from operator_lib import SOURCE, Cluster, Operator, free_port, poll, training_job

SPACE = "map-page"
ON_MAP = "document.querySelectorAll('svg g[data-job]').length"


class LargeMaps(unittest.TestCase):
    """A thousand nodes one by one, ten thousand by domain; both fit the window's width. How long a
    click takes is printed: on a machine at rest less than half a second."""

    MOST_ELEMENTS = 25_000
    WINDOW = 1280

    def test_sizes(self):
        with tempfile.TemporaryDirectory() as work:
            browser = Browser(os.environ["WEFT_CHROMIUM"], f"{work}/profile")
            self.addCleanup(browser.close)
            for nodes in (1_000, 10_000):
                with self.subTest(nodes=nodes):
                    self.look(browser, work, nodes)

    def look(self, browser, work, nodes):
        weft, jobs = os.environ["WEFT"], f"{SOURCE}/deploy/examples/superpod-queue.yaml"
        fleet, page = f"{work}/{nodes}.yaml", f"{work}/{nodes}.html"
        with open(fleet, "w", encoding="utf-8") as out:
            subprocess.run([weft, "fabric", "generate", "--design", "roce-fat-tree-7to1", "--nodes",
                            str(nodes), "--fragmented", "40"], check=True, stdout=out)
        with open(page, "w", encoding="utf-8") as out:
            subprocess.run([weft, "map", "-f", fleet, "-f", jobs], check=False, stdout=out)
        browser.open(f"file://{page}")
        browser.until("document.querySelectorAll('tr[data-name]').length", 5)
        browser.picture(f"{os.environ['WEFT_SCREENSHOTS']}/map_{nodes}.png", self.WINDOW, 1400)
        self.assertLess(browser.value("document.querySelectorAll('*').length"), self.MOST_ELEMENTS)
        self.assertLessEqual(browser.value("document.documentElement.scrollWidth"), self.WINDOW)
        clicked = browser.value("""(function(){
            var begin = performance.now();
            document.querySelector('tr[data-name]').click();
            document.body.getBoundingClientRect();
            return performance.now() - begin;
        })()""")
        print(f"a map of {nodes} nodes: a click takes {clicked:.0f} ms", flush=True)
        # What was clicked is in sight.
        self.assertTrue(browser.value("""(function(){
            var box = document.querySelector('.map g.on').getBoundingClientRect();
            return box.top > -1 && box.bottom < innerHeight + 1;
        })()"""))
        # The card about a node with a job is in the window, also on a phone.
        for width in (self.WINDOW, 360):
            browser.resize(width, 800)
            card = browser.value(POINT_AT_A_JOB)
            self.assertIn("worker", card["text"])
            self.assertGreaterEqual(min(card["left"], card["top"]), 0)
            self.assertLessEqual(card["right"], width)
            self.assertLessEqual(card["bottom"], 800)
        self.assertEqual(browser.errors, [])


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
        cls.browser = Browser(os.environ["WEFT_CHROMIUM"], f"{cls.work.name}/profile")
        cls.addClassCleanup(cls.browser.close)

    def test_the_operators_page_is_whole_and_follows(self):
        url = f"http://127.0.0.1:{self.port}/map"
        self.cluster.create("trainingjobs", training_job(SPACE, "left", 8))
        self.cluster.create("trainingjobs", training_job(SPACE, "huge", 500))
        self.cluster.until_running(SPACE, "left")
        self.cluster.until_condition(SPACE, "huge", "Placed", "False")

        def page_of_all():
            page = fetch(url)
            shown = "map-page/huge: not placed" in page and 'data-name="map-page/left"' in page
            return page if shown else None
        page = poll(page_of_all, "the page shows the job that runs and the one that waits")
        self.assertNotRegex(page, r'(src|href)="?(https?:)?//')  # no asset from elsewhere
        self.assertIn("InsufficientCapacity", page)
        self.assertRegex(page, r'<tr data-job="\d+" data-name="map-page/left" title="[^"]+')

        self.browser.open(url)
        self.browser.until(ON_MAP, 8 + 1)  # nodes, and the table's swatch
        self.cluster.create("trainingjobs", training_job(SPACE, "right", 20))
        self.browser.until(ON_MAP, 28 + 2)
        # A job that was clicked is singled out, and stays so when the page is drawn anew.
        self.browser.value("document.querySelector('tr[data-name=\"map-page/right\"]').click()")
        self.browser.until("document.querySelectorAll('svg g.on').length", 20 + 1)
        self.cluster.delete("trainingjobs", SPACE, "left")
        self.browser.until(ON_MAP, 20 + 1)
        self.browser.until("document.querySelectorAll('svg g.on').length", 20 + 1)
        self.assertEqual(self.browser.errors, [])
        picture = os.path.join(os.environ["WEFT_SCREENSHOTS"], "map_page.png")
        self.browser.picture(picture, 1500, 1000)
        self.assertGreater(os.path.getsize(picture), 20_000)

    def test_the_command_lines_page_shows_the_same(self):
        port = free_port()
        # pylint: disable-next=consider-using-with
        serving = subprocess.Popen(
            [os.environ["WEFT"], "map", "--cluster", "--serve", f"127.0.0.1:{port}"],
            stderr=subprocess.PIPE, text=True)
        self.addCleanup(serving.communicate)
        self.addCleanup(serving.kill)
        self.assertIn(f"http://127.0.0.1:{port}/", serving.stderr.readline())
        self.cluster.create("trainingjobs", training_job(SPACE, "third", 5))
        self.addCleanup(self.browser.open, "about:blank")  # else it asks a server that is gone
        self.browser.open(f"http://127.0.0.1:{port}/")
        row = "document.querySelectorAll('tr[data-name=\"map-page/third\"]').length"
        self.browser.until(row, 1)
        self.assertEqual(len(re.findall("data-name=", fetch(f"http://127.0.0.1:{port}/"))),
                         self.browser.value("document.querySelectorAll('tr[data-name]').length"))
        self.cluster.delete("trainingjobs", SPACE, "third")
        self.cluster.until_no_job(SPACE, "third")


if __name__ == "__main__":
    unittest.main(verbosity=2)
