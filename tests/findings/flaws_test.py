"""tools/findings names what is wrong in a folder: each case differs from a right folder in one thing.

usage: flaws_test.py ROOT
"""
import importlib.machinery
import importlib.util
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(sys.argv.pop(1))
LOADER = importlib.machinery.SourceFileLoader("findings", str(ROOT / "tools" / "findings"))
findings = importlib.util.module_from_spec(importlib.util.spec_from_loader("findings", LOADER))
LOADER.exec_module(findings)

RIGHT = """title = "A launch does nothing"
group = "order"
order = 1
releases = ["7.2", "6.4"]
documented = "It does something."
happens = "Nothing."
evidence = "Host code."
advice = "Launch twice."
[program]
strategy = "patch"
effects = ["bytes"]
triggers = ["op=launch node=memset height>1"]
[[way]]
order = 1
when = "op=launch node=memset height>1"
take = "node-per-row"
"""
HEAD = "// A launch does nothing.\n// The story: finding.toml. It needs a device.\n"


class AFinding(unittest.TestCase):
    def read(self, text, files=("finding.program", "finding.hip"), head=HEAD):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "finding.toml").write_text(text)
            for name in files:
                Path(folder, name).write_text(head)
            return findings.Finding(Path(folder), findings.Vocabulary())

    def flaw(self, text, *files):
        with self.assertRaises((findings.Flaw, KeyError)) as caught:
            self.read(text, *files)
        return str(caught.exception)

    def test_a_right_folder_is_read(self):
        finding = self.read(RIGHT)
        self.assertEqual(finding.gone_around(), "kAlways")
        self.assertEqual(finding.ways[0].states, ["height>1"])

    def test_a_word_that_is_none_is_named(self):
        for old, new, named in (("node=memset height>1\"]", "node=memset hight>1\"]", "hight>1"),
                                ("op=launch node=memset height>1\"]", "op=lunch\"]", "op=lunch"),
                                ("[\"bytes\"]", "[\"bites\"]", "bites"),
                                ("\"7.2\", \"6.4\"", "\"7.3\"", "7.2, 6.4"),
                                ("\"patch\"", "\"petch\"", "petch"),
                                ("\"order\"", "\"odour\"", "odour"),
                                ("node-per-row", "node-per-roe", "node-per-roe"),
                                ("height>1\"\ntake", "width>1\"\ntake", "width>1"),
                                ("advice", "advise", "advise")):
            self.assertIn(old, RIGHT)
            self.assertIn(named, self.flaw(RIGHT.replace(old, new)))

    def test_a_file_that_is_missing_is_named(self):
        self.assertIn("finding.program", self.flaw(RIGHT, ("finding.hip",)))
        self.assertIn("finding.hip", self.flaw(RIGHT, ("finding.program",)))
        no_program = RIGHT[:RIGHT.index("[program]")].replace("\"7.2\", ", "")
        self.assertIn("finding.hip is missing", self.flaw(no_program, ()))

    def test_a_source_opens_with_the_title_and_names_the_story(self):
        for head in (HEAD.replace("nothing", "little"), HEAD.replace("The story: ", "See ")):
            with self.assertRaisesRegex(findings.Flaw, "^finding.hip opens with the title"):
                self.read(RIGHT, head=head)

    def test_a_call_of_a_command_buffer_has_a_way_or_a_reason_on_each_release(self):
        without = RIGHT[:RIGHT.index("[[way]]")]
        self.assertIn("no_way", self.flaw(without))
        self.assertEqual(self.read("no_way = \"None helps.\"\n" + without).gone_around(), "kNever")
        self.assertIn("for which there is no [[way]]", self.flaw(RIGHT + "releases = [\"7.2\"]\n"))


if __name__ == "__main__":
    unittest.main()
