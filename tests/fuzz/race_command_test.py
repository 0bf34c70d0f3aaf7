"""`hgcheck race` as others script against it: exit statuses, files, and replay of what it finds.

  race_command_test.py HGCHECK
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

FAULTS = {"F22": "C6", "F25": "C5", "F26": "C2", "F34": "C4", "F36": "S2", "F37": "S1", "M12": "C6"}


def hgcheck(*arguments):
    return subprocess.run([HGCHECK, *map(str, arguments)], capture_output=True, text=True, check=False)


class RaceCommand(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_every_fault_is_found_small_written_and_replayed_alike(self):
        for fault, properties in FAULTS.items():
            report = self.folder / fault
            found = hgcheck("race", "--fault", fault, "--report", report, "--json", self.folder / "result.json")
            self.assertEqual(found.returncode, 1, found.stderr)
            result = json.loads((self.folder / "result.json").read_text())
            self.assertEqual(result["fault"], fault)
            finding = result["findings"][0]
            self.assertEqual(finding["property"], properties)
            self.assertLessEqual(finding["threads"], 3)
            program = pathlib.Path(finding["program"])
            self.assertEqual(program.read_text(), finding["text"])
            page = (report / "races.html").read_text()
            self.assertIn(finding["id"], page)
            self.assertIn("starts and joins", page)
            self.assertEqual(hgcheck("check", program).returncode, 0)
            again = hgcheck("replay", program)
            self.assertEqual(again.returncode, 1, again.stderr)
            self.assertIn(f"diverges: {properties} {finding['failure']}", again.stdout)

    def test_the_list_of_faults_has_those_that_need_threads_and_says_how_to_find_them(self):
        listed = hgcheck("race", "--list").stdout
        offered = {word for line in listed.splitlines() if re.search("faults [FM]", line)
                   for word in line.split("faults ")[1].split()}
        self.assertEqual(offered, set(FAULTS))
        self.assertEqual(hgcheck("faults", "--json", self.folder / "faults.json").returncode, 0)
        rows = {row["id"]: row for row in json.loads((self.folder / "faults.json").read_text())}
        numbers = [f"F{number:02}" for number in range(1, 43)]
        self.assertEqual([number for number in numbers if number not in rows], [])
        for fault, property_name in FAULTS.items():
            self.assertEqual(rows[fault]["properties"], [property_name])
            if fault in ("F22", "F36"):  # campaigns find it, too
                continue
            self.assertEqual(hgcheck(*rows[fault]["command"].split()[1:], "--quiet").returncode, 1)
            refused = hgcheck("campaign", "--fault", fault)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(rows[fault]["command"], refused.stderr)

    def test_the_real_systems_are_clean_and_say_how_far_they_were_explored(self):
        clean = hgcheck("race", "--scenario", "trace-cache", "--json", self.folder / "result.json")
        self.assertEqual(clean.returncode, 0, clean.stdout)
        self.assertIn("every schedule of 2 preemptions", clean.stdout)
        for row in json.loads((self.folder / "result.json").read_text())["scenarios"]:
            self.assertTrue(row["complete"])
            self.assertEqual(row["share"], 1)

    def test_pct_states_its_probability_and_the_same_seed_does_the_same(self):
        runs = []
        for _ in range(2):
            run = hgcheck("race", "--fault", "F26", "--explore", "pct", "--seed", 7,
                          "--json", self.folder / "result.json")
            self.assertEqual(run.returncode, 1, run.stderr)
            result = json.loads((self.folder / "result.json").read_text())
            self.assertGreater(result["scenarios"][0]["probability"], 0)
            runs.append((result["findings"][0]["text"], result["findings"][0]["schedules"]))
        self.assertEqual(runs[0], runs[1])

    def test_a_library_that_ranks_share_is_judged_in_every_schedule_and_a_finding_says_what_ran(self):
        examples = pathlib.Path(HGCHECK).resolve().parent.parent / "lib/examples"
        right = hgcheck("race", "--library", examples / "mended_commands.so", "--bound", 1)
        self.assertEqual(right.returncode, 0, right.stdout + right.stderr)
        self.assertIn("every schedule of 1 preemptions", right.stdout)
        wrong = hgcheck("race", "--library", examples / "sharing_commands.so", "--json", self.folder / "ranks.json")
        self.assertEqual(wrong.returncode, 1, wrong.stderr)
        self.assertIn("hipGraphExecKernelNodeSetParams (preempted)", wrong.stdout)
        finding = json.loads((self.folder / "ranks.json").read_text())["findings"][0]
        self.assertEqual((finding["property"], len(finding["preempted"])), ("C6", 1))
        for library, words in [("relocating_patcher.so", "has version 1"), ("nothing.so", "cannot be loaded")]:
            refused = hgcheck("race", "--library", examples / library)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(words, refused.stderr)

    def test_what_is_wrong_is_said_with_what_there_is(self):
        for arguments, words in [
            (["--scenario", "nothing"], "there are: stream-cache"),
            (["--fault", "F99"], "'hgcheck race --list' says which there are"),
            (["--fault", "F26", "--scenario", "launcher"], "but to: stable-buffers"),
            (["--explore", "pct", "--bound", "3"], "pct takes --depth"),
            (["--schedules", "5", "--seconds", "5"], "excludes"),
            (["--report", "/dev/null/no"], "--report"),
            (["--library", "mine.so", "--fault", "F26"], "excludes"),
            (["--library", "mine.so", "--seed", "3"], "excludes"),
            (["--ranks", "3"], "--library"),
        ]:
            wrong = hgcheck("race", *arguments)
            self.assertEqual(wrong.returncode, 2, arguments)
            self.assertIn(words, wrong.stderr, arguments)


if __name__ == "__main__":
    HGCHECK = sys.argv.pop(1)
    unittest.main()
