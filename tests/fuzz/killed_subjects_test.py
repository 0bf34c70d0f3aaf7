#!/usr/bin/env python3
"""Subjects that are killed at random moments: the campaign goes on, judges every program, and finds nothing in them.

usage: killed_subjects_test.py HGCHECK SUBJECT LIBRARY

Starts a campaign whose subject process runs the model behind a pipe and kills that process again and again. A death
that does not show again in a fresh process is no finding: its program is poisoned, and counted.
"""
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

PROGRAMS = 6000
KILLS_AT_LEAST = 5


def processes_with(word):
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            arguments = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        # The subject itself, and not the shell or the campaign that names it in one argument.
        if word.encode() in arguments:
            yield int(entry.name)


def main():
    hgcheck, subject, library = sys.argv[1:4]
    dice = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        link = os.path.join(folder, "libmodel.so")  # a name that no other process has
        os.symlink(library, link)
        result = os.path.join(folder, "result.json")
        campaign = subprocess.Popen(
            [hgcheck, "campaign", "--subject", f"cmd={subject} --library {link}:patch", "--programs", str(PROGRAMS),
             "--jobs", "2", "--report", os.path.join(folder, "report"), "--json", result, "--quiet"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        kills = 0
        while campaign.poll() is None:
            time.sleep(dice.uniform(0.01, 0.2))
            for pid in list(processes_with(link)):
                if dice.random() < 0.7:
                    try:
                        os.kill(pid, signal.SIGKILL)
                        kills += 1
                    except ProcessLookupError:
                        pass
        output = campaign.stdout.read()
        verdicts = json.load(open(result))["verdicts"]
    print(f"{kills} kills, {verdicts}\n{output}")
    assert kills >= KILLS_AT_LEAST, "the campaign was over before it could be disturbed"
    # Status 3: more than 1 % of the programs lost their process, which a campaign rightly says.
    assert campaign.returncode in (0, 3), campaign.returncode
    assert verdicts["diverge"] == 0 and verdicts["harness_error"] == 0, verdicts
    assert verdicts["agree"] + verdicts["poisoned"] == PROGRAMS, verdicts
    assert verdicts["agree"] > PROGRAMS // 2, verdicts


main()
