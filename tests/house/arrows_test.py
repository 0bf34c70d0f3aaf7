#!/usr/bin/env python3
"""Rooms include only the rooms that the table below grants them, and no two rooms include each other, near or far.

The table holds direct includes. A row names only rows above it, so that there is no circle. CMake's targets hold coarse
rooms apart already (cmake/Rooms.cmake); the folders of verify/ share a few targets, and are held apart here.
Not checked: tests/, bench/ and tools/, which may use everything, and headers of the system.

usage: arrows_test.py ROOT [TEST]
"""
import fnmatch
import pathlib
import posixpath
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).resolve()

# A family of commands is one folder, and each of its parts belongs to the room that runs it. The first pattern counts;
# a file that none fits belongs to its folder, down to the second level.
PARTS = (
    ("verify/commands/*/run.cpp", "verify/run"),
    ("verify/commands/*/export.cpp", "verify/export"),
    ("verify/commands/*/describe.cpp", "verify/quirks"),
    ("verify/commands/export.h", "verify/export"),
    ("verify/commands/*/rules.cpp", "verify/rules"),
    ("verify/commands/define_rules.h", "verify/rules"),
    ("verify/commands/captures/answers.*", "verify/rules"),
    ("verify/commands/nodes/node_rules.*", "verify/rules"),
    ("verify/commands/stream_memory/placed_memory.*", "verify/rules"),
    ("verify/*.h", "verify/results"),
    ("fuzz/*", "fuzz"),
    ("reports/*", "reports"),
    ("hip/*.*", "hip"),
    ("hip/example/*", "hip"),
    ("model/*.*", "model"),
)

# A room, and the rooms that its files include. Each row names rows above it; every arrow is in use.
MAY_INCLUDE = {
    # leaves
    "hip/result": "",
    "hip/sync": "",
    "hip/releases": "",
    "hip/node_form": "",
    "hip/spread": "",
    "hip/api": "hip/result hip/releases",
    "hip/code_object": "hip/result",
    "model/gfx942": "",
    # the model, and what is measured against it
    "model": "",
    "hip/kernels": "",
    "model/abi": "model model/gfx942 hip/kernels hip/api hip/code_object hip/sync",
    "hip": "hip/api hip/code_object hip/node_form hip/releases hip/result hip/spread hip/sync",
    "hip/agent": "model/gfx942 hip/sync",
    "hip/nvidia": "hip/kernels hip/sync",
    "hip/recorder": "hip/api hip/code_object hip/sync",
    # verify: programs
    "verify/results": "",
    "verify/findings": "",
    "verify/errors": "hip/api hip/sync",
    "verify/language": "",
    "verify/commands": "verify/language hip/node_form",
    "verify/program": "verify/commands verify/language verify/errors verify/results",
    "verify/rules": "verify/program verify/language verify/errors",
    "verify/quirks": "verify/program verify/errors hip/releases hip/spread",
    "verify/generate": "verify/program verify/commands verify/language verify/errors",
    "verify/shrink": "verify/program verify/commands verify/generate",
    "verify/export": "verify/program verify/commands verify/language hip/result",
    # verify: how they run, and what is said of it
    "verify/execute": "verify/program verify/language model model/abi hip hip/agent hip/kernels hip/api "
                      "hip/code_object hip/result hip/sync",
    "verify/properties": "verify/execute verify/program verify/errors verify/results model hip hip/api",
    "verify/systems": "verify/execute verify/commands verify/language hip hip/kernels hip/sync",
    "verify/run": "verify/systems verify/properties verify/execute verify/program verify/commands verify/errors hip "
                  "hip/result hip/sync",
    "verify/oracle": "verify/properties verify/execute verify/quirks verify/shrink verify/program verify/results "
                     "hip/api",
    "verify/subject": "verify/run verify/systems verify/execute verify/program verify/language hip/api hip/releases "
                      "hip/result",
    "verify/semantics": "verify/run verify/execute verify/quirks verify/generate verify/program verify/errors hip/api "
                        "hip/releases",
    "verify/race": "model hip hip/api hip/result hip/sync",
    # programs for people
    "reports": "verify/results hip/result",
    "fuzz": "reports verify/race verify/subject verify/oracle verify/run verify/systems verify/properties "
            "verify/execute verify/export verify/shrink verify/generate verify/quirks verify/program verify/language "
            "verify/results hip hip/recorder hip/kernels hip/api hip/code_object hip/result hip/sync",
}
ROOM_FOLDERS = ("model/", "hip/", "verify/", "reports/", "fuzz/")
SOURCES = ("*.h", "*.cpp", "*.inc", "*.cuh", "*.c", "*.hip")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)


def room(path):
    for pattern, name in PARTS:
        # The star at a pattern's end stands for all that is in the folder; elsewhere it stands for one name.
        if fnmatch.fnmatch(path, pattern) and (pattern.endswith("/*") or path.count("/") == pattern.count("/")):
            return name
    return "/".join(path.split("/")[:2])


def arrows(sources):
    """The includes that lead from one room to another, of a map from paths to texts: (room, room, file, header)."""
    found = []
    for path, text in sources.items():
        for header in INCLUDE.findall(text):
            if not header.startswith(ROOM_FOLDERS):
                # Beside its source, or generated (findings/*.inc).
                header = posixpath.normpath(posixpath.join(posixpath.dirname(path), header))
                if header not in sources:
                    continue
            if room(path) != room(header):
                found.append((room(path), room(header), path, header))
    return found


def forbidden(sources):
    return [f"{path} includes {header}: {one} may not include {other}" for one, other, path, header in arrows(sources)
            if other not in MAY_INCLUDE.get(one, "").split()]


def circles(table):
    """The rows that name themselves or a row that is not above them."""
    above, found = set(), []
    for name, others in table.items():
        found += [f"{name} -> {other}" for other in others.split() if other not in above]
        above.add(name)
    return found


def tree():
    listed = subprocess.run(["git", "-c", f"safe.directory={ROOT}", "-C", ROOT, "ls-files", "-z", "--", *SOURCES],
                            capture_output=True, text=True, check=True).stdout.split("\0")
    return {name: (ROOT / name).read_text(encoding="utf-8") for name in listed
            if name.startswith(ROOM_FOLDERS) and (ROOT / name).is_file()}


TREE = tree()


class Arrows(unittest.TestCase):
    def test_rooms_include_only_the_rooms_that_the_table_grants(self):
        self.assertGreater(len(TREE), 500)
        self.assertEqual(forbidden(TREE), [])

    def test_the_table_has_no_circle(self):
        self.assertEqual(circles(MAY_INCLUDE), [])

    def test_every_arrow_of_the_table_is_in_use(self):
        used = {(one, other) for one, other, _, _ in arrows(TREE)}
        granted = {(one, other) for one, others in MAY_INCLUDE.items() for other in others.split()}
        self.assertEqual(granted - used, set())

    def test_every_room_has_a_row(self):
        self.assertEqual({room(path) for path in TREE} - set(MAY_INCLUDE), set())

    def test_a_planted_include_is_found(self):
        for path, header in (("verify/subject/subject.cpp", "fuzz/faults/runtime/faults.h"),
                             ("verify/properties/p9_cloned.cpp", "verify/oracle/metamorphic.h"),
                             ("verify/language/line.h", "verify/program/text.h"),
                             ("verify/commands/fields.h", "verify/program/state.h"),
                             ("verify/program/state.cpp", "verify/commands/define_rules.h"),
                             ("verify/commands/nodes/rules.cpp", "verify/execute/runner.h"),
                             ("reports/html.h", "verify/execute/runner.h"),
                             ("model/graph.h", "hip/stream.h"),
                             ("model/graph.h", "hip/sync/sync.h"),
                             ("hip/stream.h", "verify/result.h")):
            with self.subTest(path=path, header=header):
                planted = dict(TREE)
                planted[path] += f'\n#  include "{header}"\n'
                self.assertEqual(len(forbidden(planted)), 1)

    def test_an_include_beside_the_source_is_followed_into_another_room(self):
        sources = {"model/graph.cpp": '#include "../hip/stream.h"\n', "hip/stream.h": ""}
        self.assertEqual(len(forbidden(sources)), 1)

    def test_an_include_that_the_table_grants_is_none(self):
        planted = dict(TREE)
        planted["verify/oracle/oracle.cpp"] += '\n#include "verify/properties/variants.h"\n'
        self.assertEqual(forbidden(planted), [])

    def test_a_planted_circle_is_found(self):
        self.assertEqual(circles({"one": "", "two": "one"}), [])
        self.assertEqual(circles({"one": "two", "two": "one"}), ["one -> two"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
