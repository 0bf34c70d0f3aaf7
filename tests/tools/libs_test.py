"""tools/libs on programs of the tests' own: what a page says of a program that passes, fails, hangs or dies.

Not verified here: that the libraries' own programs are named and filtered as tools/libs expects (./dev libs shows it).
"""
import json
import re
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path

ROOT = Path(sys.argv.pop(1)).resolve()


def report(**results):
    """What a program of GoogleTest writes, for tests by name: None passed, a text failed."""
    cases = [{"name": name, "classname": "Graphs", "result": "COMPLETED",
              **({"failures": [{"failure": text}]} if text else {})} for name, text in results.items()]
    return json.dumps({"testsuites": [{"name": "Graphs", "testsuite": cases}] if cases else []})


class Libs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hgcheck-libs-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.capsule = self.folder / "capsule"
        self.build = self.folder / "build"
        self.write(self.build / "lib/agent/libhsa-runtime64.so.1", "")
        self.write(self.capsule / "VERSION", "librccl1 7.2.4-1\n")
        # Stands for the capsule's loader: the program comes after --agent DIR.
        self.write(self.capsule / "bin/run", '#!/bin/sh\n[ "$1" = --agent ] || exit 99\nshift 2\nexec "$@"\n')
        self.programs = self.capsule / "usr/libexec/rocm/libhipcub-tests"

    def write(self, file, text):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)

    def program(self, name, written, script=""):
        """A program that writes this list of its tests, if any, and then does as the script says."""
        suites = "Graphs/0.  # TypeParam = P<int,true>\n  One\nPlain/0.  # TypeParam = P<true,false>\n  One"
        suites = f"case $* in *--gtest_list_tests*) echo '{suites}'; exit ;; esac\n"
        suites += "case $* in *'--gtest_filter=Graphs/0.* '*) ;; *) exit 97 ;; esac\n"
        lists = "for a; do case $a in --gtest_output=json:*) cat >\"${a#*json:}\" <<'E'\n"
        lists += f"{written}\nE\n;; esac; done\n"
        self.write(self.programs / name, f"#!/bin/sh\n{suites}{lists if written else ''}{script}\n")

    def run_libs(self, *arguments):
        command = [ROOT / "tools/libs", "--capsule", self.capsule, "--build", self.build, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        page = re.sub(r"\| \d+ \|([^|]*)\|\n", r"| ... |\1|\n", done.stdout)  # seconds
        return done.returncode, page, done.stderr

    def test_programs_that_pass_are_rows_and_success(self):
        self.program("test_hipcub_device_scan", report(One=None, Two=None))
        self.program("test_hipcub_device_nothing_to_run", report())
        self.write(self.programs / "test_hipcub_device_without_graphs",
                   "#!/bin/sh\necho 'Plain/0.  # TypeParam = P<int,false>'\n")
        status, page, _ = self.run_libs("--suite", "hipcub")
        self.assertEqual(status, 0)
        self.assertIn("| test_hipcub_device_scan | 2 | 2 | 0 | 0 | ... |  |", page)
        self.assertNotRegex(page, "nothing_to_run|without_graphs")

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
        self.assertEqual(self.run_libs("--suite", "hipcub")[0], 1)

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

    def test_code_objects_are_found_compressed_and_not(self):
        target = b"hipv4-amdgcn-amd-amdhsa--gfx942"
        header = 24 + 8 + 24 + len(target)
        bundle = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<QQQQ", 1, header, 4, len(target)) + target + b"code"
        packed = zlib.compress(bundle)
        compressed = b"CCOB" + struct.pack("<HHIIQ", 2, 0, 24 + len(packed), len(bundle), 0) + packed
        library = self.folder / "lib.so"
        library.write_bytes(b"CCOB and __CLANG_OFFLOAD_BUNDLE__ in a text" + bundle + b"....." + compressed + b"." * 64)
        self.write(self.build / "bin/hgcheck-instructions", '#!/bin/sh\ncat "$1"/*\n')
        status, counted, said = self.run_libs("--count", library)
        self.assertEqual((status, counted), (0, "codecode"), said)


if __name__ == "__main__":
    unittest.main(verbosity=2)
