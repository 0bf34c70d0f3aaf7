#!/usr/bin/env python3
"""One more command, node type, function, property or finding costs few places: tools/places holds the tree to bounds.

usage: places_test.py ROOT

The bounds are asked of the tree itself. That the count can fail is shown on copies of its sources with one file more.
Not checked here: that the files which are named are all that a new thing needs (forgotten_test.py builds one).
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
GIT = ["git", "-c", "safe.directory=*", "-C"]


def places(tree, *arguments):
    run = subprocess.run([sys.executable, "-B", str(tree / "tools/places"), *arguments], capture_output=True, text=True)
    return run.returncode, run.stdout, run.stderr


def things(kind):
    """The names of all things of a kind."""
    status, text, errors = places(ROOT, "--all", kind)
    assert status == 0, errors
    return [line.split()[1] for line in text.splitlines()]


class OneMoreCostsFewPlaces(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.copy = pathlib.Path(cls.folder.name)
        rooms = ["model", "hip", "verify", "fuzz", "reports"]
        listed = subprocess.run(GIT + [str(ROOT), "ls-files", "tools/places", *rooms],
                                capture_output=True, text=True, check=True).stdout.splitlines()
        for path in listed:
            if (ROOT / path).is_file():
                (cls.copy / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / path, cls.copy / path)
        subprocess.run(GIT + [str(cls.copy), "init", "--quiet"], check=True)
        subprocess.run(GIT + [str(cls.copy), "add", "--all"], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def with_one_file_more(self, path, names):
        """The answer of `tools/places --check` where one more file names these things."""
        added = self.copy / path
        added.write_text("".join(f"// {name}\n" for name in names))
        subprocess.run(GIT + [str(self.copy), "add", path], check=True)
        try:
            return places(self.copy, "--check")[:2]
        finally:
            added.unlink()
            subprocess.run(GIT + [str(self.copy), "rm", "--cached", "--quiet", path], check=True)

    def test_the_tree_keeps_its_bounds(self):
        status, text, errors = places(ROOT, "--check")
        self.assertEqual(status, 0, text + errors)

    def test_the_copy_keeps_its_bounds(self):
        status, text, errors = places(self.copy, "--check")
        self.assertEqual(status, 0, text + errors)

    def test_one_more_file_that_names_all_things_of_a_kind_is_one_too_many(self):
        for kind in ("command", "node", "function", "property"):
            with self.subTest(kind=kind):
                status, text = self.with_one_file_more("fuzz/one_more.cpp", things(kind))
                self.assertEqual(status, 1, text)
                self.assertRegex(text, rf"(?m)^{kind} .*OVER ITS BOUND$")

    def test_one_more_file_that_names_a_family_in_its_folder_is_one_too_many(self):
        family = ["DeclareUserObject", "RetainUserObject", "ReleaseUserObject"]
        self.assertTrue(set(family) <= set(things("command")))
        status, text = self.with_one_file_more("verify/commands/user_objects/one_more.cpp", family)
        self.assertEqual(status, 1, text)
        self.assertRegex(text, r"(?m)^command .*OVER ITS BOUND$")

    def test_two_more_files_that_name_one_finding_are_too_many(self):
        finding = things("finding")[-1]
        (self.copy / "hip/one_more.h").write_text(f"// {finding}\n")
        subprocess.run(GIT + [str(self.copy), "add", "hip/one_more.h"], check=True)
        try:
            status, text = self.with_one_file_more("fuzz/one_more.cpp", [finding])
            self.assertEqual(status, 1, text)
            self.assertRegex(text, r"(?m)^finding .*OVER ITS BOUND$")
        finally:
            subprocess.run(GIT + [str(self.copy), "rm", "--quiet", "-f", "hip/one_more.h"], check=True)

    def test_a_file_that_names_a_few_things_of_each_kind_costs_nothing(self):
        few = [name for kind in ("command", "node", "function", "property") for name in things(kind)[:3]]
        status, text = self.with_one_file_more("fuzz/one_more.cpp", few)
        self.assertEqual(status, 0, text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
