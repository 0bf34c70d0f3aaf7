"""The capsule's ways in: bin/run, and the compiler behind bin/hipcc. No GPU is needed.

usage: capsule_test.py CAPSULES BUILD [TESTS]; CAPSULES holds the releases, BUILD the programs of tests/tools.
Not verified here: that kernels compute what they should, which takes a GPU or the software gfx942.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
CAPSULES, BUILD = Path(sys.argv.pop(1)), Path(sys.argv.pop(1))
HIP = CAPSULES / "7.2"
LIBRARIES = "usr/lib/x86_64-linux-gnu"
# With AMD's driver the runtime may well find a device.
WHAT_THE_RUNTIME_SAYS = {"hipErrorNoDevice", "hipSuccess"} if os.path.exists("/dev/kfd") else {"hipErrorNoDevice"}


class Capsule(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="hgcheck-capsule-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def output(self, *command, status=0, **options):
        """What COMMAND prints (both streams); it has to end with STATUS."""
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120,
                              **options)
        self.assertEqual(done.returncode, status, done.stdout)
        return done.stdout

    def moved(self, release=HIP):
        """The same capsule in another place, with the bulk of it linked."""
        place = self.folder / "moved" / release.name
        place.mkdir(parents=True)
        shutil.copytree(release / "bin", place / "bin", symlinks=True)
        for name in ("usr", "lib", "lib64", "include"):
            (place / name).symlink_to(release / name)
        return place

    # --- run ---

    def test_the_runtime_starts_and_says_that_there_is_no_device(self):
        said = self.output(HIP / "bin" / "run", BUILD / "programs" / "probe")
        self.assertIn(said.strip(), WHAT_THE_RUNTIME_SAYS)

    def test_each_release_runs_what_was_compiled_against_its_headers(self):
        probes = sorted(BUILD.glob("bin/release_probe-*"))
        self.assertTrue(probes)
        for probe in probes:
            release = probe.name.partition("-")[2]
            library = f"libamdhip64.so.{release.partition('.')[0]}"
            with self.subTest(release):
                self.assertEqual(self.output(CAPSULES / release / "bin" / "run", probe, library),
                                 f"{release} {release}\n")

    def test_run_passes_arguments_and_the_status_on(self):
        run = HIP / "bin" / "run"
        self.assertEqual(self.output(run, "/usr/bin/printf", "%s|", "a b", "", "*"), "a b||*|")
        self.assertEqual(self.output(run, "printf", "%s|", "a b"), "a b|")
        self.output(run, "/bin/false", status=1)

    def test_the_libraries_of_an_agent_come_first(self):
        command = [HIP / "bin" / "run", "--agent", self.folder, BUILD / "programs" / "probe"]
        self.assertIn(self.output(*command).strip(), WHAT_THE_RUNTIME_SAYS)
        library = self.folder / "libhsa-runtime64.so.1"
        library.write_text("no library")  # the loader names the file that it chose
        self.assertIn(f"{library}: file too short", self.output(*command, status=127))

    def test_run_says_what_is_missing(self):
        run = HIP / "bin" / "run"
        self.assertIn("no program 'no-such-program'", self.output(run, "no-such-program", status=127))
        self.assertIn("--agent", self.output(run, "--agent", "/no/such/folder", "/bin/true", status=2))
        self.assertIn("usage", self.output(run, status=2))
        hollow = self.folder / "hollow"
        shutil.copytree(HIP / "bin", hollow / "bin", symlinks=True)
        for tool in ("run", "clang++", "hipcc"):
            self.assertIn("./dev setup", self.output(hollow / "bin" / tool, "x", status=127))

    # --- the compiler ---

    def build(self, hipcc, *options, **environment):
        """Builds probe.hip from another folder, and returns what the compiler said about its steps."""
        said = self.output(hipcc, "--offload-arch=gfx942", "-v", *options, HERE / "probe.hip", "-o", "probe",
                           cwd=self.folder, env={**os.environ, **environment})
        self.assertIn(self.output(HIP / "bin" / "run", self.folder / "probe").strip(), WHAT_THE_RUNTIME_SAYS)
        return said

    def test_a_capsule_that_was_moved_builds_and_runs_with_its_own_parts_alone(self):
        place = self.moved()
        said = self.build(place / "bin" / "hipcc")
        started = {Path(program).parent for program in re.findall(r'^ "([^"]+)"', said, re.MULTILINE)}
        self.assertEqual(started, {place / "bin"})
        self.assertNotIn(f"{HIP}/", said)
        self.assertNotIn(" -L/usr", said)
        self.assertNotIn(" -internal-isystem /usr", said)
        self.assertIn(self.output(place / "bin" / "run", self.folder / "probe").strip(), WHAT_THE_RUNTIME_SAYS)

    def test_relocatable_device_code_is_linked(self):
        self.build(HIP / "bin" / "hipcc", "-fgpu-rdc")

    def test_the_environment_of_another_hip_changes_nothing(self):
        self.build(HIP / "bin" / "hipcc", HIP_PLATFORM="nvidia", HIP_PATH="/nowhere", ROCM_PATH="/nowhere",
                   HIP_CLANG_PATH="/nowhere", DEVICE_LIB_PATH="/nowhere", LIBRARY_PATH="/nowhere", CPATH="/nowhere",
                   HIPCC_COMPILE_FLAGS_APPEND="--no-such-option")

    def test_the_compiler_is_found_through_a_link_from_elsewhere(self):
        (self.folder / "hipcc").symlink_to(HIP / "bin" / "hipcc")
        self.build(self.folder / "hipcc")

    def test_every_tool_starts(self):
        tools = [each for each in (HIP / "bin").iterdir() if each.is_symlink()]
        self.assertGreater(len(tools), 20)
        # What tools that are none of LLVM's usual ones understand.
        others = {"lld": ["-flavor", "gnu", "--version"], "clang-offload-packager": ["--help"],
                  "llvm-offload-binary": ["--help"], "offload-arch": ["--help"]}
        for tool in tools:
            with self.subTest(tool.name):
                self.assertNotEqual(self.output(tool, *others.get(tool.name, ["--version"])), "")

    def test_a_failed_compilation_fails(self):
        (self.folder / "wrong.hip").write_text("int main() { return undeclared; }\n")
        said = self.output(HIP / "bin" / "hipcc", "--offload-arch=gfx942", self.folder / "wrong.hip", "-o",
                           self.folder / "wrong", status=1)
        self.assertIn("undeclared", said)
        self.assertFalse((self.folder / "wrong").exists())


if __name__ == "__main__":
    unittest.main()
