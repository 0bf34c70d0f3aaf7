#!/usr/bin/env python3
"""The CI workflow is one that GitHub takes, and does nothing but ./dev: its shape against a schema written from the
documentation of workflow syntax, every word of ./dev against `./dev -h`, every reference to a matrix against the
matrix.

usage: workflow_test.py ROOT
"""
import pathlib
import re
import subprocess
import sys
import unittest

import jsonschema
import yaml

ROOT = pathlib.Path(sys.argv[1]).resolve()
WORKFLOW = ROOT / ".github" / "workflows" / "hgcheck.yml"

STEP = {
    "type": "object",
    "additionalProperties": False,
    "oneOf": [{"required": ["uses"]}, {"required": ["run"]}],
    "properties": {
        "uses": {"type": "string", "pattern": r"^[\w.-]+/[\w./-]+@v\d+$"},
        "run": {"type": "string"},
        "if": {"type": "string"},
        "with": {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}},
    },
}
JOB = {
    "type": "object",
    "required": ["runs-on", "steps", "timeout-minutes"],
    "additionalProperties": False,
    "properties": {
        "if": {"type": "string"},
        "runs-on": {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]},
        "container": {"type": "string"},
        "timeout-minutes": {"type": "integer", "minimum": 1, "maximum": 360},
        "permissions": {"type": "object", "additionalProperties": {"enum": ["read", "write", "none"]}},
        "strategy": {
            "type": "object",
            "required": ["matrix"],
            "additionalProperties": False,
            "properties": {
                "fail-fast": {"type": "boolean"},
                "matrix": {"type": "object", "additionalProperties": {"type": "array", "minItems": 1}},
            },
        },
        "steps": {"type": "array", "minItems": 1, "items": STEP},
    },
}
SCHEMA = {
    "type": "object",
    "required": ["name", "on", "jobs"],
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string"},
        "on": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "pull_request": {"type": ["object", "null"]},
                "push": {"type": ["object", "null"]},
                "workflow_dispatch": {"type": ["object", "null"]},
                "schedule": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["cron"],
                        "properties": {"cron": {"type": "string", "pattern": r"^(\S+ ){4}\S+$"}},
                    },
                },
            },
        },
        "concurrency": {"type": "object", "required": ["group"]},
        "permissions": {"type": "object"},
        "jobs": {"type": "object", "minProperties": 1, "additionalProperties": JOB},
    },
}
CACHE = {
    "type": "object",
    "required": ["key", "paths"],
    "additionalProperties": False,
    "properties": {
        "key": {"type": "string"},
        "paths": {"type": "array", "minItems": 1, "items": {"type": "string"}},
        "when": {"enum": ["on_success", "on_failure", "always"]},
    },
}
# A pipeline of GitLab: jobs by name, in the words of its reference of .gitlab-ci.yml.
GITLAB = {
    "type": "object",
    "minProperties": 1,
    "additionalProperties": {
        "type": "object",
        "required": ["image", "script"],
        "additionalProperties": False,
        "properties": {
            "image": {"type": "string"},
            "timeout": {"type": "string", "pattern": r"^(\d+[hm] ?)+$"},
            "parallel": {"type": "integer", "minimum": 2, "maximum": 200},
            "rules": {"type": "array", "items": {"type": "object", "required": ["if"],
                                                 "properties": {"if": {"type": "string"}}}},
            "cache": {"oneOf": [CACHE, {"type": "array", "items": CACHE, "minItems": 1, "maxItems": 4}]},
            "script": {"type": "array", "minItems": 1, "items": {"type": "string"}},
            "artifacts": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "when": {"enum": ["on_success", "on_failure", "always"]},
                    "paths": {"type": "array", "items": {"type": "string"}},
                    "reports": {"type": "object", "additionalProperties": False,
                                "properties": {"junit": {"type": "string"}}},
                },
            },
        },
    },
}


class Workflow(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # In YAML 1.1, which PyYAML reads, a bare `on` is true.
        text = re.sub(r"^on:", '"on":', WORKFLOW.read_text(encoding="utf-8"), flags=re.MULTILINE)
        cls.workflow = yaml.safe_load(text)
        done = subprocess.run([ROOT / "dev", "-h"], capture_output=True, text=True, check=True)
        cls.words = set(re.findall(r"^  (\w+) ", done.stdout, flags=re.MULTILINE))

    def runs(self):
        for name, job in self.workflow["jobs"].items():
            for step in job["steps"]:
                if "run" in step:
                    yield name, job, step["run"]

    def test_it_has_the_shape_of_a_workflow(self):
        jsonschema.validate(self.workflow, SCHEMA)

    def test_every_step_is_a_word_of_dev(self):
        self.assertIn("summary", self.words)
        for name, job, run in self.runs():
            word = re.fullmatch(r"\./dev (\S.*)", run.strip())
            self.assertIsNotNone(word, f"{name}: {run}")
            lanes = job["strategy"]["matrix"]["lane"] if "matrix.lane" in run else [word[1]]
            for lane in lanes:
                self.assertIn(lane.split()[0], self.words, f"{name}: {lane}")

    def test_expressions_name_what_there_is(self):
        for name, job in self.workflow["jobs"].items():
            matrix = job.get("strategy", {}).get("matrix", {})
            for key in re.findall(r"\$\{\{\s*matrix\.(\w+)", str(job)):
                self.assertIn(key, matrix, name)
            for context in re.findall(r"\$\{\{\s*(\w+)[.(]", str(job)):
                self.assertIn(context, {"matrix", "github", "hashFiles", "vars"}, name)

    def test_the_lanes_of_the_documentation_are_there(self):
        runs = "\n".join(run for _, _, run in self.runs())
        for part in ("--seconds 120", "--shard", "--db memory.db", "rocm:patch"):
            self.assertIn(part, runs)
        uses = [step.get("uses", "") for job in self.workflow["jobs"].values() for step in job["steps"]]
        self.assertTrue(any("upload-sarif" in one for one in uses))
        documented = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
        for name in self.workflow["jobs"]:
            self.assertRegex(documented, rf"(?m)^\| {name} \|")

    def test_what_a_night_remembers_is_cached_a_shard(self):
        steps = self.workflow["jobs"]["nightly"]["steps"]
        cached = [step for step in steps if step.get("with", {}).get("path") == "memory.db"]
        self.assertEqual([step["uses"] for step in cached], ["actions/cache/restore@v4", "actions/cache/save@v4"])
        restore, save = (step["with"] for step in cached)
        self.assertEqual(restore["key"], save["key"])
        for part in ("matrix.strategy", "matrix.shard", "github.run_id"):
            self.assertIn(part, save["key"])
        self.assertTrue(save["key"].startswith(restore["restore-keys"].split()[-1]))
        # A campaign that found something ends with 1, and its findings are to be remembered.
        self.assertEqual(cached[1]["if"], "always()")

    def test_the_gitlab_jobs_of_the_documentation_have_the_shape_of_such_and_call_dev_alone(self):
        page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
        jobs = yaml.safe_load(re.search(r"### GitLab\n\n```yaml\n(.*?)```", page, flags=re.DOTALL)[1])
        jsonschema.validate(jobs, GITLAB)
        runs = [line for job in jobs.values() for line in job["script"]]
        for line in runs:
            self.assertIn(re.fullmatch(r"\./dev (\w+).*", line)[1], self.words)
        self.assertTrue(any("--db memory.db" in line and "--shard" in line for line in runs))

    def test_what_is_wrong_is_refused(self):
        for job in ({"runs-on": "x", "steps": [], "timeout-minutes": 1},
                    {"runs-on": "x", "steps": [{"run": "a", "uses": "b/c@v1"}], "timeout-minutes": 1},
                    {"steps": [{"run": "a"}], "timeout-minutes": 1}):
            with self.assertRaises(jsonschema.ValidationError):
                jsonschema.validate(job, JOB)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
