#!/usr/bin/env python3
"""The report of `weft simulate` as a browser shows it, wide and narrow, light, dark and in print."""

import os
import subprocess
import tempfile
import unittest

from browser import POINT_AT_A_JOB, Browser

SOURCE = os.environ.get("WEFT_SOURCE_DIR") or os.path.join(os.path.dirname(__file__), "..", "..")
POLICIES = ["weft", "first-fit", "fewest-domains"]
WIDTHS = (360, 768, 1280)
# Light pages have dark text and dark pages light text: the sum of red, green and blue.
BRIGHT, DIM = 600, 150

# The texts and marks of each chart: title, number of marks, those that are not in the picture.
CHARTS = """[...document.querySelectorAll('section svg.chart')].map(function(chart){
    var title = chart.closest('section').querySelector('h2').textContent;
    var outer = chart.getBoundingClientRect();
    var marks = [...chart.querySelectorAll('path, rect')];
    var out = [...marks, ...chart.querySelectorAll('text')].filter(function(mark){
        var box = mark.getBoundingClientRect();
        return box.left < outer.left - 1 || box.right > outer.right + 1 ||
            box.top < outer.top - 1 || box.bottom > outer.bottom + 1;
    });
    var drawn = marks.filter(function(mark){
        var paint = getComputedStyle(mark);
        return (paint.stroke !== 'none' || paint.fill !== 'none') &&
            mark.getBoundingClientRect().width > 0;
    });
    return {title: title, marks: drawn.length, out: out.length, width: outer.width};
})"""
# The brightest and the dimmest of three colours: 0 to 765.
COLOURS = """['backgroundColor', 'color'].map(function(name){
    var rgb = getComputedStyle(document.body)[name].match(/\\d+/g).slice(0, 3);
    return rgb.reduce(function(sum, one){return sum + Number(one);}, 0);
})"""
# Texts of one chart's axis that lie on each other.
CROWDED = """[...document.querySelectorAll('section svg.chart')].filter(function(chart){
    var boxes = [...chart.querySelectorAll('text')].map(function(text){
        return text.getBoundingClientRect();
    });
    return boxes.some(function(a, i){
        return boxes.some(function(b, j){
            return i < j && a.left < b.right && b.left < a.right &&
                a.top + 2 < b.bottom && b.top + 2 < a.bottom;
        });
    });
}).map(function(chart){return chart.closest('section').querySelector('h2').textContent;})"""


class ReportPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.work.cleanup)
        cls.page = os.path.join(cls.work.name, "report.html")
        weft, fleet = os.environ["WEFT"], os.path.join(cls.work.name, "fleet.yaml")
        with open(fleet, "w", encoding="utf-8") as out:
            subprocess.run([weft, "fabric", "generate", "--design", "gb200-nvl72", "--nodes", "288",
                            "--fragmented", "30", "--seed", "1"], check=True, stdout=out)
        examples = os.path.join(SOURCE, "deploy", "examples")
        subprocess.run([weft, "simulate", "-f", fleet, "--trace", f"{examples}/nvl72-day.csv",
                        "--format", "weft", "--policy", ",".join(POLICIES),
                        "--prices", f"{examples}/prices.yaml", "--report", cls.page],
                       check=True, stdout=subprocess.DEVNULL)
        cls.browser = Browser(os.environ["WEFT_CHROMIUM"], f"{cls.work.name}/profile")
        cls.addClassCleanup(cls.browser.close)
        cls.browser.open(f"file://{cls.page}")
        cls.browser.until("document.readyState", "complete")

    def picture(self, name):
        self.browser.save(os.path.join(os.environ["WEFT_SCREENSHOTS"], f"report_{name}.png"), True)

    def test_every_width_in_both_schemes(self):
        for scheme in ("light", "dark"):
            self.browser.show_as(scheme)
            for width in WIDTHS:
                with self.subTest(scheme=scheme, width=width):
                    self.browser.resize(width, 900)
                    self.expect_whole(width)
                    paper, ink = self.browser.value(COLOURS)
                    if scheme == "dark":
                        paper, ink = ink, paper
                    self.assertGreater(paper, BRIGHT)
                    self.assertLess(ink, DIM)
                    self.picture(f"{width}_{scheme}")
        self.assertEqual(self.browser.errors, [])

    def test_print_is_dark_on_white(self):
        self.browser.show_as("dark", "print")
        self.browser.resize(794, 1123)  # A4 at 96 dots an inch
        self.expect_whole(794)
        self.assertEqual(self.browser.value(COLOURS)[0], 3 * 255)
        self.assertLess(self.browser.value(COLOURS)[1], DIM)
        self.picture("print")

    def expect_whole(self, width):
        """Nothing is beyond the window's edge, and every chart is drawn and can be read."""
        self.assertLessEqual(self.browser.value("document.documentElement.scrollWidth"), width)
        charts = self.browser.value(CHARTS)
        titles = [chart["title"] for chart in charts]
        for wanted in ("Waiting", "Waiting by size", "GPUs in use", "Queue", "Uplinks of level leaf",
                       "Stranded GPUs", *(f"Free blocks: {one}" for one in POLICIES)):
            self.assertIn(wanted, titles)
        self.assertNotIn("Uplinks of level node", titles)
        for chart in charts:
            least = 2 if chart["title"].startswith("Free blocks") else len(POLICIES)
            self.assertGreaterEqual(chart["marks"], least, chart["title"])
            self.assertEqual(chart["out"], 0, f"{chart['title']}: marks outside of the picture")
            self.assertGreater(chart["width"], 250, chart["title"])
        self.assertEqual(self.browser.value(CROWDED), [], "texts lie on each other")

    def test_the_maps_show_jobs_of_the_same_time(self):
        self.browser.show_as("light")
        self.browser.resize(1280, 900)
        maps = self.browser.value("""[...document.querySelectorAll('section.map')].map(
            function(map){return {
                title: map.querySelector('h2').textContent,
                when: map.querySelector('p').textContent.split(':')[0],
                cells: map.querySelectorAll('g[data-job]').length,
                hover: map.querySelector('g[data-job]').parentNode.querySelector('title')
                    .textContent}})""")
        self.assertEqual([one["title"] for one in maps], ["Map: weft", "Map: first-fit"])
        self.assertEqual(len({one["when"] for one in maps}), 1)
        for one in maps:
            self.assertGreater(one["cells"], 100)
            self.assertRegex(one["hover"], r"job-\d+: workers? .*\n.* runs for ")
        self.browser.resize(360, 800)
        card = self.browser.value(POINT_AT_A_JOB)
        self.assertRegex(card["text"], r"job-\d+: worker")
        self.assertGreaterEqual(card["left"], 0)
        self.assertLessEqual(card["right"], 360)
        self.assertLessEqual(card["bottom"], 800)


if __name__ == "__main__":
    unittest.main(verbosity=2)
