#!/usr/bin/env python3
"""A command that lacks a part does not build: a tree with one more command, and each of its parts left out in turn.

usage: forgotten_test.py ROOT COMPILER [COMPILER OPTIONS]

The tree is the project's own with another header of one family in front of it, which lists the command `Forgotten`.
Sources that read the family are compiled for their syntax. Not checked here: that the parts do what they should.
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
COMPILE = [sys.argv.pop(1)] + [sys.argv.pop(1) for _ in range(len(sys.argv) - 1)]
FAMILY = "verify/commands/user_objects"

FIELDS = """
struct Forgotten {
  Id object = 0;
  SPEC
  bool operator==(const Forgotten&) const = default;
};
"""
SPEC = """static constexpr auto spec() {
    return describe_command("forgotten", "Nothing.", drawn(Topic::kObjects, 1), kDescribedByHand,
                            NameField{&Forgotten::object, 'u', kNotCovered});
  }"""


def compiled(source, spec, output=None, function=""):
    """The compiler's status and messages for `source` in a tree with Forgotten and its `spec`.

    The object goes to `output`. `function` is declared behind the command.
    """
    header = f"{FAMILY}/user_objects.h"
    text = (ROOT / header).read_text()
    place = text.index("using UserObjectsCommands")
    text = text[:place] + FIELDS.replace("SPEC", spec or "") + function + text[place:]
    text = text.replace("CommandList<", "CommandList<Forgotten, ", 1)
    with tempfile.TemporaryDirectory() as tree:
        changed = pathlib.Path(tree) / header
        changed.parent.mkdir(parents=True)
        changed.write_text(text)
        run = subprocess.run(COMPILE + ["-std=c++20", "-O0"] + (["-c", "-o", output] if output else ["-fsyntax-only"]) +
                             [f"-I{tree}", f"-I{ROOT}", str(ROOT / source)],
                             capture_output=True, text=True)
    return run.returncode, run.stderr


class Forgotten(unittest.TestCase):
    def expect_error(self, source, spec, pattern):
        status, errors = compiled(source, spec)
        self.assertNotEqual(status, 0, f"{source} compiles without a part of the command")
        self.assertRegex(errors, pattern)

    def test_a_command_without_fields_is_an_error(self):
        self.expect_error("verify/program/parse.cpp", None, "no member named 'spec' in 'verify::Forgotten'|"
                                                             "'spec' is not a member of 'verify::Forgotten'")

    def test_the_same_command_with_fields_compiles(self):
        status, errors = compiled("verify/program/parse.cpp", SPEC)
        self.assertEqual(status, 0, errors)

    def test_a_command_without_rules_does_not_link(self):
        """State asks for rules that the family's source does not define."""
        wanted = b"RulesINS_9ForgottenEE5check"
        with tempfile.TemporaryDirectory() as objects:
            for source, has in (("verify/program/state.cpp", True), (f"{FAMILY}/rules.cpp", False)):
                output = f"{objects}/object.o"
                status, errors = compiled(source, SPEC, output)
                self.assertEqual(status, 0, errors)
                self.assertEqual(wanted in pathlib.Path(output).read_bytes(), has, source)

    def test_a_command_that_does_not_run_is_an_error(self):
        self.expect_error(f"{FAMILY}/run.cpp", SPEC, "deleted function[^\n]*run_command[^\n]*Forgotten|"
                                                     "Forgotten[^\n]*deleted")

    def test_a_command_that_is_not_exported_is_an_error(self):
        self.expect_error(f"{FAMILY}/export.cpp", SPEC, "deleted function[^\n]*export_command[^\n]*Forgotten|"
                                                        "Forgotten[^\n]*deleted")

    def test_a_command_that_its_family_describes_but_declares_no_function_for_is_an_error(self):
        self.expect_error("verify/quirks/describe.cpp", SPEC, "no matching function for call to .describe_events")

    def test_a_command_that_its_family_describes_does_not_link_without_the_function(self):
        function = "bool describe_events(EventEmitter& out, const Forgotten& c);\n"
        with tempfile.TemporaryDirectory() as objects:
            output = f"{objects}/object.o"
            status, errors = compiled("verify/quirks/describe.cpp", SPEC, output, function)
            self.assertEqual(status, 0, errors)
            self.assertIn(b"describe_eventsERNS_12EventEmitterERKNS_9Forgotten", pathlib.Path(output).read_bytes())

    def test_a_command_without_deviations_or_with_fields_that_describe_it_needs_no_function(self):
        for known in ("kNoDeviation", "kDescribedByFields"):
            with self.subTest(known=known):
                spec = SPEC.replace("kDescribedByHand", known).replace('"forgotten"', '"retain"')
                status, errors = compiled("verify/quirks/describe.cpp", spec)
                self.assertEqual(status, 0, errors)

    def test_a_command_with_a_word_that_no_trigger_can_name_is_not_described_by_its_fields(self):
        self.expect_error("verify/quirks/describe.cpp", SPEC.replace("kDescribedByHand", "kDescribedByFields"),
                          "not a constant expression")

    def test_a_command_that_does_not_say_how_it_is_drawn_is_an_error(self):
        self.expect_error("verify/generate/draw_fields.cpp", SPEC.replace("drawn(Topic::kObjects, 1), ", ""),
                          "no matching function for call to .describe_command")

    def test_a_command_that_does_not_say_whether_it_deviates_is_an_error(self):
        self.expect_error("verify/quirks/describe.cpp", SPEC.replace(" kDescribedByHand,", ""),
                          "no matching function for call to .describe_command")

    def test_a_command_that_is_drawn_by_its_fields_needs_no_generator(self):
        status, errors = compiled("verify/generate/draw_fields.cpp", SPEC)
        self.assertEqual(status, 0, errors)


if __name__ == "__main__":
    unittest.main(verbosity=2)
