#!/usr/bin/env python3
"""Runs every command of a page's ```console blocks, in order, as a reader would, and compares what they print.

In a block `$ ` begins a command, `> ` goes on with it, and all else is output. A line `...` stands for any lines, and
`...` within a line for any text. Output that a page leaves out entirely is not compared; the exit status is: a page
shows one other than 0 by `echo $?`. Commands run in a folder of their own in which the repository's files stand by
their names, so that what they write stays out of the tree.

usage: console_test.py ROOT BUILD PAGE
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TIMEOUT = 900  # seconds for one command


def blocks(text):
    return re.findall(r"^```console\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def commands(block):
    """Pairs of a command and the output that the page shows."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append([line[2:], []])
        elif line.startswith("> ") and found and not found[-1][1]:
            found[-1][0] += "\n" + line[2:]
        elif found:
            found[-1][1].append(line)
        else:
            raise ValueError(f"output before any command: {line}")
    return found


def pattern(lines):
    """`...` is any text of a line; as a line of its own, any lines. Trailing white space does not count."""
    parts = []
    for line in lines:
        parts.append(r"(?:.*\n)*" if line == "..." else re.escape(line.rstrip()).replace(r"\.\.\.", ".*") + r"[ \t]*\n")
    return "".join(parts) + r"\s*"


def folder(root, build):
    place = tempfile.TemporaryDirectory(prefix="hgcheck-docs-")
    for name in os.listdir(root):
        if name not in (".git", "build", "report", "corpus") and not name.startswith("build-"):
            os.symlink(root / name, pathlib.Path(place.name) / name)
    os.symlink(build, pathlib.Path(place.name) / "build")
    return place


def main():
    root, build, page = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
    found = [pair for block in blocks(page.read_text(encoding="utf-8")) for pair in commands(block)]
    if not found:
        sys.exit(f"{page} has no command to run")
    failures, status = 0, 0
    with folder(root, build) as place:
        for number, (command, expected) in enumerate(found):
            asked = command.strip() == "echo $?"
            if asked:
                output = f"{status}\n"
            else:
                done = subprocess.run(["bash", "-c", command], cwd=place, stdin=subprocess.DEVNULL, text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT, check=False)
                output, status = done.stdout, done.returncode
                follows = number + 1 < len(found) and found[number + 1][0].strip() == "echo $?"
                if status != 0 and not follows:
                    print(f"FAILED (status {status}): {command}\n{output}")
                    failures += 1
                    continue
            if expected and not re.fullmatch(pattern(expected), output.rstrip() + "\n"):
                print(f"OTHER OUTPUT: {command}\n--- the page\n" + "\n".join(expected) + f"\n--- observed\n{output}")
                failures += 1
            else:
                print(f"ok: {command}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
