#!/usr/bin/env python3
"""`./dev` asks for no more than its word needs: which packages, which headers, which targets.

Each test runs a copy of `dev` with stand-ins for cmake, dpkg-query, apt-get and tools/fetch-capsule, which log how they
were called. Not checked: that the packages suffice; a fresh machine shows that.

usage: dev_test.py ROOT [TEST]
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()


TOOLS = ("bash", "cat", "dirname", "find", "grep", "head", "sed", "sort", "tee")  # that `dev` uses beside the stand-ins


def packages(name):
    lines = (ROOT / "tools" / name).read_text(encoding="utf-8").splitlines()
    return [line.split()[0] for line in lines if line.strip() and not line.startswith("#")]


class Dev(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="hgcheck-dev-")
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        self.log = self.root / "log"
        for name in ("tools", "bin", "build/bin", "hip/releases"):
            (self.root / name).mkdir(parents=True)
        for name in ("dev", "tools/packages.txt", "tools/packages-run.txt", "hip/releases/releases.inc"):
            shutil.copy(ROOT / name, self.root / name)
        for name in ("bin/cmake", "bin/apt-get", "bin/hipconfig", "tools/fetch-capsule", "build/bin/hgcheck"):
            self.stand_in(name, f'echo "{pathlib.Path(name).name} $*" >>"{self.log}"')
        for name in TOOLS:
            os.symlink(shutil.which(name), self.root / "bin" / name)
        self.installed([])

    def stand_in(self, name, line):
        path = self.root / name
        path.write_text(f"#!/bin/bash\n{line}\n", encoding="utf-8")
        path.chmod(0o755)

    def installed(self, names):
        lines = "\n".join(f"installed {name}" for name in names)
        self.stand_in("bin/dpkg-query", f"cat <<'END'\n{lines}\nEND")

    def dev(self, *words):
        self.log.write_text("", encoding="utf-8")
        done = subprocess.run(["/bin/bash", self.root / "dev", *words], capture_output=True, text=True, check=False,
                              env={**os.environ, "PATH": f"{self.root}/bin"})
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.log.read_text(encoding="utf-8").splitlines()

    def calls(self, lines, name):
        return [line for line in lines if line.startswith(name + " ")]

    def test_no_package_is_listed_twice(self):
        both = packages("packages-run.txt") + packages("packages.txt")
        self.assertEqual(len(both), len(set(both)))

    def test_a_campaign_on_the_model_builds_the_command_alone(self):
        self.installed(packages("packages-run.txt"))
        lines = self.dev("run")
        self.assertEqual(self.calls(lines, "apt-get"), [])
        for line in self.calls(lines, "fetch-capsule"):
            self.assertTrue(line.endswith(" 7.2-headers"), line)
        configure, build = self.calls(lines, "cmake")
        self.assertIn("BUILD_TESTING=OFF", configure)
        self.assertIn("HGCHECK_JOIN=ON", configure)
        self.assertTrue(build.endswith("--target hgcheck"), build)
        self.assertEqual(lines[-1], f"hgcheck campaign --seconds 30 --report {self.root}/report")

    def test_other_subjects_get_everything(self):
        self.installed(packages("packages-run.txt") + packages("packages.txt"))
        for words in (["--subject", "rocm-soft@7.2:patch"], ["--subject=model:lib=mine.so"],
                      ["--baseline", "rocm-soft@6.4:rebuild"]):
            lines = self.dev("run", *words)
            self.assertIn("fetch-capsule --if-due 7.2", lines)
            configure, build = self.calls(lines, "cmake")
            self.assertIn("BUILD_TESTING=ON", configure)
            self.assertNotIn("--target", build)
            self.assertTrue(lines[-1].endswith(" ".join(words)), lines[-1])

    def test_strategies_of_the_model_are_the_model(self):
        self.installed(packages("packages-run.txt"))
        for subject in ("model", "model:update"):
            self.assertIn("--target hgcheck", self.dev("run", "--subject", subject, "--programs", "5")[-2])

    def test_a_folder_that_has_tests_keeps_them(self):
        self.installed(packages("packages-run.txt") + packages("packages.txt"))
        (self.root / "build/CMakeCache.txt").write_text("BUILD_TESTING:BOOL=ON\n", encoding="utf-8")
        configure, build = self.calls(self.dev("run"), "cmake")
        self.assertNotIn("BUILD_TESTING", configure)
        self.assertTrue(build.endswith("--target hgcheck"), build)

    def test_sources_that_do_not_compile_together_are_compiled_one_by_one(self):
        self.installed(packages("packages-run.txt"))
        failed = self.root / "failed"
        self.stand_in("bin/cmake", f"""echo "cmake $*" >>"{self.log}"
            if [[ $* == *--build* && ! -e {failed} ]]; then : >"{failed}"; exit 1; fi""")
        for word in ("run", "build"):
            failed.unlink(missing_ok=True)
            _, first, again, second = self.calls(self.dev(word), "cmake")
            self.assertEqual(first, second)
            self.assertTrue(again.endswith("HGCHECK_JOIN=OFF"), again)
            self.installed(packages("packages-run.txt") + packages("packages.txt"))

    def test_a_build_is_of_everything_again(self):
        self.installed(packages("packages-run.txt") + packages("packages.txt"))
        configure, build = self.calls(self.dev("build"), "cmake")
        self.assertIn("BUILD_TESTING=ON", configure)
        self.assertIn("HGCHECK_BENCH=ON", configure)
        self.assertIn("HGCHECK_JOIN=ON", configure)
        self.assertNotIn("--target", build)

    @unittest.skipIf(os.geteuid() != 0, "packages are installed as root alone")
    def test_a_campaign_installs_its_own_packages_alone(self):
        installs = [line for line in self.calls(self.dev("run"), "apt-get") if " install " in line]
        self.assertEqual(len(installs), 1)
        self.assertEqual(installs[0].split("--no-install-recommends ")[1].split(), packages("packages-run.txt"))

    @unittest.skipIf(os.geteuid() != 0, "packages are installed as root alone")
    def test_libs_that_count_files_builds_one_target_and_fetches_no_libraries(self):
        self.installed(packages("packages-run.txt") + packages("packages.txt"))
        self.stand_in("tools/libs", f'echo "libs $*" >>"{self.log}"')
        lines = self.dev("libs", "--count", "lib.so")
        self.assertTrue(self.calls(lines, "cmake")[-1].endswith("--target hgcheck-instructions"), lines)
        self.assertNotIn("fetch-capsule libs", lines)
        self.assertEqual(lines[-1], "libs --count lib.so")
        self.assertIn("fetch-capsule libs", self.dev("libs", "--suite", "rccl"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
