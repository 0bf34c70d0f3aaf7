#!/usr/bin/env python3
"""The report in a real browser: headless Chromium loads reports of 0, 1 and 1,000 findings from disk, in light and in
dark, wide and narrow, without an error on its console; links lead somewhere, and the filters show what they should.

Holds the page to sizes, not to times: how long it takes is printed, as docs/benchmarks.md has it.

usage: page_test.py HGCHECK CHROMIUM [FOLDER FOR SCREENSHOTS]
"""
import html
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HGCHECK, CHROMIUM = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
SCREENSHOTS = pathlib.Path(sys.argv[3]).resolve() if len(sys.argv) > 3 else None
TRIES = 3  # of a browser that does not start or does not end
PROGRAM = ("hgcheck-program 1\nplacement arena\nbuffer b0 64\ngraph g0\nmemset g0.n0 dst=b0+0 value=0 element=2 "
           "width=1 height=2 pitch=16\ninstantiate e0 g0\nlaunch e0 s0\n")
# What a person sees of the bugs, and when the page was there, as an attribute of the document.
PROBE = """<script>
addEventListener('load', function () { setTimeout(function () {
  STEPS
  var timing = performance.getEntriesByType('navigation')[0];
  document.documentElement.dataset.probe = JSON.stringify({
    bugs: Array.from(document.querySelectorAll('article.bug')).filter(function (bug) { return bug.offsetHeight > 0; })
      .map(function (bug) { return bug.id; }),
    open: Array.from(document.querySelectorAll('details.finding[open]')).map(function (one) { return one.id; }),
    status: (document.getElementById('filter-status') || {}).textContent,
    elements: document.getElementsByTagName('*').length,
    milliseconds: timing.loadEventEnd - timing.startTime});
}, 0); });
</script></body>"""


def letters(number):
    return chr(ord("a") + number % 26) if number < 26 else letters(number // 26) + letters(number % 26)


def finding(number, prop="P3"):
    """Every third one is another form of the bug before it."""
    return {"id": f"{prop}-{number:06}", "property": prop, "cause": f"{prop} b#+# after launch {number}",
            "also": ["P5"], "fault": "", "program": f"report/{prop}-{number:06}.program",
            "commands": 3, "original_commands": 40,
            "replay": f"build/bin/hgcheck replay report/{prop}-{number:06}.program", "seen": number + 1,
            "summary": f"b0+{number} differs at 'the end'", "program_text": PROGRAM * 3,
            "differences": [{"where": f"argument {letters(number - (number % 3 == 2))}", "command": "the end",
                             "expected": "00 " * 16 + "01", "observed": "00 " * 15 + "ff 01"}],
            "graphs": [{"name": "g0", "nodes": [{"name": "n0", "label": "memset b0", "at_fault": True},
                                                {"name": "n1", "label": "kernel axpy_u64", "at_fault": False}],
                        "edges": [{"from": "n0", "to": "n1"}]}],
            "related": [{"kind": "quirk", "id": "memset-2d-element", "title": "a 2D memset takes another size"}]}


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="hgcheck-page-")
        cls.folder = pathlib.Path(cls.place.name)
        done = subprocess.run([HGCHECK, "campaign", "--programs", "120", "--jobs", "1", "--json", "base.json"],
                              cwd=cls.folder, capture_output=True, check=False, timeout=120)
        assert done.returncode == 0, done.stderr
        cls.base = json.loads((cls.folder / "base.json").read_text(encoding="utf-8"))

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def page(self, findings, compare=0):
        result = dict(self.base, findings=[finding(i, "P9" if i % 10 == 9 else "P3") for i in range(findings)],
                      programs=100000)
        result["verdicts"] = dict(result["verdicts"], diverge=findings, agree=100000 - findings)
        result["history"] = [{"seconds": i * 0.5, "programs": i * 800 + i % 3 * 90, "findings": min(findings, i // 9),
                              "features": min(70, 20 + 5 * i)} for i in range(200)]
        (self.folder / "now.json").write_text(json.dumps(result), encoding="utf-8")
        command = [HGCHECK, "report", "now.json", "--report", f"report-{findings}"]
        if compare:
            earlier = dict(result, findings=[finding(i) for i in range(1, compare)])
            (self.folder / "then.json").write_text(json.dumps(earlier), encoding="utf-8")
            command += ["--compare", "then.json"]
        subprocess.run(command, cwd=self.folder, check=True, capture_output=True)
        return self.folder / f"report-{findings}" / "index.html"

    @staticmethod
    def browse(address, *options):
        """The page after its scripts, and what its console said."""
        command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                   "--disable-extensions", "--disable-background-networking", "--disable-component-update",
                   "--enable-logging=stderr", "--v=0", *options, "--dump-dom", address]
        for left in reversed(range(TRIES)):
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
                try:
                    done = subprocess.run([*command[:1], f"--user-data-dir={profile}", *command[1:]],
                                          capture_output=True, text=True, timeout=120, check=True)
                    return done.stdout, [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
                except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
                    if not left:
                        raise AssertionError(f"{CHROMIUM} does not work: {error}: {error.stderr}") from error
        return None

    def load(self, page, fragment=""):
        dom, console = self.browse(page.as_uri() + fragment)
        self.assertEqual(console, [])
        return dom

    def probe(self, page, steps="", fragment=""):
        """What the page holds for a person after `steps` of a script."""
        copy = page.with_name("probed.html")
        text = page.read_text(encoding="utf-8")
        copy.write_text(text.replace("</body>", PROBE.replace("STEPS", steps)), encoding="utf-8")
        found = re.search(r'data-probe="([^"]*)"', self.load(copy, fragment))
        return json.loads(html.unescape(found.group(1)))

    def test_reports_of_0_1_and_1000_findings_load_without_an_error_and_stay_small(self):
        for findings, most_bytes, most_elements in ((0, 3 << 20, 12000), (1, 3 << 20, 12000), (1000, 10 << 20, 120000)):
            page = self.page(findings, compare=3)
            dom = self.load(page)
            self.assertLess(page.stat().st_size, most_bytes)
            self.assertEqual(len(re.findall(r'<details class="finding"', dom)), findings)
            seen = self.probe(page)
            print(f"{findings} findings: {page.stat().st_size} bytes, {seen['elements']} elements, "
                  f"loaded after {seen['milliseconds']:.0f} ms")
            self.assertLess(seen["elements"], most_elements)

    def test_a_run_of_benchmarks_is_a_page_beside_an_earlier_one(self):
        run = {"context": {"date": "2026-01-02", "executable": "build/bin/bench_patch", "num_cpus": 2,
                           "mhz_per_cpu": 2600},
               "benchmarks": [{"name": f"patch/{size}", "run_type": "iteration", "cpu_time": size * 1.5,
                               "real_time": size * 2, "time_unit": "us", "calls": size} for size in (16, 256, 4096)]}
        (self.folder / "run.json").write_text(json.dumps(run), encoding="utf-8")
        done = subprocess.run([HGCHECK, "report", "run.json", "--compare", "run.json", "--report", "benchmarks"],
                              cwd=self.folder, check=True, capture_output=True, text=True)
        self.assertEqual(done.stdout, "report: benchmarks/bench_patch.html\n")
        dom = self.load(self.folder / "benchmarks" / "bench_patch.html")
        self.assertEqual(len(re.findall(r"<svg class=\"bar\"", dom)), 3)
        self.assertEqual(dom.count("now 1.00 times that"), 3)

    def test_links_lead_to_what_is_there(self):
        dom = self.load(self.page(2, compare=3))
        ids = set(re.findall(r'\bid="([^"]+)"', dom))
        targets = re.findall(r'href="#([^"]+)"', dom)
        self.assertGreater(len(targets), 8)
        for target in targets:
            self.assertIn(target, ids)

    def test_a_link_to_a_finding_that_is_folded_away_opens_it(self):
        page = self.page(12)
        self.assertNotIn("finding-11", self.probe(page)["open"])
        self.assertIn("finding-11", self.probe(page, fragment="#finding-11")["open"])

    def test_filters_show_the_bugs_that_match_and_say_how_many(self):
        page = self.page(12)
        every = self.probe(page)
        self.assertEqual(len(every["bugs"]), 8)
        self.assertEqual(every["status"], "8 bugs shown")
        set_text = ("var text = document.getElementById('filter-text'); text.value = '{}'; "
                    "text.dispatchEvent(new Event('input'));")
        one = self.probe(page, set_text.format("P3-000004"))
        self.assertEqual((len(one["bugs"]), one["status"]), (1, "1 of 8 bugs shown"))
        self.assertEqual(self.probe(page, set_text.format("no such words"))["bugs"], [])
        choose = ("var property = document.getElementById('filter-property'); property.value = 'P9'; "
                  "property.dispatchEvent(new Event('change'));")
        chosen = self.probe(page, choose)
        self.assertEqual((len(chosen["bugs"]), chosen["status"]), (1, "1 of 8 bugs shown"))
        # Whoever follows a link gets there, whatever was filtered.
        back = self.probe(page, choose + "location.hash = '#finding-11'; "
                                         "dispatchEvent(new HashChangeEvent('hashchange'));")
        self.assertEqual(len(back["bugs"]), 8)
        self.assertIn("finding-11", back["open"])

    def test_scripts_show_what_they_serve(self):
        dom = self.load(self.page(3))
        self.assertGreaterEqual(len(re.findall(r"<button[^>]* data-copy=", dom)), 2)
        self.assertNotRegex(dom, r"<button[^>]* hidden")
        self.assertNotRegex(dom, r"<form[^>]* hidden")

    def test_screenshots_are_drawn(self):
        page = self.page(4, compare=3)
        for name, width, options in (("wide", 1300, []), ("narrow", 420, []),
                                     ("dark", 1300, ["--force-dark-mode", "--blink-settings=preferredColorScheme=0"])):
            shot = (SCREENSHOTS or self.folder) / f"{name}.png"
            self.browse(page.as_uri(), f"--window-size={width},2600", f"--screenshot={shot}", "--hide-scrollbars",
                        *options)
            self.assertGreater(shot.stat().st_size, 20000, name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
