"""tools/libs on programs of the tests' own: what a page says of a program that passes, fails, hangs or dies, and which
files --count reads or refuses.

Not verified here: that the libraries' own programs are named and filtered as tools/libs expects (./dev libs shows it).
"""
import json
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zlib
from pathlib import Path

ROOT = Path(sys.argv.pop(1)).resolve()


NOT_RUN = ("SKIPPED", "SUPPRESSED")  # GoogleTest's results of a test that skips itself, and of a disabled one


def report(**results):
    """What a program of GoogleTest writes, for tests by name: None passed, one of NOT_RUN is that, a text failed."""
    cases = [{"name": name, "classname": "Graphs", "result": text if text in NOT_RUN else "COMPLETED",
              **({"failures": [{"failure": text}]} if text and text not in NOT_RUN else {})}
             for name, text in results.items()]
    return json.dumps({"testsuites": [{"name": "Graphs", "testsuite": cases}] if cases else []})


class Libs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hgcheck-libs-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.capsule = self.folder / "capsule"
        self.build = self.folder / "build"
        for library in ("agent/libhsa-runtime64.so.1", "agent/librocm_smi64.so.7", "libhgschedule.so"):
            self.write(self.build / "lib" / library, "")
        self.write(self.capsule / "VERSION", "librccl1 7.2.4-1\n")
        # Stands for the capsule's loader: the program comes after --agent DIR.
        self.write(self.capsule / "bin/run", '#!/bin/sh\n[ "$1" = --agent ] || exit 99\nshift 2\nexec "$@"\n')
        self.programs = self.capsule / "usr/libexec/rocm/libhipcub-tests"

    def write(self, file, text):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)

    def program(self, name, written, script=""):
        """A program that lists its suites, writes this list of its tests, if any, and then does as the script says."""
        suites = "Graphs/0.  # TypeParam = P<int,true>\n  One\nPlain/0.  # TypeParam = P<true,false>\n  One"
        suites = f"case $* in *--gtest_list_tests*) echo '{suites}'; exit ;; esac\n"
        suites += "case $* in *'--gtest_filter=Graphs/0.* '*) ;; *) exit 97 ;; esac\n"
        lists = "for a; do case $a in --gtest_output=json:*) cat >\"${a#*json:}\" <<'E'\n"
        lists += f"{written}\nE\n;; esac; done\n"
        self.write(self.programs / name, f"#!/bin/sh\n{suites}{lists if written else ''}{script}\n")

    def is_over(self, process):
        """Whether a process has ended, or does within ten seconds. A zombie has."""
        for _ in range(100):
            try:
                state = Path("/proc", process, "stat").read_text().rpartition(") ")[2][:1]
            except OSError:
                return True
            if state == "Z":
                return True
            time.sleep(0.1)
        return False

    def run_libs(self, *arguments, environment=None):
        command = [sys.executable, "-B", ROOT / "tools/libs", "--capsule", self.capsule, "--build", self.build]
        printed = self.folder / "printed"
        with open(printed, "w", encoding="utf-8") as output:
            done = subprocess.run([*command, *arguments], stdout=output, stderr=subprocess.PIPE, text=True, timeout=60,
                                  check=False, cwd=self.folder, env=environment)
        page = re.sub(r"\| \d+ \|([^|]*)\|\n", r"| ... |\1|\n", printed.read_text())  # seconds
        return done.returncode, page, done.stderr

    def test_programs_that_pass_are_rows_and_success(self):
        self.program("test_hipcub_device_scan", report(One=None, Two=None))
        self.write(self.programs / "test_hipcub_device_without_graphs",
                   "#!/bin/sh\necho 'Plain/0.  # TypeParam = P<int,false>'\n")
        status, page, _ = self.run_libs("--suite", "hipcub")
        self.assertEqual(status, 0)
        self.assertIn("| test_hipcub_device_scan | 2 | 2 | 0 | 0 | ... |  |", page)
        self.assertNotIn("without_graphs", page)

    def test_a_suite_without_a_matching_test_is_no_success(self):
        self.program("test_hipcub_device_scan", report())
        self.write(self.capsule / "usr/libexec/rocm/librccl1-tests/rccl-UnitTests",
                   "#!/bin/sh\nfor a; do case $a in --gtest_output=json:*)"
                   " echo '{\"testsuites\": []}' >\"${a#*json:}\" ;; esac; done\n")
        for suite, row in (("hipcub", "test_hipcub_device_scan | 0 | 0 | 0 | 0 | ... | no test matches Graphs/0.*"),
                           ("rccl", "rccl-UnitTests | 0 | 0 | 0 | 0 | ... | no test matches *Graph*")):
            status, page, _ = self.run_libs("--suite", suite)
            self.assertEqual(status, 1)
            self.assertIn(f"| {row} |", page)

    def test_a_program_that_cannot_list_its_tests_is_no_success(self):
        self.program("test_hipcub_device_scan", report(One=None))
        self.write(self.programs / "test_hipcub_device_dies", "#!/bin/sh\necho 'no library here' >&2\nexit 127\n")
        self.write(self.programs / "test_hipcub_device_hangs", "#!/bin/sh\nexec sleep 50\n")
        status, page, _ = self.run_libs("--suite", "hipcub", "--seconds", "4")
        self.assertEqual(status, 1)
        self.assertIn("_dies | ? | 0 | 0 | ? | ... | its list of tests ended with status 127: no library here |", page)
        self.assertIn("_hangs | ? | 0 | 0 | ? | ... | its list of tests did not end in time:  |", page)

    def test_a_program_gets_as_many_agents_as_its_suite_needs_or_as_are_asked_for(self):
        self.program("test_hipcub_device_scan", report(One=None), f"echo $HGCHECK_SCHEDULE >{self.folder}/agents")
        for options, agents in (((), ""), (("--agents", "4"), "0:0:4")):
            self.assertEqual(self.run_libs("--suite", "hipcub", *options)[0], 0)
            self.assertEqual((self.folder / "agents").read_text().strip(), agents)
        self.write(self.capsule / "usr/libexec/rocm/librccl1-tests/rccl-UnitTests",
                   f"#!/bin/sh\necho $HGCHECK_SCHEDULE $LD_PRELOAD >{self.folder}/agents\n")
        self.run_libs("--suite", "rccl")
        self.assertEqual((self.folder / "agents").read_text().strip(), f"0:0:2 {self.build}/lib/libhgschedule.so")

    def test_a_build_without_its_libraries_has_a_remedy(self):
        self.program("test_hipcub_device_scan", report(One=None))
        (self.build / "lib/agent/librocm_smi64.so.7").unlink()
        status, _, said = self.run_libs("--suite", "hipcub")
        self.assertEqual(status, 1)
        self.assertIn("has no lib/agent/librocm_smi64.so.7\n  remedy: ./dev build", said)

    def test_a_test_that_did_not_run_is_skipped(self):
        self.program("test_hipcub_device_scan", report(One=None, Two="SKIPPED", DISABLED_Three="SUPPRESSED"))
        status, page, _ = self.run_libs("--suite", "hipcub")
        self.assertEqual(status, 0)
        self.assertIn("| test_hipcub_device_scan | 3 | 1 | 0 | 2 | ... |  |", page)

    def test_a_test_that_fails_is_named(self):
        self.program("test_hipcub_device_scan", report(One=None, Two="9 instead of 10"), "exit 1")
        status, page, _ = self.run_libs("--suite", "hipcub")
        self.assertEqual(status, 1)
        self.assertIn("| test_hipcub_device_scan | 2 | 1 | 1 | 0 | ... | Graphs.Two |", page)

    def test_a_program_that_dies_or_hangs_is_no_success(self):
        self.program("test_hipcub_device_dies", "", "echo '[       OK ] Graphs.One (5 ms)'; echo 'no GPU here'; exit 3")
        self.program("test_hipcub_device_hangs", "", "echo '[       OK ] Graphs.One (5 ms)'; exec sleep 50")
        status, page, _ = self.run_libs("--suite", "hipcub", "--seconds", "4")
        self.assertEqual(status, 1)
        self.assertIn("| test_hipcub_device_dies | ? | 1 | 0 | ? | ... | ended with status 3: no GPU here |", page)
        self.assertIn("| test_hipcub_device_hangs | ? | 1 | 0 | ? | ... | did not end in time |", page)

    def test_a_good_list_of_a_program_that_then_dies_is_no_success(self):
        self.program("test_hipcub_device_scan", report(One=None), "exit 139")
        self.program("test_hipcub_device_sort", report(One=None), "exec sleep 50")
        status, page, _ = self.run_libs("--suite", "hipcub", "--seconds", "4")
        self.assertEqual(status, 1)
        self.assertIn("| test_hipcub_device_scan | 1 | 1 | 0 | 0 | ... | ended with status 139 |", page)
        self.assertIn("| test_hipcub_device_sort | 1 | 1 | 0 | 0 | ... | did not end in time |", page)

    def test_half_a_list_is_none(self):
        self.program("test_hipcub_device_scan", report(One=None)[:-9], "exit 134")
        status, page, _ = self.run_libs("--suite", "hipcub")
        self.assertEqual(status, 1)
        self.assertIn("| test_hipcub_device_scan | ? | 0 | 0 | ? | ... | ended with status 134:  |", page)

    def test_a_program_that_does_not_end_leaves_no_process(self):
        self.program("test_hipcub_device_scan", "", f"sleep 50 &\necho $! >{self.folder}/child\nwait")
        self.assertEqual(self.run_libs("--suite", "hipcub", "--seconds", "4")[0], 1)
        self.assertTrue(self.is_over((self.folder / "child").read_text().strip()))

    def test_folders_may_be_relative(self):
        self.program("test_hipcub_device_scan", report(One=None))
        status, _, said = self.run_libs("--suite", "hipcub", "--capsule", "capsule", "--build", "build")
        self.assertEqual(status, 0, said)

    def test_no_program_runs_before_all_suites_are_found(self):
        self.program("test_hipcub_device_scan", report(One=None), f"touch {self.folder}/ran")
        status, _, said = self.run_libs("--suite", "hipcub", "--suite", "rccl")
        self.assertEqual(status, 1)
        self.assertIn("no program librccl1-tests/rccl-UnitTests", said)
        self.assertFalse((self.folder / "ran").exists())

    def test_rows_are_written_one_by_one(self):
        self.program("test_hipcub_device_a", report(One=None))
        for name, options in (("printed", ()), ("page.md", ("--page", self.folder / "page.md"))):
            so_far = self.folder / f"{name}-so-far"
            self.program("test_hipcub_device_b", report(One=None), f"cp {self.folder / name} {so_far}")
            self.assertEqual(self.run_libs("--suite", "hipcub", *options)[0], 0)
            self.assertIn("| test_hipcub_device_a | 1 |", so_far.read_text())

    def test_a_page_goes_to_its_file(self):
        self.program("test_hipcub_device_scan", report(One=None))
        self.run_libs("--suite", "hipcub", "--page", self.folder / "page.md")
        self.assertIn("test_hipcub_device_scan", (self.folder / "page.md").read_text())

    def test_a_missing_capsule_and_missing_programs_have_a_remedy(self):
        status, _, said = self.run_libs("--suite", "hipcub")
        self.assertEqual(status, 1)
        self.assertIn("remedy: tools/fetch-capsule --again libs", said)
        (self.capsule / "VERSION").unlink()
        self.assertIn("remedy: tools/fetch-capsule libs", self.run_libs()[2])

    # --- counting ---

    def bundle(self):
        target = b"hipv4-amdgcn-amd-amdhsa--gfx942"
        header = 24 + 8 + 24 + len(target)
        return b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<QQQQ", 1, header, 4, len(target)) + target + b"code"

    def compressed(self, packed, method):
        return b"CCOB" + struct.pack("<HHIIQ", 2, method, 24 + len(packed), 0, 0) + packed + b"." * 64

    def count(self, *files, **options):
        self.write(self.build / "bin/hgcheck-instructions", f'#!{shutil.which("sh")}\n/bin/cat "$1"/*\n')
        return self.run_libs("--count", *files, **options)

    def test_code_objects_are_found_compressed_and_not(self):
        library = self.folder / "lib.so"
        library.write_bytes(b"CCOB and __CLANG_OFFLOAD_BUNDLE__ in a text" + self.bundle() + b"....." +
                            self.compressed(zlib.compress(self.bundle()), 0))
        status, counted, said = self.count(library)
        self.assertEqual((status, counted), (0, "codecode"), said)

    def test_a_file_that_cannot_be_read_is_named_and_the_others_count(self):
        good, empty, damaged = (self.folder / name for name in ("good.so", "empty.so", "damaged.so"))
        good.write_bytes(self.bundle())
        empty.write_bytes(b"")
        for method in (0, 1):  # zlib, zstd
            damaged.write_bytes(self.compressed(b"damaged" * 4, method))
            status, counted, said = self.count(empty, damaged, self.folder / "absent.so", good)
            self.assertEqual((status, counted), (1, "code"), said)
            self.assertNotIn("Traceback", said)
            for name, why in (("empty", "empty file"), ("damaged", "at byte 0 is damaged"), ("absent", "No such file")):
                self.assertRegex(said, f"{name}.so is counted only in part, or not at all: .*{why}")
        self.assertEqual(self.count(good)[0], 0)

    def test_a_missing_zstd_is_named(self):
        library = self.folder / "lib.so"
        library.write_bytes(self.compressed(b"packed" * 4, 1))
        status, _, said = self.count(library, environment={"PATH": str(self.folder)})
        self.assertEqual(status, 1)
        self.assertIn("zstd is missing", said)

    def test_files_that_nobody_counts_are_refused(self):
        status, _, said = self.run_libs("lib.so")
        self.assertEqual(status, 1)
        self.assertIn("only --count takes files\n  remedy: tools/libs --count lib.so", said)


if __name__ == "__main__":
    unittest.main(verbosity=2)
