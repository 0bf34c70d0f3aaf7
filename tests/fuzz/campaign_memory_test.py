#!/usr/bin/env python3
"""Campaigns with --db: what is printed as found is never lost, whenever the campaign is killed; who stops goes on;
several processes share a database.

usage: campaign_memory_test.py HGCHECK PATCHER [--kills N] [unittest's options]

PATCHER is a library of fuzz/examples/ that patches by value, so that a campaign has findings from its first programs
on. The moments of the kills are drawn from a seed that is printed; what is held does not depend on them.
"""
import json
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

KILLS = 100
if "--kills" in sys.argv:
    at = sys.argv.index("--kills")
    KILLS = int(sys.argv[at + 1])
    del sys.argv[at:at + 2]
HGCHECK, PATCHER = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:3])
SUBJECT = f"model:lib={PATCHER}"
PATIENCE = 240  # seconds for one process, on the busiest machine


class Memory(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="hgcheck-db-")
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        self.db = str(self.folder / "memory.db")

    def arguments(self, *more, detail="--quiet"):
        return [HGCHECK, "campaign", "--db", self.db, "--subject", SUBJECT, detail, *map(str, more)]

    def campaign(self, *more, status=1):
        done = subprocess.run(self.arguments(*more, "--json", self.folder / "result.json"), capture_output=True,
                              text=True, timeout=PATIENCE, check=False)
        self.assertIn(done.returncode, [status] if isinstance(status, int) else status, done.stdout + done.stderr)
        if status == 2:
            return done.stderr
        return json.loads((self.folder / "result.json").read_text(encoding="utf-8"))

    def history(self):
        done = subprocess.run([HGCHECK, "history", "--db", self.db, "--json", "-"], capture_output=True, text=True,
                              timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def is_whole(self):
        connection = sqlite3.connect(self.db, timeout=PATIENCE)
        self.assertEqual(connection.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
        causes = {row[0] for row in connection.execute("SELECT cause FROM findings")} if "findings" in tables else set()
        connection.close()
        return causes

    def test_what_was_printed_survives_a_kill_at_any_moment(self):
        seed = random.SystemRandom().randrange(1 << 32)
        print(f"moments from seed {seed}")
        moments = random.Random(seed)
        printed = set()
        for number in range(KILLS):
            # A few campaigns, each gone on with several times.
            with open(self.folder / "output", "w+", encoding="utf-8") as output:
                running = subprocess.Popen(self.arguments("--seed", 1 + number % 4, "--programs", 100000, "--jobs", 2,
                                                          detail="--verbose"),  # prints every cause
                                           stdout=output, stderr=subprocess.STDOUT)
                time.sleep(moments.choice([0.02, 0.1, 0.5, 1.5]) * moments.random())
                running.send_signal(signal.SIGKILL)
                running.wait(timeout=PATIENCE)
                output.seek(0)
                lines = output.read().splitlines()
            # A line that the kill cut off was not printed.
            for line in lines:
                if line.startswith("found "):
                    printed.add(line.split(": ", 1)[1])
            if pathlib.Path(self.db).exists() and number % 10 == 9:
                self.assertLessEqual(printed, self.is_whole())
        self.assertLessEqual(printed, self.is_whole())
        # However early all of them were killed: one that is left alone says what the others have found.
        result = self.campaign("--seed", 1, "--programs", 150, "--jobs", 2)
        self.assertGreater(len(result["findings"]), 0)
        self.assertLessEqual(printed, self.is_whole())

    def test_a_campaign_that_stops_goes_on_and_comes_to_the_same(self):
        whole = subprocess.run([HGCHECK, "campaign", "--subject", SUBJECT, "--programs", "200", "--jobs", "1",
                                "--quiet", "--json", self.folder / "whole.json"], capture_output=True,
                               timeout=PATIENCE, check=False)
        self.assertEqual(whole.returncode, 1)
        expected = json.loads((self.folder / "whole.json").read_text(encoding="utf-8"))
        for programs in (50, 51, 200, 200):
            result = self.campaign("--programs", programs, "--jobs", 1)
            self.assertEqual(result["programs"], programs)
        for key in ("verdicts", "coverage", "states", "commands"):
            self.assertEqual(result[key], expected[key], key)
        causes = {finding["cause"]: finding["seen"] for finding in expected["findings"]}
        self.assertLessEqual(causes.keys(), {finding["cause"] for finding in result["findings"]} | self.is_whole())
        self.assertEqual([session["ended"] for session in self.history()["sessions"]], ["done"] * 4)

    def test_an_interrupted_campaign_goes_on_where_it_was(self):
        with open(self.folder / "output", "w+", encoding="utf-8") as output:
            running = subprocess.Popen(self.arguments("--seconds", 3000, "--jobs", 2), stdout=output)
            started = time.monotonic()
            while "found" not in (self.folder / "output").read_text() and time.monotonic() < started + PATIENCE:
                time.sleep(0.05)
            running.send_signal(signal.SIGINT)
            self.assertEqual(running.wait(timeout=PATIENCE), 130)
        before = self.history()["sessions"][0]
        self.assertEqual(before["ended"], "interrupted")
        result = self.campaign("--programs", before["settled"] + 50, "--jobs", 2)
        self.assertGreaterEqual(result["programs"], before["settled"] + 50)
        self.assertFalse(result["interrupted"])

    def test_shards_share_a_database_and_two_processes_do_not_share_a_shard(self):
        running = [subprocess.Popen(self.arguments("--programs", 120, "--jobs", 1, "--shard", f"{shard}/3"),
                                    stdout=subprocess.DEVNULL) for shard in (1, 2, 3)]
        for process in running:
            self.assertEqual(process.wait(timeout=PATIENCE), 1)
        history = self.history()
        self.assertEqual(sum(session["programs"] for session in history["sessions"]), 120)
        self.is_whole()
        busy = subprocess.Popen(self.arguments("--seconds", 3000, "--jobs", 1, "--seed", 9), stdout=subprocess.PIPE,
                                text=True)
        try:
            self.assertTrue(busy.stdout.readline().startswith("found "))
            self.assertIn("another process is at this campaign", self.campaign("--programs", 10, "--seed", 9, status=2))
        finally:
            busy.kill()
            busy.communicate()

    def test_an_accepted_cause_is_remembered_as_such_and_may_become_news_again(self):
        first = self.campaign("--programs", 80, "--jobs", 1)
        causes = self.is_whole()
        accepted = self.folder / "accepted"
        accepted.write_text("".join(cause + "\n" for cause in causes), encoding="utf-8")
        # 3: more programs than may be meant nothing with a patcher like this one.
        result = self.campaign("--programs", 80, "--jobs", 1, "--accept", accepted, status=(0, 3))
        self.assertEqual(result["findings"], [])
        result = self.campaign("--programs", 80, "--jobs", 1)
        self.assertEqual({finding["property"] for finding in result["findings"]},
                         {finding["property"] for finding in first["findings"]})

    def test_a_finding_is_known_by_what_it_has_in_common_with_those_of_other_campaigns(self):
        for seed in (1, 2, 3):
            self.campaign("--programs", 120, "--jobs", 2, "--seed", seed)
        findings = self.history()["findings"]
        self.assertGreater(max(finding["campaigns"] for finding in findings), 1)
        keys = [finding["bug"] for finding in findings if finding["shrunk"]]
        self.assertEqual(len(keys), len(set(keys)), keys)
        for finding in findings:
            if finding["shrunk"]:
                parts = finding["bug"].split("; ")
                self.assertEqual(len(parts), 4, finding["bug"])
                self.assertEqual(parts[0], finding["property"])
                self.assertIn("hgcheck-program 1", finding["program_text"])

    def test_the_corpus_says_what_each_entry_covers_and_the_next_campaign_begins_from_it(self):
        self.campaign("--programs", 120, "--jobs", 1)
        corpus = self.history()["corpus"]
        self.assertGreater(len(corpus), 10)
        covered = set()
        for entry in corpus:
            self.assertLess(covered, covered | set(entry["covers"]), "an entry that covers nothing new")
            covered |= set(entry["covers"])
        self.assertEqual(self.history()["covered"], len(covered))
        fresh = subprocess.run([HGCHECK, "campaign", "--subject", SUBJECT, "--programs", "120", "--jobs", "1",
                                "--seed", "2", "--quiet", "--json", self.folder / "fresh.json"], capture_output=True,
                               timeout=PATIENCE, check=False)
        self.assertEqual(fresh.returncode, 1)
        without = json.loads((self.folder / "fresh.json").read_text(encoding="utf-8"))
        self.assertNotEqual(self.campaign("--programs", 120, "--jobs", 1, "--seed", 2)["commands"], without["commands"])

    def test_what_is_no_database_of_ours_is_refused_with_a_remedy(self):
        other = self.folder / "other.db"
        other.write_text("not a database, though long enough to look like one\n" * 100, encoding="utf-8")
        connection = sqlite3.connect(self.folder / "theirs.db")
        connection.execute("CREATE TABLE theirs (id INTEGER)")
        connection.commit()
        connection.close()
        before = other.read_text(encoding="utf-8")
        for path in (other, self.folder / "theirs.db", self.folder / "missing" / "x.db", self.folder):
            for command in (["campaign", "--programs", "1"], ["history"]):
                done = subprocess.run([HGCHECK, *command, "--db", path], capture_output=True, text=True,
                                      timeout=PATIENCE, check=False)
                self.assertEqual(done.returncode, 2, (path, command))
                self.assertRegex(done.stderr, r"^hgcheck: --db: .*(remedy|name another file|makes one)")
        self.assertEqual(other.read_text(encoding="utf-8"), before)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
