#!/usr/bin/env python3
"""The pages hold together: links lead somewhere, words of ./dev and options of hgcheck that they name are there, and
nothing that looks like a session with the tool is out of the tests' reach.

usage: pages_test.py ROOT HGCHECK
"""
import pathlib
import re
import subprocess
import sys
import unittest

ROOT, HGCHECK = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
TEXTS = {page: page.read_text(encoding="utf-8") for page in PAGES}


def printed(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout


class Pages(unittest.TestCase):
    def test_links_lead_to_files_that_are_there(self):
        for page, text in TEXTS.items():
            for target in re.findall(r"\]\(([^)\s]+)\)", text):
                if "://" in target or target.startswith("#"):
                    continue
                path = (page.parent / target.split("#")[0]).resolve()
                self.assertTrue(path.exists(), f"{page.name}: {target}")

    def test_words_of_dev_are_words_of_dev(self):
        words = set(re.findall(r"^  (\w+) ", printed(ROOT / "dev", "-h"), flags=re.MULTILINE))
        for page, text in TEXTS.items():
            for word in re.findall(r"\./dev (\w+)", text):
                self.assertIn(word, words, page.name)

    def test_commands_and_options_of_hgcheck_are_there(self):
        known = {name: set(re.findall(r"(--?[\w-]+)", printed(HGCHECK, name, "--help")))
                 for name in re.findall(r"^  (\w+) {2,}", printed(HGCHECK, "--help"), flags=re.MULTILINE)}
        self.assertIn("export", known)
        for page, text in TEXTS.items():
            for command, rest in re.findall(r"bin/hgcheck (\w+)([^`\n|;]*)", text):
                self.assertIn(command, known, page.name)
                own = rest.split(" -- ")[0]  # behind it stands somebody else's command
                for option in re.findall(r"(?<=\s)--[\w-]+", own):
                    self.assertIn(option, known[command], f"{page.name}: hgcheck {command}")

    def test_sessions_are_console_blocks(self):
        for page, text in TEXTS.items():
            for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL):
                if language != "console":
                    self.assertNotRegex(block, r"(?m)^\$ ", f"{page.name}: a session that no test runs")


class Usage(unittest.TestCase):
    def test_no_arguments_show_five_things(self):
        text = printed(HGCHECK)
        self.assertEqual(len(re.findall(r"^  hgcheck \w+", text, flags=re.MULTILINE)), 5, text)

    def test_bash_completes_commands_and_options(self):
        script = ('source <("$0" completion bash); COMP_WORDS=(hgcheck "${@:1}"); COMP_CWORD=$#; _hgcheck; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        self.assertEqual(printed("bash", "-c", script, HGCHECK, "camp").split(), ["campaign"])
        self.assertIn("--subject", printed("bash", "-c", script, HGCHECK, "export", "--s").split())

    def test_the_manual_page_and_zsh_know_every_option(self):
        manual, zsh = printed(HGCHECK, "man").replace("\\-", "-"), printed(HGCHECK, "completion", "zsh")
        self.assertTrue(manual.startswith(".TH HGCHECK 1"))
        for command in ("campaign", "replay", "shrink", "export", "quirks", "fleet"):
            self.assertIn(f".SS {command}\n", manual)
            for option in set(re.findall(r"(?m)^ +(--[\w-]+)", printed(HGCHECK, command, "--help"))):
                self.assertIn(option, manual)
                self.assertIn(f"'{option}[", zsh)

    def test_what_is_printed_to_a_file_is_plain_text(self):
        done = subprocess.run([HGCHECK, "campaign", "--programs", "20", "--jobs", "1"], capture_output=True, check=True)
        self.assertNotIn(b"\x1b", done.stdout + done.stderr)
        self.assertEqual(done.stderr, b"")

    def test_errors_say_what_to_do(self):
        for arguments in (["nonsense"], ["campaign", "--shard", "9"], ["replay", "/no/such.program"],
                          ["campaign", "--property", "Z1", "--programs", "1"], ["export"],
                          ["campaign", "--subject", "nonsense", "--programs", "1"]):
            done = subprocess.run([HGCHECK, *arguments], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertTrue(done.stderr.startswith("hgcheck: "), done.stderr)
            self.assertRegex(done.stderr, r"remedy|lists|explains|write|are:|known|one of|there (is|are)", arguments)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
