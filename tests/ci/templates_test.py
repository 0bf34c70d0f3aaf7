#!/usr/bin/env python3
"""The GitHub action, the GitLab template and the container's recipe are well formed, and their commands do the three
jobs in a root that has this machine's /usr, the unpacked bundle, a work folder, and nothing else.

The test stands in for the services: it puts inputs into the action's expressions and the template's variables, and runs
the commands. Not checked: caches, uploads, and the actions of others.

usage: templates_test.py ROOT BUILD HEADERS [APPLICATION CAPSULE]
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import yaml

from empty_root import USR, run_in

ROOT, BUILD, HEADERS = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
APPLICATION, CAPSULE = (*map(pathlib.Path, sys.argv[4:6]), None, None)[:2]
CI = ROOT / "tools/ci"
ACTION = yaml.safe_load((CI / "action/action.yml").read_text("utf-8"))
TEMPLATE = yaml.safe_load((CI / "gitlab/hgcheck.yml").read_text("utf-8"))
RECIPE = (CI / "container/Containerfile").read_text("utf-8").replace("\\\n", "")
BUILD_SCANNER = ("g++ -std=c++20 -shared -fPIC -D__HIP_PLATFORM_AMD__=1 -I$HGCHECK_HOME -isystem /headers "
                 "$HGCHECK_HOME/fuzz/examples/value_scan_patcher.cpp -o patcher.so")
BUILD_RIGHT = BUILD_SCANNER.replace("value_scan", "relocating")


class Root(unittest.TestCase):
    """The bundle is unpacked once, by the command of the container's recipe."""

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="hgcheck-ci-")
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.place = pathlib.Path(cls.scratch.name)
        archive = cls.place / "hgcheck.tar.zst"
        packed = subprocess.run([sys.executable, "-B", ROOT / "tools/pack", "--build", BUILD, "-o", archive], text=True,
                                check=False, capture_output=True)
        if packed.returncode != 0:
            raise AssertionError(packed.stderr)
        (unpack,) = re.findall(r"^RUN (mkdir /opt.*)$", RECIPE, flags=re.MULTILINE)
        for name in ("opt", "bin"):
            (cls.place / name).mkdir()
        done = run_in((*USR, "--bind", cls.place / "opt", "/opt", "--bind",
                       cls.place / "bin", "/usr/local/bin", "--bind", archive, "/archive"),
                      "bash", "-euc", "cp /archive /tmp/hgcheck.tar.zst; " + unpack)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        (cls.place / "opt/hgcheck/capsule").mkdir()

    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp(dir=self.place))
        capsule = ("--ro-bind", CAPSULE.parent, "/opt/hgcheck/capsule") if CAPSULE else ()
        programs = ("--ro-bind", APPLICATION.parent, "/programs") if APPLICATION else ()
        self.root = (*USR, "--ro-bind", self.place / "opt", "/opt", "--ro-bind",
                     self.place / "bin", "/usr/local/bin", "--ro-bind", HEADERS / "hip", "/headers/hip",
                     "--bind", self.work,
                     "/checkout", *capsule, *programs)

    def run_job(self, script, variables):
        return run_in(self.root, "bash", "-eo", "pipefail", "-c", script, variables=variables, cwd="/checkout")

    def action(self, **inputs):
        """Runs the step of the action that has a command, with inputs and defaults put into its expressions."""
        (step,) = [step for step in ACTION["runs"]["steps"] if "run" in step]
        values = {name: inputs.get(name, one.get("default", "")) for name, one in ACTION["inputs"].items()}
        self.assertLessEqual(set(inputs), set(values))
        variables = {name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: values[found[1]], text)
                     for name, text in step["env"].items()}
        return self.run_job(step["run"], {**variables, "GITHUB_ACTIONS": "true",
                                          "GITHUB_STEP_SUMMARY": "/checkout/page"})

    def gitlab(self, job, **variables):
        """Runs the script of a job that extends a job of the template."""
        own = TEMPLATE[job]
        base = TEMPLATE[own["extends"]]
        return self.run_job("\n".join(base["script"] + base["after_script"]),
                            {**base["variables"], **own["variables"], **variables})

    def assert_report(self, findings):
        """Report, SARIF, JUnit and summary say the same."""
        report = self.work / "hgcheck-report"
        found = json.loads((report / "report.json").read_text("utf-8"))["findings"]
        self.assertEqual(bool(found), findings)
        (run,) = json.loads((report / "report.sarif").read_text("utf-8"))["runs"]
        self.assertEqual(any("suppressions" not in one for one in run["results"]), findings)
        junit = xml.etree.ElementTree.parse(report / "junit.xml").getroot()
        self.assertEqual(int(junit.get("failures")) > 0, findings)
        for name in ("summary.md", "index.html"):
            self.assertGreater((report / name).stat().st_size, 100)

    def test_the_action_finds_a_faulty_patcher(self):
        done = self.action(job="patcher", build=BUILD_SCANNER, patcher="patcher.so", seconds="5")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assert_report(findings=True)
        self.assertEqual((self.work / "page").read_text("utf-8"),
                         (self.work / "hgcheck-report/summary.md").read_text("utf-8"))

    def test_the_template_passes_a_right_patcher_and_shows_the_summary(self):
        done = self.gitlab(".hgcheck-patcher", HGCHECK_BUILD=BUILD_RIGHT, HGCHECK_PATCHER="patcher.so",
                           HGCHECK_SECONDS="3")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assert_report(findings=False)
        self.assertIn((self.work / "hgcheck-report/summary.md").read_text("utf-8"), done.stdout)

    def test_known_causes_are_accepted(self):
        self.action(job="patcher", build=BUILD_SCANNER, patcher="patcher.so", seconds="3")
        findings = json.loads((self.work / "hgcheck-report/report.json").read_text("utf-8"))["findings"]
        (self.work / "known").write_text("\n".join(one["cause"] for one in findings), "utf-8")
        self.action(job="patcher", patcher="patcher.so", seconds="3", accept="known")
        again = json.loads((self.work / "hgcheck-report/report.json").read_text("utf-8"))["findings"]
        self.assertFalse({one["cause"] for one in findings} & {one["cause"] for one in again})

    def test_the_template_runs_a_campaign(self):
        done = self.gitlab(".hgcheck-campaign", HGCHECK_SUBJECT="model:update", HGCHECK_SECONDS="3")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assert_report(findings=False)

    def test_wrong_inputs_are_named_and_nothing_is_written(self):
        right = {"HGCHECK_JOB": "campaign"}
        for wrong, message in (({"HGCHECK_JOB": ""}, "HGCHECK_JOB is '', which is not patcher, record or campaign"),
                               ({"HGCHECK_JOB": "patcher"}, "the job patcher needs HGCHECK_PATCHER"),
                               ({"HGCHECK_JOB": "record"}, "the job record needs HGCHECK_COMMAND"),
                               ({"HGCHECK_PATCHER": "x.so"}, "HGCHECK_PATCHER is no input of the job campaign"),
                               ({"HGCHECK_SECONDS": "ten"}, "HGCHECK_SECONDS is 'ten', which is not a whole number"),
                               ({"HGCHECK_SEED": "-1"}, "HGCHECK_SEED is '-1', which is not a number"),
                               ({"HGCHECK_SUBJECT": "model"}, "HGCHECK_SUBJECT is 'model', which is not RUNTIME:"),
                               ({"HGCHECK_RELEASE": "5.7"}, "HGCHECK_RELEASE is '5.7', which is not one of: 7.2, 6.4"),
                               ({"HGCHECK_SUBJECT": "rocm-soft@6.4:patch"},
                                "HGCHECK_SUBJECT names release 6.4, and HGCHECK_RELEASE is 7.2"),
                               ({"HGCHECK_ACCEPT": "none"}, "HGCHECK_ACCEPT: there is no file 'none'"),
                               ({"HGCHECK_JOB": "patcher", "HGCHECK_PATCHER": "x.so", "HGCHECK_RUNTIME": "cuda"},
                                "HGCHECK_RUNTIME is 'cuda', which is not one of: model"),
                               ({"HGCHECK_JOB": "patcher", "HGCHECK_PATCHER": "x.so"}, "there is no library 'x.so'"),
                               ({"HGCHECK_BUILD": "false"}, "HGCHECK_BUILD failed (status 1)")):
            with self.subTest(wrong=wrong):
                done = self.run_job("hgcheck-ci", {**right, **wrong})
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertIn(f"hgcheck-ci: {message}", done.stderr)
                self.assertIn("\n  remedy: ", done.stderr)
                self.assertEqual(list(self.work.iterdir()), [])

    def test_a_runtime_that_cannot_be_fetched_is_an_error(self):
        done = run_in([*self.root, "--tmpfs", "/opt/hgcheck/capsule"], "hgcheck-ci", cwd="/checkout",
                      variables={"HGCHECK_JOB": "campaign", "HGCHECK_SUBJECT": "rocm-soft:patch"})
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("hgcheck-ci: AMD's runtime is not here and could not be fetched (7.2)", done.stderr)

    def test_without_the_bundle_the_action_says_so(self):
        done = self.action(job="campaign", home="/nowhere")
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no /nowhere/bin/hgcheck-ci", done.stdout)


class Application(Root):
    """The jobs that need AMD's runtime or a program that was built with its headers."""

    def test_an_application_on_the_model_is_recorded_and_judged(self):
        done = self.gitlab(".hgcheck-record",
                           HGCHECK_COMMAND="/programs/recorder_mlp /opt/hgcheck/kernels/kernels-gfx942-O2.co graph")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue((self.work / "hgcheck-report/recorded.program").exists())
        self.assert_report(findings=False)

    def test_an_application_on_amds_runtime_is_recorded_and_judged_there(self):
        done = self.action(job="record", runtime="rocm-soft", subject="rocm-soft:patch",
                           command="/programs/recorder_mlp /opt/hgcheck/kernels/kernels-gfx942-O2.co capture")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assert_report(findings=False)

    def test_an_application_that_calls_no_hip_is_an_error(self):
        done = self.action(job="record", command="/usr/bin/true")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no call of HIP was seen", done.stderr)


class Shape(unittest.TestCase):
    def test_the_action_hands_every_input_to_the_script(self):
        usage = subprocess.run([CI / "hgcheck-ci", "-h"], capture_output=True, text=True, check=True).stdout
        inputs = set(re.findall(r"^  (HGCHECK_\w+)", usage, flags=re.MULTILINE)) - {"HGCHECK_CACHE"}
        (step,) = [step for step in ACTION["runs"]["steps"] if "run" in step]
        self.assertEqual(set(step["env"]), inputs | {"HGCHECK_HOME"})
        for name, text in step["env"].items():
            self.assertEqual(text, "${{ inputs." + name.removeprefix("HGCHECK_").lower() + " }}")
        named = set(re.findall(r"inputs\.(\w+)", json.dumps(ACTION["runs"])))
        self.assertEqual(named, set(ACTION["inputs"]))

    def test_the_action_is_a_composite_of_steps(self):
        self.assertEqual(ACTION["runs"]["using"], "composite")
        for step in ACTION["runs"]["steps"]:
            self.assertLessEqual(set(step), {"if", "uses", "with", "run", "shell", "env"})
            self.assertEqual("run" in step, "shell" in step)
            self.assertNotIn("${{", step.get("run", ""))  # an input would be a command
            self.assertRegex(step.get("uses", "a/b@v1"), r"^[\w.-]+/[\w./-]+@v\d+$")

    def test_the_capsule_is_cached_by_its_version(self):
        (cache,) = [step for step in ACTION["runs"]["steps"] if step.get("uses", "").startswith("actions/cache@")]
        self.assertEqual(cache["with"], {"path": ".hgcheck-cache", "key": "hgcheck-capsule-${{ inputs.release }}"})
        base = TEMPLATE[".hgcheck"]
        self.assertEqual(base["cache"], {"key": "hgcheck-capsule-$HGCHECK_RELEASE", "paths": [".hgcheck-cache"]})
        self.assertEqual(base["variables"]["HGCHECK_CACHE"], ".hgcheck-cache")

    def test_both_keep_the_report(self):
        paths = [step["with"] for step in ACTION["runs"]["steps"] if "upload" in step.get("uses", "")]
        self.assertEqual([one.get("sarif_file", one.get("path")) for one in paths],
                         ["${{ inputs.report }}/report.sarif", "${{ inputs.report }}"])
        self.assertEqual(TEMPLATE[".hgcheck"]["artifacts"]["reports"], {"junit": "$HGCHECK_REPORT/junit.xml"})

    def test_the_recipe_builds_nothing(self):
        words = [line.split()[0] for line in RECIPE.splitlines() if line and not line.startswith("#")]
        self.assertEqual(words, ["FROM", "RUN", "COPY", "RUN"])
        self.assertNotRegex(RECIPE, r"cmake|ninja|\./dev build")


if __name__ == "__main__":
    if APPLICATION:
        del Root  # its tests run once, as Application's
    else:
        del Application
    unittest.main(argv=sys.argv[:1], verbosity=2)
