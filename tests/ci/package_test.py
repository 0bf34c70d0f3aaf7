#!/usr/bin/env python3
"""The Debian packages that cpack makes of a build are installed, used and removed in a root of their own.

The root has this machine's /usr as links and its list of installed packages, so dpkg holds the dependencies against
it. Not checked: another release of Debian, and that the packages' names of libraries are complete (dpkg-shlibdeps makes
them).

usage: package_test.py ROOT BUILD HEADERS CPACK [TEST]
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from empty_root import host_in, run_in

ROOT, BUILD, HEADERS = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
CPACK = sys.argv[4]
NAMES = ("hgcheck", "libhgcheck-hip-dev")
DATABASE = "var/lib/dpkg"


def printed(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout


def contents(package):
    """(mode, owner, path without the leading ./) of each entry."""
    for line in printed("dpkg-deb", "-c", package).splitlines():
        mode, owner, _, _, _, path = line.split(None, 5)
        yield mode, owner, pathlib.Path(path.split(" -> ")[0].removeprefix("./"))


def listed(place):
    return {str(path.relative_to(place)) for path in place.rglob("*")
            if not str(path.relative_to(place)).startswith((DATABASE, "var/log"))}


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="hgcheck-packages-")
        cls.addClassCleanup(cls.scratch.cleanup)
        scratch = pathlib.Path(cls.scratch.name)
        made = subprocess.run([CPACK, "--config", BUILD / "CPackConfig.cmake", "-B", scratch / "made"],
                              capture_output=True, text=True, check=False)
        if made.returncode != 0:
            raise AssertionError(made.stdout + made.stderr)
        cls.packages = [next((scratch / "made").glob(f"{name}_*_amd64.deb")) for name in NAMES]
        cls.place = scratch / "root"
        packaged = {path for package in cls.packages for mode, _, path in contents(package) if mode[0] == "d"}
        seen = {"/made": scratch / "made", "/user": ROOT / "tests/ci/user", "/headers/hip": HEADERS / "hip",
                "/etc/manpath.config": "/etc/manpath.config", "/etc/groff": "/etc/groff"}
        cls.root = (*host_in(cls.place, packaged), *(word for name, path in seen.items()
                                                     for word in ("--ro-bind", path, name)))
        (cls.place / DATABASE / "info").mkdir(parents=True)
        (cls.place / DATABASE / "updates").mkdir()
        shutil.copy("/var/lib/dpkg/status", cls.place / DATABASE / "status")
        for path in pathlib.Path("/var/lib/dpkg/info").glob("*.list"):
            shutil.copy(path, cls.place / DATABASE / "info")
        cls.must("true")  # makes the mount points
        cls.before = listed(cls.place)
        cls.must("dpkg", "-i", *(f"/made/{package.name}" for package in cls.packages))

    @classmethod
    def must(cls, *command):
        done = run_in(cls.root, *command)
        if done.returncode != 0:
            raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def test_files_are_in_usr_are_roots_and_nobody_else_writes_them(self):
        for package in self.packages:
            for mode, owner, path in contents(package):
                with self.subTest(path=path):
                    self.assertEqual(path.parts[0], "usr")
                    self.assertEqual(owner, "root/root")
                    if mode[0] != "l":
                        self.assertRegex(mode, r"^(drwxr-xr-x|-rwxr-xr-x|-rw-r--r--)$")
                    if ".so" in path.name:
                        self.assertRegex(mode, "^(l|-rw-r--r--)")

    def test_each_has_a_copyright_a_changelog_and_a_description(self):
        for name, package in zip(NAMES, self.packages):
            paths = {str(path) for _, _, path in contents(package)}
            self.assertIn(f"usr/share/doc/{name}/copyright", paths)
            self.must("dpkg-parsechangelog", "-l", f"/host/../usr/share/doc/{name}/changelog.gz")
            self.assertRegex(printed("dpkg-deb", "-f", package, "Description"), r"^\S[^\n]{10,80}\n .+\n .+")

    def test_libraries_of_other_packages_are_dependencies(self):
        depends = printed("dpkg-deb", "-f", self.packages[0], "Depends")
        for library in ("libc6", "libstdc++6", "libelf1", "libfmt9", "libgvc6", "libsqlite3-0"):
            self.assertRegex(depends, rf"(^|, ){re.escape(library)}\b")
        self.assertIn("libc6-dev", printed("dpkg-deb", "-f", self.packages[1], "Depends"))

    def test_hgcheck_runs_a_campaign(self):
        self.assertRegex(self.must("hgcheck", "--version").stdout, r"^hgcheck \d+\.\d+\.\d+\n$")
        done = self.must("hgcheck", "campaign", "--programs", "100", "--jobs", "1", "--quiet")
        self.assertIn("no divergence", done.stdout)
        self.assertNotIn(str(ROOT), self.must("hgcheck", "subjects").stdout)
        self.must("hgcheck-ci", "-h")

    def test_a_finding_names_the_command_that_replays_it(self):
        # Status 1 from both: the campaign found the fault, and its printed command finds it again.
        script = ("cd /tmp; hgcheck campaign --programs 500 --jobs 1 --fault F01 --report r --quiet; [ $? = 1 ] && "
                  "line=$(sed -n 's/^# replay: //p' $(ls r/*.program | head -1)) && echo \"$line\" && "
                  "sh -c \"$line\" >&2; [ $? = 1 ]")
        self.assertRegex(self.must("bash", "-c", script).stdout, r"(?m)^hgcheck replay r/\S+\.program .*F01")
        # Where a shell would find another hgcheck first, the finding names the whole path.
        other = "mkdir /tmp/first; cp /bin/true /tmp/first/hgcheck; export PATH=/tmp/first:$PATH; "
        script = other + ("cd /tmp; /usr/bin/hgcheck campaign --programs 500 --jobs 1 --fault F01 --report r --quiet; "
                          "cat r/*.program")
        self.assertRegex(self.must("bash", "-c", script).stdout, r"(?m)^# replay: /usr/lib/\S*hgcheck replay r/")

    def test_a_user_of_the_cmake_package_builds_and_runs(self):
        # In one command, because each has a /tmp of its own.
        done = self.must("bash", "-c", "cmake -S /user -B /tmp/user -G Ninja -DHGCHECK_HIP_INCLUDE=/headers "
                         "-DCMAKE_CXX_COMPILER=/usr/bin/g++ >&2 && cmake --build /tmp/user >&2 && /tmp/user/user")
        self.assertIn("/no/such/runtime.so", done.stdout)

    def test_the_manual_page_has_no_warnings_and_every_command(self):
        page = self.must("man", "--warnings", "hgcheck")
        self.assertEqual(page.stderr, "")
        for command in re.findall(r"^  ([a-z]+) {2,}", self.must("hgcheck", "--help").stdout, flags=re.MULTILINE):
            self.assertRegex(page.stdout, rf"(?m)^ +{command}$")

    def test_bash_completes_commands_and_options(self):
        script = ('. /usr/share/bash-completion/completions/hgcheck; COMP_WORDS=(hgcheck "$@"); COMP_CWORD=$#; '
                  '_hgcheck; echo "${COMPREPLY[@]}"')
        self.assertEqual(self.must("bash", "-c", script, "x", "camp").stdout.split(), ["campaign"])
        self.assertEqual(self.must("bash", "-c", script, "x", "campaign", "--prog").stdout.split(),
                         ["--programs", "--program-timeout"])
        self.assertIn("--bound", self.must("bash", "-c", script, "x", "race", "--").stdout.split())

    def test_zsh_completes_commands_and_options(self):
        script = ('autoload -Uz compinit; compinit -D -u; print $_comps[hgcheck]; autoload +X _hgcheck; '
                  '_describe() { print -l $commands }; _arguments() { print -l -- "$@" }; '
                  'words=(hgcheck); CURRENT=2; _hgcheck; words=(hgcheck campaign); CURRENT=3; _hgcheck')
        done = self.must("zsh", "-fc", script)
        self.assertRegex(done.stdout, r"(?s)^_hgcheck\n.*campaign:.*--programs\[")

    def test_zz_nothing_is_left_when_they_are_removed(self):
        cache = self.place / "var/cache/hgcheck/7.2"
        cache.mkdir(parents=True)
        cache.parent.joinpath("VERSION").write_text("fetched\n", "utf-8")
        self.must("dpkg", "-r", *NAMES)
        self.assertEqual(listed(self.place) - {"var/cache"}, self.before)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]], verbosity=2)
