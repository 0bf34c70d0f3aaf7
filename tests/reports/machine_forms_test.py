#!/usr/bin/env python3
"""What `hgcheck campaign` writes is what the published forms say: JSON against docs/report.schema.json, SARIF against
the standard's requirements (sarif.schema.json beside this file), JUnit as XML that counts what it holds, Markdown with
a headline. Campaigns without and with findings, and one that is interrupted by its own bounds.

usage: machine_forms_test.py HGCHECK REPORT_SCHEMA SARIF_SCHEMA
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import jsonschema

HGCHECK, REPORT_SCHEMA, SARIF_SCHEMA = (pathlib.Path(path).resolve() for path in sys.argv[1:4])


def load(path):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


class MachineForms(unittest.TestCase):
    def campaign(self, *options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        command = [HGCHECK, "campaign", "--report", "report", "--json", "result.json", "--jobs", "1", *options]
        done = subprocess.run(command, cwd=folder.name, capture_output=True, text=True, timeout=120, check=False)
        return done, pathlib.Path(folder.name)

    def check(self, folder):
        report = load(folder / "report" / "report.json")
        for result in (report, load(folder / "result.json")):
            jsonschema.validate(result, load(REPORT_SCHEMA))
            self.assertLessEqual(set(result), set(load(REPORT_SCHEMA)["properties"]), "keys that the schema describes")
        sarif = load(folder / "report" / "report.sarif")
        jsonschema.validate(sarif, load(SARIF_SCHEMA))
        errors = [one for one in sarif["runs"][0]["results"] if one["level"] == "error"]
        self.assertEqual(len(errors), len(report["findings"]))
        for one in errors:
            location = one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
            self.assertTrue((folder / location).is_file(), location)
        suites = xml.etree.ElementTree.parse(folder / "report" / "junit.xml").getroot()
        self.assertEqual(int(suites.get("tests")), len(suites.findall(".//testcase")))
        summary = (folder / "report" / "summary.md").read_text(encoding="utf-8")
        self.assertTrue(summary.startswith("## hgcheck: "), summary[:80])
        return report, summary

    def test_a_campaign_without_findings(self):
        done, folder = self.campaign("--programs", "60")
        self.assertEqual(done.returncode, 0, done.stderr)
        report, summary = self.check(folder)
        self.assertEqual(report["findings"], [])
        self.assertIn("No divergence", summary)

    def test_a_campaign_with_findings(self):
        done, folder = self.campaign("--fault", "F01", "--programs", "2000")
        self.assertEqual(done.returncode, 1, done.stderr)
        report, summary = self.check(folder)
        self.assertEqual(len(report["findings"]), 1)
        self.assertTrue(report["findings"][0]["cause"])
        self.assertIn(report["findings"][0]["program_text"], summary)

    def test_the_history_goes_on_and_never_back(self):
        done, folder = self.campaign("--seconds", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        history = self.check(folder)[0]["history"]
        self.assertGreater(len(history), 3)
        for before, after in zip(history, history[1:]):
            self.assertLess(before["seconds"], after["seconds"])
            self.assertLessEqual(before["programs"], after["programs"])
            self.assertLessEqual(before["features"], after["features"])

    def test_the_schemas_refuse_what_lacks_a_key(self):
        for schema, broken in ((REPORT_SCHEMA, {"version": "1"}), (SARIF_SCHEMA, {"version": "2.0.0", "runs": []})):
            jsonschema.Draft202012Validator.check_schema(load(schema))
            with self.assertRaises(jsonschema.ValidationError):
                jsonschema.validate(broken, load(schema))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
