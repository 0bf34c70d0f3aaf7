#!/usr/bin/env python3
"""`hgcheck merge`: shards joined are the campaign that one process does; the order, the grouping and repetition of
inputs change nothing; what cannot be read leaves the output alone; what is missing is named.

usage: merge_test.py HGCHECK PATCHER [unittest's options]

PATCHER is a library of fuzz/examples/ that patches by value, so that campaigns have findings. Not checked: a power cut.
"""
import json
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

HGCHECK, PATCHER = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:3])
SUBJECT = f"model:lib={PATCHER}"
PATIENCE = 240  # seconds for one process, on the busiest machine
SHARDS, PROGRAMS = 4, 160


def hgcheck(*arguments, status=0):
    done = subprocess.run([HGCHECK, *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE,
                          check=False)
    if done.returncode not in ([status] if isinstance(status, int) else status):
        raise AssertionError(f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def campaign(folder, *more, status=1):
    hgcheck("campaign", "--subject", SUBJECT, "--jobs", 1, "--quiet", "--json", folder / "one.json", *more,
            status=status)
    return json.loads((folder / "one.json").read_text(encoding="utf-8"))


def content(path):
    """All rows of a database."""
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    rows = {table: connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()
            for table in ("campaigns", "shards", "sessions", "findings", "corpus")}
    connection.close()
    return rows


def change(path, *statements):
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


# The steps back from the tables of today to those of the first form.
FIRST_FORM = ["ALTER TABLE sessions DROP COLUMN name", "ALTER TABLE sessions DROP COLUMN node",
              "ALTER TABLE sessions DROP COLUMN programs_before", "ALTER TABLE sessions DROP COLUMN seconds_before",
              "ALTER TABLE findings DROP COLUMN session", "ALTER TABLE shards DROP COLUMN base",
              "ALTER TABLE corpus DROP COLUMN spare", "ALTER TABLE campaigns ADD COLUMN corpus_until INTEGER DEFAULT 0",
              "PRAGMA user_version = 1"]


class Merge(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory(prefix="hgcheck-merge-")
        cls.addClassCleanup(place.cleanup)
        cls.made = pathlib.Path(place.name)
        cls.shards = []
        for shard in range(1, SHARDS + 1):
            folder = cls.made / f"shard-{shard}"
            cls.shards.append(folder / f"shard-000{shard}.db")
            campaign(cls.made, "--programs", PROGRAMS, "--shard", f"{shard}/{SHARDS}", "--db", cls.shards[-1],
                     "--report", folder)
        cls.whole = campaign(cls.made, "--programs", PROGRAMS, "--db", cls.made / "whole.db")

    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="hgcheck-merge-")
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)

    def merge(self, *inputs, out="merged.db", status=0):
        """The JSON of a merge, or what it complains about."""
        done = hgcheck("merge", *inputs, "-o", self.folder / out, "--json", self.folder / "merged.json", status=status)
        if status != 0:
            return done.stderr
        self.assertEqual([path for path in self.folder.iterdir() if path.name.endswith(".new")], [])
        return json.loads((self.folder / "merged.json").read_text(encoding="utf-8"))

    def merged(self, *inputs):
        self.merge(*inputs)
        return content(self.folder / "merged.db")

    def copy(self, number, name=None):
        target = self.folder / (name or self.shards[number].name)
        shutil.copy(self.shards[number], target)
        return target

    def test_four_shards_are_the_campaign_that_one_process_does(self):
        [result] = self.merge(*self.shards)["campaigns"]
        for key in ("programs", "commands", "verdicts", "coverage", "states", "triples", "quirks", "unreachable",
                    "sampling"):
            self.assertEqual(result[key], self.whole[key], key)
        rows = {name: content(path) for name, path in (("merged", self.folder / "merged.db"),
                                                       ("whole", self.made / "whole.db"))}
        causes = {name: {row[1] for row in tables["findings"]} for name, tables in rows.items()}
        self.assertEqual(causes["merged"], causes["whole"])
        self.assertEqual({finding["property"] for finding in result["findings"]},
                         {finding["property"] for finding in self.whole["findings"]})
        self.assertEqual(sum(finding["seen"] for finding in result["findings"]),
                         sum(finding["seen"] for finding in self.whole["findings"]))
        self.assertEqual([shard["state"] for shard in result["shards"]], ["done"] * SHARDS)
        self.assertEqual(sum(node["programs"] for node in result["nodes"]), PROGRAMS)
        self.assertNotEqual(result["nodes"][0]["node"], "")
        for finding in result["findings"]:
            self.assertRegex(finding["first"]["time"], r"^\d{4}-\d\d-\d\dT")
            self.assertIn(finding["first"]["shard"], range(1, SHARDS + 1))
            self.assertEqual(finding["first"]["node"], result["nodes"][0]["node"])
            self.assertNotEqual(finding["first"]["session"], "")

    def test_order_grouping_and_repetition_change_nothing(self):
        expected = self.merged(*self.shards)
        self.assertEqual(self.merged(*reversed(self.shards)), expected)
        self.assertEqual(self.merged(*self.shards, *self.shards), expected)
        self.assertEqual(self.merged(self.folder / "merged.db"), expected)
        self.assertEqual(self.merged(self.folder / "merged.db", self.shards[2]), expected)
        self.merge(*self.shards[2:], out="b.db")
        self.merge(self.shards[0], self.shards[1], out="a.db")
        self.assertEqual(self.merged(self.folder / "b.db", self.folder / "a.db"), expected)

    def test_the_corpus_keeps_what_covers_something_new_the_shortest_first(self):
        corpus = self.merged(*self.shards)["corpus"]
        covered = set()
        for row in corpus:
            self.assertLess(covered, covered | set(json.loads(row[2])), "an entry that covers nothing new")
            covered |= set(json.loads(row[2]))
        every = [row for shard in self.shards for row in content(shard)["corpus"]]
        self.assertEqual(covered, {name for row in every for name in json.loads(row[2])})
        self.assertLess(len(corpus), len({row[1] for row in every}))
        sizes = [len(row[1]) for row in corpus]
        self.assertEqual(sizes, sorted(sizes))

    def test_reports_and_folders_give_the_same_findings_as_databases(self):
        rows = self.merged(*self.shards)
        causes = {(row[0], row[1], row[4], row[5]) for row in rows["findings"]}
        reports = [self.made / f"shard-{shard}" / "report.json" for shard in range(1, SHARDS + 1)]
        of_reports = self.merged(*reports)
        self.assertEqual({(row[0], row[1], row[4], row[5]) for row in of_reports["findings"]}, causes)
        self.assertEqual(len(of_reports["sessions"]), SHARDS)
        folders = [self.made / f"shard-{shard}" for shard in range(1, SHARDS + 1)]
        of_folders = self.merged(*folders)
        self.assertEqual({(row[0], row[1], row[4], row[5]) for row in of_folders["findings"]}, causes)
        self.assertEqual(len(of_folders["sessions"]), SHARDS)
        self.assertEqual(of_folders["corpus"], rows["corpus"])

    def test_a_missing_shard_is_named_and_the_report_says_so(self):
        done = hgcheck("merge", *self.shards[:3], "-o", self.folder / "merged.db", "--report", self.folder / "report")
        self.assertIn("1 of 4 shards are missing: 4", done.stdout)
        self.assertIn("3 of 4 shards", done.stdout)
        page = (self.folder / "report" / "index.html").read_text(encoding="utf-8")
        self.assertIn("1 of 4 shards are missing: 4", page)
        self.assertIn('id="shards"', page)
        report = json.loads((self.folder / "report" / "report.json").read_text(encoding="utf-8"))
        self.assertEqual([shard["state"] for shard in report["shards"]], ["done", "done", "done", "missing"])
        for finding in report["findings"]:
            self.assertTrue(pathlib.Path(finding["program"]).is_file(), finding["program"])
        hgcheck("report", self.folder / "merged.db", "--report", self.folder / "again")
        again = json.loads((self.folder / "again" / "report.json").read_text(encoding="utf-8"))
        self.assertEqual([finding["cause"] for finding in again["findings"]],
                         [finding["cause"] for finding in report["findings"]])

    def test_a_killed_shard_is_cut_off_and_goes_on_in_the_merged_database(self):
        killed = self.folder / "killed.db"
        running = subprocess.Popen([HGCHECK, "campaign", "--subject", SUBJECT, "--jobs", "1", "--programs", "100000",
                                    "--seed", "5", "--shard", "2/2", "--db", killed], stdout=subprocess.PIPE, text=True)
        self.assertTrue(running.stdout.readline().startswith("found "))
        time.sleep(3)
        running.send_signal(signal.SIGKILL)
        running.communicate(timeout=PATIENCE)
        before = killed.read_bytes()
        [result] = self.merge(killed)["campaigns"]
        self.assertEqual([shard["state"] for shard in result["shards"]], ["missing", "cut off"])
        self.assertTrue(any("cut off" in message for message in result["messages"]))
        self.assertGreater(len(result["findings"]), 0)
        self.assertEqual(killed.read_bytes(), before)
        settled = content(self.folder / "merged.db")["shards"][0][4]
        on = campaign(self.folder, "--programs", 2 * (settled + 20), "--seed", 5, "--shard", "2/2", "--db",
                      self.folder / "merged.db")
        self.assertGreaterEqual(on["programs"], settled + 20)
        [result] = self.merge(killed, self.folder / "merged.db")["campaigns"]
        self.assertEqual([shard["state"] for shard in result["shards"]], ["missing", "done"])

    def test_other_campaigns_are_kept_apart(self):
        campaign(self.folder, "--programs", 40, "--seed", 9, "--db", self.folder / "nine.db")
        done = hgcheck("merge", self.shards[0], self.folder / "nine.db", "-o", self.folder / "merged.db", "--report",
                       self.folder / "report")
        self.assertIn("seed 9", done.stdout)
        self.assertIn("2 campaigns", done.stdout)
        self.assertTrue((self.folder / "report" / "1" / "index.html").is_file())
        self.assertTrue((self.folder / "report" / "2" / "index.html").is_file())

    def test_shards_that_mutate_other_programs_keep_them(self):
        for number in (0, 1):
            campaign(self.folder, "--programs", 80, "--seed", 2, "--shard", f"{number + 1}/2", "--db",
                     self.copy(number))
        expected = campaign(self.folder, "--programs", 120, "--seed", 2, "--shard", "2/2", "--db",
                            self.copy(1, "alone.db"))
        merged = self.merged(self.folder / self.shards[0].name, self.folder / self.shards[1].name)
        self.assertTrue(any(row[-1] for row in merged["corpus"]), "an entry is only there for a shard")
        result = campaign(self.folder, "--programs", 120, "--seed", 2, "--shard", "2/2", "--db",
                          self.folder / "merged.db")
        for key in ("programs", "commands", "verdicts", "coverage"):
            self.assertEqual(result[key], expected[key], key)

    def test_one_shard_of_two_corpora_is_refused(self):
        for number in (0, 1):
            campaign(self.folder, "--programs", 40, "--seed", 2, "--db", self.copy(number))
        self.assertIn("began from another corpus", self.merge(*self.folder.glob("shard-*.db"), status=2))

    def test_a_database_of_the_first_form_is_read_and_not_changed(self):
        old = self.copy(0)
        change(old, *FIRST_FORM)
        before = old.read_bytes()
        [result] = self.merge(old)["campaigns"]
        self.assertEqual(old.read_bytes(), before)
        self.assertEqual(result["programs"], PROGRAMS // SHARDS)
        once = content(self.folder / "merged.db")
        self.assertEqual(self.merged(old, self.folder / "merged.db"), once)
        # A campaign brings the file itself up to date and goes on with it.
        on = campaign(self.folder, "--programs", PROGRAMS + SHARDS, "--shard", f"1/{SHARDS}", "--db", old)
        self.assertEqual(on["programs"], PROGRAMS // SHARDS + 1)

    def bad_inputs(self):
        whole = self.shards[0].read_bytes()
        texts = {"text.db": b"not a database, though long enough to look like one\n" * 100, "empty.db": b"",
                 "cut.db": whole[:len(whole) // 2], "short.db": whole[:50], "broken.json": b'{"version": ',
                 "other.json": b'{"name": "theirs"}'}
        for name, text in texts.items():
            (self.folder / name).write_bytes(text)
        scrambled = bytearray(whole)
        scrambled[4096:len(scrambled) - 4096] = b"\x55" * (len(scrambled) - 8192)
        (self.folder / "scrambled.db").write_bytes(scrambled)
        change(self.copy(0, "newer.db"), "PRAGMA user_version = 99")
        change(self.folder / "theirs.db", "CREATE TABLE theirs (id INTEGER)")
        change(self.copy(0, "orphan.db"), "DELETE FROM campaigns")
        change(self.copy(0, "nothing.db"), "UPDATE findings SET finding = 'nothing'")
        change(self.copy(0, "counts.db"), "UPDATE shards SET counts = '{}'")
        return [self.folder / name for name in (*texts, "scrambled.db", "newer.db", "theirs.db", "orphan.db",
                                                "nothing.db", "counts.db", "missing.db")]

    def test_what_cannot_be_read_is_named_with_a_remedy_and_the_output_stays(self):
        bad = self.bad_inputs()
        self.merge(self.shards[1])
        before = (self.folder / "merged.db").read_bytes()
        for path in bad:
            message = self.merge(self.shards[0], path, status=2)
            self.assertIn(path.name, message)
            self.assertRegex(message, r"^hgcheck: merge: .*(remedy|name another)", path)
            self.assertEqual((self.folder / "merged.db").read_bytes(), before, path)
        result = self.merge(*bad, self.shards[1], "--keep-going")
        self.assertEqual({pathlib.Path(one["file"]).name for one in result["left_out"]}, {path.name for path in bad})
        self.assertEqual(result["inputs"], [str(self.shards[1])])
        self.assertEqual((self.folder / "merged.db").read_bytes(), before)
        self.assertIn("no input holds a campaign", self.merge(*bad, "--keep-going", status=2))

    def test_a_locked_database_is_refused_and_a_busy_one_is_read(self):
        locked = self.copy(0)
        holder = sqlite3.connect(locked, isolation_level=None)
        self.addCleanup(holder.close)
        holder.execute("PRAGMA journal_mode = DELETE")
        holder.execute("BEGIN EXCLUSIVE")
        self.assertIn("another process has locked it", self.merge(locked, status=2))
        holder.execute("ROLLBACK")
        holder.execute("PRAGMA journal_mode = WAL")
        holder.execute("BEGIN IMMEDIATE")
        self.assertEqual(len(self.merge(locked)["campaigns"]), 1)

    def test_an_output_that_is_not_ours_or_in_use_is_left_alone(self):
        theirs = self.folder / "theirs.db"
        change(theirs, "CREATE TABLE theirs (id INTEGER)")
        before = theirs.read_bytes()
        self.assertRegex(self.merge(self.shards[0], out="theirs.db", status=2), "^hgcheck: -o: .*name another file")
        self.assertEqual(theirs.read_bytes(), before)
        (self.folder / "notes").write_text("of a person", encoding="utf-8")
        self.assertIn("-o: ", self.merge(self.shards[0], out="notes", status=2))
        self.assertEqual((self.folder / "notes").read_text(encoding="utf-8"), "of a person")
        self.assertIn("-o: ", self.merge(self.shards[0], out="missing/x.db", status=2))
        user = sqlite3.connect(self.copy(1, "used.db"))
        self.addCleanup(user.close)
        user.execute("PRAGMA journal_mode = WAL")
        user.execute("SELECT count(*) FROM findings").fetchall()
        self.assertIn("another process has it open", self.merge(self.shards[0], out="used.db", status=2))

    def test_a_kill_leaves_the_old_output_or_the_new_one(self):
        self.merge(self.shards[1])
        old = content(self.folder / "merged.db")
        new = self.merged(*self.shards)
        for pause in (0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4):
            self.merge(self.shards[1])
            running = subprocess.Popen([HGCHECK, "merge", *self.shards, "-o", self.folder / "merged.db"],
                                       stdout=subprocess.DEVNULL)
            time.sleep(pause)
            running.send_signal(signal.SIGKILL)
            running.wait(timeout=PATIENCE)
            for left in self.folder.glob("*.new*"):
                left.unlink()
            self.assertIn(content(self.folder / "merged.db"), (old, new))

    def test_nonsense_on_the_command_line_is_usage(self):
        for arguments in ([], ["-o", self.folder / "x.db"], [self.shards[0]], [self.shards[0], "-o"],
                          [self.shards[0], "-o", self.folder / "x.db", "--nonsense"],
                          [self.folder, "-o", self.folder / "x.db"]):
            done = hgcheck("merge", *arguments, status=2)
            self.assertRegex(done.stderr, "^hgcheck: ")
        self.assertFalse((self.folder / "x.db").exists())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
