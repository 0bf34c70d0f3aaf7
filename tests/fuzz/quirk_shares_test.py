#!/usr/bin/env python3
"""No quirk's trigger matches many generated programs, unless its finding says why it cannot be narrower.

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
BY_CHANCE = 0.01  # of so few programs
PROGRAMS = 2000


class Shares(unittest.TestCase):
    def test_a_trigger_is_narrow_or_its_finding_says_why_it_is_not(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "quirks.json")
            subprocess.run([HGCHECK, "quirks", "--share", str(PROGRAMS), "--json", path], check=True,
                           stdout=subprocess.DEVNULL)
            quirks = json.loads(path.read_text())
        self.assertGreater(sum(each["share"] > 0 for each in quirks), 40, "programs meet quirks")
        for each in quirks:
            with self.subTest(each["id"]):
                if "wide" not in each:
                    self.assertLessEqual(each["share"], MOST + BY_CHANCE)


if __name__ == "__main__":
    unittest.main()
