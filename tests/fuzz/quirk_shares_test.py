#!/usr/bin/env python3
"""No quirk's trigger matches many generated programs, unless its finding says why it cannot be narrower. A finding
whose trigger is narrow does not say so.

A wide quirk hides other defects: nine programs in ten steer around it, and it explains what the others show.

usage: quirk_shares_test.py HGCHECK
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

HGCHECK = sys.argv.pop(1)
MOST = 0.03
PROGRAMS = 2000
SAMPLE_ERROR = 0.01  # of a share of so many programs


class Shares(unittest.TestCase):
    def test_a_trigger_is_narrow_or_its_finding_says_why_it_is_not(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "quirks.json")
            subprocess.run([HGCHECK, "quirks", "--share", str(PROGRAMS), "--json", path], check=True,
                           stdout=subprocess.DEVNULL)
            quirks = json.loads(path.read_text())
        shown = [each for each in quirks if "share" in each]
        self.assertGreater(sum(each["share"] > 0 for each in shown), 40, "programs meet quirks")
        for each in shown:
            with self.subTest(each["id"]):
                if "wide" in each:
                    self.assertGreater(each["share"], MOST - SAMPLE_ERROR, "needs no excuse")
                else:
                    self.assertLessEqual(each["share"], MOST + SAMPLE_ERROR)


if __name__ == "__main__":
    unittest.main()
