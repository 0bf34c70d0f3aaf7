#!/usr/bin/env python3
"""The house stays readable: no long line of code, no long source, no long class, and bounds on long lines of
pages, on comments that hide their subject, and on the length of the docs.

Each bound is a number that held when it was written, and is lowered when the tree gets better. It is never raised.
Does not check: whether a sentence is plain English; a person has to read it.

usage: style_test.py ROOT [TEST]
"""
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()

COLUMNS = 120
MAX_LONG_PAGE_LINES = 1    # a heading of docs/semantics.md
MAX_SOURCE_LINES = 500
MAX_CLASS_LINES = 300
MAX_HIDDEN_SUBJECTS = 15
MAX_README_LINES = 125     # three screens
MAX_DOCS_WORDS = 16500     # in pages that people write
GENERATED_PAGES = ("commands", "findings", "findings-nvidia", "masking", "safe-operations", "semantics")  # of lists
MAX_CHANGELOG_WORDS = 1300

SOURCES = (".cpp", ".h", ".hh", ".c", ".inc", ".hip", ".cu", ".cuh", ".py", ".cmake", ".txt", ".sh", ".yml")
SCRIPTS = ("dev", "tools/", "bench/", ".ci/")  # files without a suffix there are scripts
DATA = ("tools/mutate-equivalent.txt",)        # a mutation is named by a whole line of a source
CPP = (".cpp", ".h", ".hh", ".cuh", ".hip", ".cu")
# clang-format puts the brace that ends a body below the first letter of its head.
CLASS = re.compile(r"^( *)(?:class|struct|union) ([^;{}]*)\{\n(.*?)^\1\}", re.MULTILINE | re.DOTALL)
HIDDEN = re.compile(r"^\s*(?://|#|\*|/\*)\s+(?:What(?! happens:)|Of|Those|Who)\b")


def tracked():
    """The files that git tracks and that are there."""
    listed = subprocess.run(["git", "-c", f"safe.directory={ROOT}", "-C", ROOT, "ls-files", "-z"], capture_output=True,
                            text=True, check=True).stdout.split("\0")
    return [name for name in listed if name and name not in DATA and (ROOT / name).is_file()]


def is_source(name):
    return name.endswith(SOURCES) or ("." not in pathlib.Path(name).name and name.startswith(SCRIPTS))


def lines(name):
    return (ROOT / name).read_text(encoding="utf-8").splitlines()


def words(name):
    """Words of a page: the bars of a table are none."""
    return sum(1 for word in (ROOT / name).read_text(encoding="utf-8").split() if re.search(r"\w", word))


FILES = tracked()


class Style(unittest.TestCase):
    def held(self, found, most):
        shown = "\n".join(found[:20])
        self.assertLessEqual(len(found), most, f"{len(found)} of at most {most}; the first:\n{shown}")

    def test_there_are_sources_and_pages(self):
        self.assertGreater(sum(map(is_source, FILES)), 500)
        self.assertIn("docs/README.md", FILES)

    def test_no_line_of_code_is_longer_than_120_columns(self):
        found = [f"{name}:{number}: {len(line)} columns" for name in FILES if is_source(name)
                 for number, line in enumerate(lines(name), 1) if len(line) > COLUMNS]
        shown = "\n".join(found)
        self.assertEqual(len(found), 0, f"lines of code that are longer than {COLUMNS} columns:\n{shown}")

    def test_lines_of_pages_and_findings_end_at_120_columns(self):
        found = [f"{name}:{number}: {len(line)} columns" for name in FILES if name.endswith((".md", ".md.in", ".toml"))
                 for number, line in enumerate(lines(name), 1) if len(line) > COLUMNS]
        self.held(found, MAX_LONG_PAGE_LINES)

    def test_scripts_of_python_use_only_names_that_they_define(self):
        scripts = [name for name in FILES if name.endswith(".py") or
                   ("." not in pathlib.Path(name).name and lines(name)[:1] == ["#!/usr/bin/env python3"])]
        self.assertIn("tools/masking", scripts)
        done = subprocess.run(["pyflakes3", *scripts], cwd=ROOT, capture_output=True, text=True,
                              check=False)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def test_a_source_is_short_enough_to_read(self):
        found = [f"{name}: {len(lines(name))} lines" for name in FILES if is_source(name)
                 if len(lines(name)) > MAX_SOURCE_LINES]
        self.held(found, 0)

    def test_a_class_is_short_enough_to_read(self):
        bodies = [(name, found[2].partition(" ")[0], found[3].count("\n")) for name in FILES if name.endswith(CPP)
                  for found in CLASS.finditer((ROOT / name).read_text(encoding="utf-8"))]
        self.assertGreater(len(bodies), 800, "the expression does not find classes any more")
        self.held([f"{name}: {what} has {count} lines" for name, what, count in bodies if count > MAX_CLASS_LINES], 0)

    def test_comments_begin_with_their_subject(self):
        found = [f"{name}:{number}: {line.strip()}" for name in FILES if is_source(name)
                 for number, line in enumerate(lines(name), 1) if HIDDEN.match(line)]
        self.held(found, MAX_HIDDEN_SUBJECTS)

    def test_the_readme_fits_on_three_screens(self):
        self.assertLessEqual(len(lines("README.md")), MAX_README_LINES)

    def test_the_docs_are_short(self):
        pages = {name: words(name) for name in FILES if re.fullmatch(r"docs/[^/]+\.md", name) and
                 pathlib.Path(name).stem not in GENERATED_PAGES}
        self.assertLessEqual(sum(pages.values()), MAX_DOCS_WORDS, pages)
        self.assertLessEqual(words("CHANGELOG.md"), MAX_CHANGELOG_WORDS)

    def test_the_index_links_every_page(self):
        index = (ROOT / "docs/README.md").read_text(encoding="utf-8")
        for name in FILES:
            if re.fullmatch(r"docs/[^/]+\.md", name) and name != "docs/README.md":
                self.assertIn(f"({pathlib.Path(name).name})", index, name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
