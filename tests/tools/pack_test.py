#!/usr/bin/env python3
"""The folder of tools/pack runs from anywhere, with nothing of the build and with no variable set.

The archive is made of this build, unpacked in a new folder under a name with a space, and used from another working
directory in an empty environment. Not checked: another distribution's C library (tools/pack refuses what wants a later
glibc), a GPU, and an installed ROCm's own libraries (the tree that looks like one holds the capsule's).

usage: pack_test.py ROOT BUILD [TEST]
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
GLIBC = re.compile(r"(ld-linux-x86-64|lib(c|m|dl|rt|pthread|resolv|util))\.so")
MOST_BYTES = 60_000_000


def run(*command, **more):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **more)


def elf_files(folder):
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                if file.read(4) == b"\x7fELF":
                    yield path


class Pack(unittest.TestCase):
    options = ()

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="hgcheck pack ")
        cls.addClassCleanup(cls.scratch.cleanup)
        place = pathlib.Path(cls.scratch.name)
        cls.archive = place / "made.tar.zst"
        made = run(ROOT / "tools/pack", "--build", BUILD, "-o", cls.archive, *cls.options)
        if made.returncode != 0:
            raise AssertionError(made.stderr)
        run("tar", "-I", "zstd", "-C", place, "-xf", cls.archive)
        (cls.folder,) = place.glob("hgcheck-*-x86_64")
        cls.cases = (cls.folder / "share/error-cases.txt").read_text("utf-8").splitlines()
        cls.elsewhere = place / "elsewhere"
        cls.elsewhere.mkdir()

    def hgcheck(self, *words):
        """With no variable at all, in a folder that has nothing to do with it."""
        return run(self.folder / "bin/hgcheck", *words, cwd=self.elsewhere, env={}, timeout=100)

    def test_every_library_is_in_the_folder_or_of_glibc(self):
        for path in elf_files(self.folder):
            with self.subTest(path.name):
                if "capsule" in path.parts or path.suffix == ".co":
                    continue
                dynamic = run("readelf", "-d", path).stdout
                (runpath,) = re.findall(r"\(RUNPATH\).*\[(.+)\]", dynamic)
                looked_in = pathlib.Path(runpath.replace("$ORIGIN", str(path.parent))).resolve()
                self.assertEqual(looked_in, (self.folder / "lib").resolve())
                for name in re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic):
                    self.assertTrue(GLIBC.match(name) or (looked_in / name).exists(), name)

    def test_it_has_no_name_of_the_build_but_in_what_a_build_is_asked_for(self):
        listed = self.hgcheck("subjects")
        self.assertEqual(listed.returncode, 0, listed.stderr)
        self.assertNotIn(str(BUILD), listed.stdout)
        self.assertNotIn(str(ROOT), listed.stdout)

    def test_the_archive_without_the_capsule_is_under_60_megabytes(self):
        self.assertLess(self.archive.stat().st_size, MOST_BYTES)

    def test_a_campaign_on_the_model_agrees(self):
        report = self.elsewhere / "result.json"
        done = self.hgcheck("campaign", "--programs", "200", "--jobs", "1", "--quiet", "--json", report)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("no divergence", done.stdout)
        self.assertTrue(json.loads(report.read_text("utf-8")))

    def test_a_fault_of_the_patcher_is_found(self):
        done = self.hgcheck("campaign", "--programs", "200", "--jobs", "1", "--quiet", "--fault", "F01")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)

    def test_its_subject_process_runs_a_program(self):
        program = self.elsewhere / "one.program"
        program.write_text("hgcheck-program 1\nplacement arena\nbad hipGraphCreate null-graph\n", "utf-8")
        subject = f"cmd='{self.folder}/bin/hgcheck-subject' --library '{self.folder}/lib/libhgmodel.so':rebuild"
        done = self.hgcheck("replay", program, "--subject", subject)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_cases_of_bad_input_have_a_function_a_name_and_a_status(self):
        cases = self.cases
        self.assertGreater(len(cases), 900)
        for case in cases:
            self.assertRegex(case, r"^hip\w+ [\w-]+ hip\w+$")

    def test_gpu_run_runs_a_campaign_and_the_cases_of_bad_input(self):
        (self.folder / "share/error-cases.txt").write_text("hipGraphCreate null-graph hipErrorInvalidValue\n", "utf-8")
        output = self.elsewhere / "results"
        done = run(sys.executable, self.folder / "bin/gpu-run", "--runtime", "model", "--output", output, "--programs",
                   "20", "--jobs", "1", "--strategies", "patch", "--only", "subjects", "campaigns", "bad-input",
                   cwd=self.elsewhere, timeout=100)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        summary = (output / "summary.md").read_text("utf-8")
        self.assertIn("20 programs", summary)
        self.assertIn("1 cases: 1 as documented", summary)

    def test_a_build_without_hgcheck_is_refused_and_leaves_no_archive(self):
        output = self.elsewhere / "x.tar.zst"
        done = run(ROOT / "tools/pack", "--build", self.elsewhere, "-o", output)
        self.assertEqual(done.returncode, 1)
        self.assertIn("remedy: ./dev build", done.stderr)
        self.assertFalse(output.exists())


class PackWithCapsule(Pack):
    options = ("--with-capsule",)

    def test_the_archive_without_the_capsule_is_under_60_megabytes(self):
        self.skipTest("this archive has the capsule")

    def test_amds_runtime_runs_on_the_software_gfx942(self):
        done = self.hgcheck("campaign", "--subject", "rocm-soft@7.2:patch", "--programs", "20", "--jobs", "1",
                            "--quiet")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_tree_that_looks_like_rocm_is_loaded_by_its_link(self):
        # Its libraries want the capsule's C library, so the subject is started on that loader.
        libraries = self.folder / "capsule/7.2/usr/lib/x86_64-linux-gnu"
        lib = self.elsewhere / "opt/rocm-7.2.0/lib"
        lib.mkdir(parents=True)
        (self.elsewhere / "opt/rocm").symlink_to("rocm-7.2.0")
        (lib / "libamdhip64.so.7").symlink_to(libraries / "libamdhip64.so.7")
        (lib / "libamdhip64.so").symlink_to("libamdhip64.so.7")
        subject = (f"cmd='{libraries}/ld-linux-x86-64.so.2' --library-path '{self.folder}/lib/agent:{libraries}'"
                   f" '{self.folder}/bin/hgcheck-subject' --library '{self.elsewhere}/opt/rocm/lib/libamdhip64.so'")
        done = self.hgcheck("campaign", "--subject", subject + ":patch", "--programs", "20", "--jobs", "1", "--quiet")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    os.umask(0o022)
    unittest.main()
