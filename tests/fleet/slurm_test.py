#!/usr/bin/env python3
"""`hgcheck fleet slurm`: the script that it submits, its refusals, and a fleet of 12 tasks under a Slurm of three nodes
on this machine, whose tasks are killed, lost, requeued, preempted and interrupted: it finds what one process finds.

usage: slurm_test.py HGCHECK PATCHER [unittest's options]

PATCHER is a library of fuzz/examples/ that patches by value, so that the campaign has findings, rare ones too.
"""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import unittest

import bed

HGCHECK, PATCHER = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:3])
PROGRAMS = 6000
TASKS = 12
PATIENCE = 600  # seconds for a campaign, on the busiest machine
# Blocks of many rounds take a second alone, and 14 processes share the machine's cores: no program hangs here.
CAMPAIGN = ["--subject", f"model:lib={PATCHER}", "--programs", PROGRAMS, "--program-timeout", 240]


def query(database, sql):
    with contextlib.closing(sqlite3.connect(database)) as connection:
        return connection.execute(sql).fetchall()


def settled(databases):
    return sum(query(database, "SELECT sum(next) FROM shards")[0][0] for database in databases)


def found(databases):
    """Of each cause: the first program that showed it, and how it died."""
    first = {}
    for database in databases:
        for cause, index, death in query(database, "SELECT cause, program_index, death FROM findings"):
            if cause not in first or index < first[cause][0]:
                first[cause] = (index, death)
    return first


def shrunk(databases):
    """The shortest forms of the programs that showed causes."""
    rows = [query(database, "SELECT cause, program_index, json_extract(finding, '$.findings[0].program_text') FROM "
                            "findings WHERE shrunk") for database in databases]
    return {(cause, index): program for all_rows in rows for cause, index, program in all_rows}


class Folder(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="hgcheck-fleet-", ignore_cleanup_errors=True)
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        self.output = self.folder / "output"

    def fleet(self, *options, path=None, status=0):
        environment = {**os.environ, "PATH": path or "/nowhere"}
        done = subprocess.run([HGCHECK, "fleet", "slurm", "--output", self.output, *map(str, options)],
                              capture_output=True, text=True, timeout=PATIENCE, check=False, env=environment)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout if status == 0 else done.stderr

    def commands_of_slurm(self, size):
        """A folder with a scontrol that tells the size of arrays, and a sbatch that takes nothing."""
        tools = self.folder / "tools"
        tools.mkdir(exist_ok=True)
        (tools / "scontrol").write_text(f"#!/bin/sh\necho 'MaxArraySize            = {size}'\n", encoding="utf-8")
        (tools / "sbatch").write_text("#!/bin/sh\necho no partition >&2\nexit 1\n", encoding="utf-8")
        for tool in tools.iterdir():
            tool.chmod(0o755)
        return str(tools)


class Script(Folder):
    def check_shell(self, text):
        self.assertEqual(subprocess.run(["sh", "-n"], input=text, text=True, check=False).returncode, 0, text)

    def test_a_dry_run_prints_the_script_and_the_command_of_processors_and_leaves_no_trace(self):
        text = self.fleet("--dry-run", "--nodes", 3, "--jobs-per-node", 4, "--hours", 1.5, "--jobs", 2, "--seed", 7,
                          "--property", "A1", "--property", "A2", "--no-quirks", "--accept", "/dev/null",
                          "--shared-corpus", "shared", "--sbatch=--partition=low", "--copy-every", 5)
        script, command = text.rsplit("\n$ ", 1)
        self.assertEqual(command, f"sbatch {self.output}/fleet.sh\n")
        options = re.findall(r"^#SBATCH (.*)$", script, re.MULTILINE)
        self.assertEqual(options, ["--job-name=hgcheck", "--array=1-12", "--nodes=1", "--ntasks=1",
                                   "--cpus-per-task=2", "--time=90", "--signal=B:USR1@180", "--requeue",
                                   "--open-mode=append", f"--output={self.output}/task-%a.log", "--partition=low"])
        self.assertIn(f'\n{HGCHECK} fleet-task "$SLURM_ARRAY_TASK_ID/12" {self.output} "${{TMPDIR:-/tmp}}" '
                      "--no-quirks --seed 7 --jobs 2 --property A1 --property A2 --shared-corpus shared --accept "
                      "/dev/null --hours 1.5 --copy-every 5 &\n", script)
        self.assertTrue(script.startswith("#!/bin/sh\n#SBATCH "))
        self.check_shell(script)
        self.assertFalse(self.output.exists())

    def test_a_task_on_a_gpu_asks_for_one_and_is_one_process(self):
        for subject in ("rocm:patch", "nvidia:update"):
            text = self.fleet("--dry-run", "--nodes", 2, "--jobs-per-node", 8, "--hours", 8, "--subject", subject)
            self.assertIn("\n#SBATCH --gres=gpu:1\n", text)
            self.assertIn("\n#SBATCH --cpus-per-task=1\n", text)
            self.assertIn(f"--subject {subject} --hours 8 &\n", text)
        text = self.fleet("--dry-run", "--hours", 8, "--subject", "rocm", "--gres", "gpu:mi300x:1")
        self.assertIn("\n#SBATCH --gres=gpu:mi300x:1\n", text)
        self.assertIn("give --jobs-per-node the number of GPUs",
                      self.fleet("--dry-run", "--hours", 8, "--subject", "rocm", "--jobs", 2, status=2))

    def test_words_that_a_shell_would_take_apart_stay_whole(self):
        self.output = self.folder / "it's $here"
        text = self.fleet("--dry-run", "--hours", 1, "--subject", "cmd=ssh node 'a b'", "--local", '$SCRATCH/"x')
        self.assertIn("'cmd=ssh node '\\''a b'\\'''", text)
        self.assertIn("it'\\''s $here'", text)
        self.assertIn('"$SCRATCH/\\"x"', text)
        self.check_shell(text.rsplit("\n$ ", 1)[0])

    def test_mistakes_are_refused_with_a_remedy(self):
        tools = self.commands_of_slurm(1001)
        for options, path, message in [
                ((), "", "--hours is required"),
                (("--hours", 0.1), "", "--hours"),
                (("--hours", 1, "--db", "x"), "", "--db"),
                (("--hours", 1, "--subject", "modell"), "", "--subject: .*model"),
                (("--hours", 1, "--fault", "F99"), "", "'hgcheck faults' lists them"),
                (("--hours", 1, "--property", "Q9"), "", "'hgcheck properties' lists them"),
                (("--hours", 1, "--accept", "/nowhere/accepted"), "", "--accept: .* cannot be read"),
                (("--hours", 1), "", "run this on a machine that has Slurm's commands"),
                (("--hours", 1, "--nodes", 1001), tools, "1000 .*give fewer --jobs-per-node"),
                (("--hours", 1, "--nodes", 1000), tools, "sbatch took no jobs")]:
            with self.subTest(options=options):
                error = self.fleet(*options, path=path, status=2)
                self.assertRegex(error, message)
                self.assertTrue("hgcheck: " in error and "lost" not in error)
        file = self.folder / "file"
        file.touch()
        self.output = file / "output"
        self.assertIn("name another", self.fleet("--hours", 1, path=tools, status=2))

    def test_a_folder_belongs_to_one_campaign(self):
        tools = self.commands_of_slurm(1001)
        self.fleet("--hours", 1, path=tools, status=2)
        self.assertIn("sbatch took no jobs", self.fleet("--hours", 2, path=tools, status=2))
        self.assertIn("belongs to another campaign", self.fleet("--hours", 1, "--seed", 2, path=tools, status=2))
        self.assertIn("belongs to another campaign", self.fleet("--hours", 1, "--nodes", 2, path=tools, status=2))


class Task(Folder):
    """A task by itself, as a job starts it."""

    def task(self, *options):
        local = self.folder / "local"
        local.mkdir(exist_ok=True)
        return [HGCHECK, "fleet-task", "1/1", str(self.output), str(local), "--hours", "1", *map(str, options)]

    def claim(self, *options):
        self.fleet(*options, "--hours", 1, path=self.commands_of_slurm(9), status=2)

    def test_a_later_run_takes_the_copy_over_and_the_earlier_run_ends(self):
        options = ["--subject", f"model:lib={PATCHER}", "--copy-every", 1]
        self.claim(*options[:2])
        earlier = subprocess.Popen(self.task(*options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(earlier.kill)
        self.assertRegex(earlier.stdout.readline(), "^found ")
        later = subprocess.Popen(self.task(*options), stdout=subprocess.PIPE, text=True)
        self.addCleanup(later.kill)
        _, message = earlier.communicate(timeout=PATIENCE)
        self.assertEqual(earlier.returncode, 130)
        self.assertIn("a later run of this task", message)
        later.terminate()
        later.communicate(timeout=PATIENCE)
        self.assertEqual(later.returncode, 130)
        self.assertEqual(list((self.folder / "local").iterdir()), [])
        self.assertEqual(query(self.output / "task-1/campaign.db", "SELECT count(*) FROM sessions"), [(2,)])

    def test_a_cause_is_printed_after_it_is_in_the_copy(self):
        options = ["--subject", f"model:lib={PATCHER}", "--copy-every", 86400]
        self.claim(*options[:2])
        running = subprocess.Popen(self.task(*options), stdout=subprocess.PIPE, text=True)
        self.addCleanup(running.communicate)
        self.addCleanup(running.kill)
        printed = running.stdout.readline().rstrip("\n").split(": ", 1)[1]
        running.kill()
        self.assertIn(printed, found([self.output / "task-1/campaign.db"]))

    def test_a_shared_folder_that_goes_away_stops_no_judging_and_its_return_is_noticed(self):
        options = ["--subject", f"model:lib={PATCHER}", "--copy-every", 1]
        self.claim(*options[:2])
        running = subprocess.Popen(self.task(*options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(running.kill)
        running.stdout.readline()
        task, away = self.output / "task-1", self.output / "away"
        task.rename(away)
        self.assertIn("cannot be read", running.stderr.readline())
        before = settled([away / "campaign.db"])
        away.rename(task)
        bed.wait_for("a new copy", lambda: settled([task / "campaign.db"]) > before, PATIENCE)
        running.terminate()
        running.communicate(timeout=PATIENCE)
        self.assertEqual(running.returncode, 130)

    def test_a_last_copy_that_fails_leaves_the_database_and_says_where(self):
        options = ["--subject", f"model:lib={PATCHER}", "--copy-every", 1]
        self.claim(*options[:2])
        running = subprocess.Popen(self.task(*options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(running.kill)
        running.stdout.readline()
        shutil.move(self.output / "task-1", self.output / "away")
        running.terminate()
        _, message = running.communicate(timeout=PATIENCE)
        path = re.search(r"the database is (.*)\n", message)[1]
        self.assertGreater(len(found([path])), 0)

    def test_a_task_that_begins_again_has_only_the_rest_of_its_hours(self):
        self.claim()
        running = subprocess.Popen(self.task("--copy-every", 1), stdout=subprocess.DEVNULL)
        self.addCleanup(running.kill)
        copy = self.output / "task-1/campaign.db"
        bed.wait_for("a copy", lambda: copy.exists() and settled([copy]) > 0, PATIENCE)
        running.terminate()
        self.assertEqual(running.wait(timeout=PATIENCE), 130)
        with contextlib.closing(sqlite3.connect(copy)) as connection, connection:
            connection.execute("UPDATE sessions SET seconds = 3600")
        done = subprocess.run(self.task(), capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "task 1: its 1 hours are over\n"))


class Fleet(Folder):
    def setUp(self):
        super().setUp()
        self.bed = bed.Bed(self.folder)
        self.addCleanup(self.bed.stop)
        self.bed.start()

    def slurm(self, *command):
        done = self.bed.run(*command)
        self.assertEqual(done.returncode, 0, f"{command}: {done.stdout}{done.stderr}{self.bed.tails()}")
        return done.stdout

    def submit(self):
        printed = self.slurm(HGCHECK, "fleet", "slurm", "--nodes", 3, "--jobs-per-node", TASKS // 3, "--hours", 1,
                             "--output", self.output, "--local", self.folder / "local", "--copy-every", 2, *CAMPAIGN)
        self.assertIn("Submitted batch job", printed)

    def running(self, but=()):
        """A task that has a copy, of a job that nothing has happened to yet."""
        jobs = []

        def one_runs():
            jobs[:] = [job for job in self.bed.jobs("running") if job[0] not in but
                       and (self.output / f"task-{job[0]}/campaign.db").exists()]
            return jobs
        self.bed.wait_for("a task that runs", one_runs, PATIENCE)
        return jobs[0]

    def process_of(self, task):
        """The campaign of a task, and the first of its workers."""
        ours = [process for process, _, words in bed.processes()
                if f"{task}/{TASKS}" in words and "fleet-task" in words and str(self.output) in words]
        return sorted(ours)[:2]

    def log(self, task):
        return (self.output / f"task-{task}.log").read_text(encoding="utf-8")

    def test_a_fleet_that_is_disturbed_finds_what_one_process_finds(self):
        (self.folder / "local").mkdir()
        whole = subprocess.Popen([HGCHECK, "campaign", *map(str, CAMPAIGN), "--jobs", "1", "--quiet", "--db",
                                  self.folder / "whole.db"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(whole.kill)
        self.submit()
        touched = []

        def next_task():
            task = self.running(touched)
            touched.append(task[0])
            return task
        # A worker of a task; a whole task, as by the kernel when memory is full; a node; a job by its owner.
        killed_worker = next_task()[0]
        os.kill(self.process_of(killed_worker)[1], signal.SIGKILL)
        killed, job, _ = next_task()
        os.kill(self.process_of(killed)[0], signal.SIGKILL)
        requeued, job, _ = next_task()
        self.slurm("scontrol", "requeue", job)
        stopped, job, _ = next_task()
        # While an array has a requeued job, scancel sends the signal and answers that it has to try again.
        self.bed.run("scancel", "--signal=USR1", "--batch", job)
        # The task of a lost node stands still, as long as the task that replaces it needs to begin.
        lost, _, node = next_task()
        owner = self.output / f"task-{lost}/owner"
        first_run, unreachable = owner.read_text(encoding="utf-8"), self.process_of(lost)[0]
        os.kill(unreachable, signal.SIGSTOP)
        self.bed.daemons[node].kill()
        other = next(name for name in bed.NODES if name != node)
        self.slurm("sbatch", "--job-name=urgent", "--partition=high", f"--nodelist={other}", "--exclusive",
                   f"--output={self.folder}/urgent.log", "--wrap", "sleep 1")
        self.bed.wait_for("another run of the lost task", lambda: owner.read_text(encoding="utf-8") != first_run,
                          PATIENCE)  # it waits in the queue behind other tasks
        os.kill(unreachable, signal.SIGCONT)
        self.bed.wait_for("the end of the fleet", lambda: not self.bed.ask("squeue", "-h"), PATIENCE)
        for task in (stopped, requeued):
            self.assertIn("interrupted", self.log(task))
        self.assertIn("a later run of this task", self.log(lost))
        self.assertIn("preempted", (self.folder / "slurmctld.log").read_text(encoding="utf-8"))
        for task in (killed, requeued, lost):
            self.assertGreater(query(self.output / f"task-{task}/campaign.db", "SELECT count(*) FROM sessions")[0][0],
                               1, self.log(task))
        # The same command goes on with what was stopped.
        self.submit()
        self.bed.wait_for("the end of the rest", lambda: not self.bed.ask("squeue", "-h"), PATIENCE)

        self.assertEqual(whole.wait(timeout=PATIENCE), 1)
        databases = [self.output / f"task-{task}/campaign.db" for task in range(1, TASKS + 1)]
        self.assertEqual(settled(databases), PROGRAMS)
        self.assertEqual(found(databases), found([self.folder / "whole.db"]))
        expected = shrunk([self.folder / "whole.db"])
        for key, program in shrunk(databases).items():
            self.assertEqual(expected.get(key, program), program, key)
        printed = {line.split(": ", 1)[1] for task in range(1, TASKS + 1) for line in self.log(task).splitlines()
                   if line.startswith("found ")}
        self.assertEqual(printed, found(databases).keys())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
