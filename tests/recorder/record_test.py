#!/usr/bin/env python3
"""`hgcheck record` on an ordinary HIP program: the program notices nothing, what was recorded replays to the same
bytes, and what could not be recorded is said.

usage: record_test.py HGCHECK RUN RUNTIME PROGRAM KERNELS OTHER_KERNELS BLUR ANEW CAPTURING KEPT RANKS TOGETHER FORKING

RUN starts PROGRAM on the runtime of the folder RUNTIME; KERNELS is the project's code object, OTHER_KERNELS one that is
not. BLUR is a program with kernels of its own, ANEW one that captures every step anew and updates from it,
CAPTURING one whose threads do so at the same time, KEPT one with what is kept beside plain graphs,
RANKS three with threads that share a device, TOGETHER one with cooperative launches and with a variable of two threads,
FORKING one that forks while its other threads call HIP, on a runtime of empty functions.
"""
import collections
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

HGCHECK, RUN, RUNTIME, PROGRAM, KERNELS, OTHER_KERNELS, BLUR, ANEW, CAPTURING, KEPT, RANKS, TOGETHER, FORKING = (
    str(pathlib.Path(path).resolve()) for path in sys.argv[1:14])
# Threads that copy while others destroy streams crash AMD's 7.2 by itself, in one run of eighty of this program, with a
# recorder and without: docs/findings.md, copy-while-stream-destroyed.
MODES = ["graph", "capture", "eager"] + (["threads"] if pathlib.Path(RUNTIME).name == "dropin" else [])
PATIENCE = 240  # seconds for one process, on the busiest machine


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=PATIENCE,
                          check=False)


class Recorder(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="hgcheck-record-test-")
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        self.program = self.folder / "a.program"

    def watched(self, mode, kernels=KERNELS):
        return [RUN, "--agent", RUNTIME, PROGRAM, kernels, mode]

    def record(self, *command, status=0):
        done = run(HGCHECK, "record", "-o", self.program, "--", *command)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def replays(self, program, *more):
        for arguments in ([], ["--subject", "model:rebuild"], list(more)):
            done = run(HGCHECK, "replay", program, *arguments)
            # AMD's 7.2 crashes in a launch once in forty replays on a busy machine. That is no verdict, so it is asked
            # once more.
            if done.returncode == 3 and "poisoned: a divergence of a further run that did not show" in done.stdout:
                done = run(HGCHECK, "replay", program, *arguments)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"^agree\n(note: .*\n)*$", done.stderr)  # notes: work that escapes a capture

    def test_what_it_prints_and_computes_is_what_it_does_alone(self):
        for mode in MODES:
            alone = run(*self.watched(mode))
            self.assertEqual(alone.returncode, 0, alone.stdout + alone.stderr)
            done = self.record(*self.watched(mode))
            self.assertTrue(done.stdout.startswith(alone.stdout), done.stdout)
            self.assertEqual(done.stderr, alone.stderr)

    def test_it_replays_to_the_same_bytes(self):
        for mode, word in (("graph", "set e0.n1 kernel gemm_u32"), ("capture", "endcapture s1 g0"),
                           ("eager", "on s1 kernel"), ("threads", "stream s3")):
            if mode not in MODES:
                continue
            done = self.record(*self.watched(mode))
            self.assertRegex(done.stdout, r"replayed on the model, all [1-9]\d* reads hold the same bytes", mode)
            text = self.program.read_text(encoding="utf-8")
            self.assertIn(word, text, mode)
            self.assertNotIn("not recorded", text, mode)
            self.replays(self.program)

    def test_it_is_a_seed_of_a_corpus(self):
        corpus = self.folder / "corpus"
        corpus.mkdir()
        self.program = corpus / "seed.program"
        self.record(*self.watched("graph"))
        done = run(HGCHECK, "campaign", "--corpus", corpus, "--programs", 2, "--jobs", 1, "--quiet")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_what_a_crash_leaves_is_recorded(self):
        done = self.record(*self.watched("crash"))
        self.assertIn("killed by signal 11", done.stderr)
        self.assertIn("hold the same bytes", done.stdout)
        self.assertIn("# it ended with killed by signal 11", self.program.read_text(encoding="utf-8"))
        self.replays(self.program)

    def test_each_process_has_a_program(self):
        done = self.record(*self.watched("fork"))
        self.assertEqual(done.stdout.count("hold the same bytes"), 2, done.stdout)
        self.replays(self.program)
        self.replays(self.folder / "a-2.program")

    def test_kernels_of_others_replay_from_the_code_object_beside_the_program(self):
        done = self.record(*self.watched("foreign", OTHER_KERNELS))
        self.assertIn("hold the same bytes", done.stdout)
        objects = list(self.folder.glob("*.co"))
        self.assertEqual(len(objects), 1)
        text = self.program.read_text(encoding="utf-8")
        self.assertRegex(text, rf"kernel \S* ?append@{objects[0].stem} .*a1=5")
        self.assertRegex(text, r"capture s1 .*\n# not recorded: hipModuleUnload answered \d+\n")
        self.assertEqual(text.count("# not recorded: the end of a module with a code object of the command\n"), 1)
        self.assertTrue(objects[0].read_bytes().startswith(b"\x7fELF"))
        self.replays(self.program)

        elf = objects[0].read_bytes()
        objects[0].write_bytes(elf[:-1] + b"x")
        replay = run(HGCHECK, "replay", self.program)
        self.assertEqual(replay.returncode, 2)
        self.assertIn("is not the code object that its name says", replay.stderr)
        objects[0].unlink()
        replay = run(HGCHECK, "replay", self.program)
        self.assertEqual(replay.returncode, 2)
        self.assertIn(f"{objects[0].name} has to stand beside the program", replay.stderr)

    def test_a_program_with_its_own_kernels_is_recorded_replayed_and_a_seed(self):
        corpus = self.folder / "corpus"
        corpus.mkdir()
        self.program = corpus / "blur.program"
        done = self.record(RUN, "--agent", RUNTIME, BLUR)
        self.assertRegex(done.stdout, r"^blur \d+\.\d+\n")
        self.assertRegex(done.stdout, r"replayed on the model, all [1-9]\d* reads hold the same bytes")
        text = self.program.read_text(encoding="utf-8")
        self.assertRegex(text, r"set e0\.n0 kernel \S+@[0-9a-f]{16} a0\.0=b\d+\+0 a0\.8=\d+ .* a2=0 "
                               r"grid=3,6,1 block=16,4,1")
        # Nobody says which fields of a struct are pointers.
        self.assertEqual([line for line in text.splitlines() if "not recorded" in line],
                         ["# not recorded: a-managed-variable:-work-that-names-it-is-not-recorded",
                          "# not recorded: whether a0.0 of _Z4blur5ImagePKfS1_ is a pointer: it equals an address and "
                          "is taken for one"])
        self.replays(self.program, "--subject", "rocm-soft@7.2:patch")
        self.replays(self.program, "--subject", "model:update")
        export = run(HGCHECK, "export", self.program)
        self.assertEqual(export.returncode, 2)
        self.assertIn("has no stand-alone form: only its code object is known", export.stderr)
        done = run(HGCHECK, "campaign", "--corpus", corpus, "--programs", 40, "--seed", 2, "--jobs", 1, "--quiet")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_program_whose_graphs_go_at_once_is_recorded_whole(self):
        done = self.record(RUN, "--agent", RUNTIME, ANEW)
        self.assertRegex(done.stdout, r"replayed on the model, all 4 reads hold the same bytes")
        text = self.program.read_text(encoding="utf-8")
        self.assertNotIn("not recorded", text)
        self.assertEqual([text.count(word) for word in ("instantiate e0 g0", "update e0 g", "destroy g")], [1, 3, 4])
        self.replays(self.program, "--subject", "rocm-soft@7.2:update")

    def test_a_program_whose_threads_capture_at_the_same_time_is_recorded_whole(self):
        for _ in range(4):
            done = self.record(RUN, "--agent", RUNTIME, CAPTURING)
            self.assertRegex(done.stdout, r"replayed on the model, all 3 reads hold the same bytes")
            text = self.program.read_text(encoding="utf-8")
            self.assertNotIn("not recorded", text)
            self.assertEqual(text.count("mode=thread"), 3 * 12)
        self.replays(self.program, "--subject", "rocm-soft@7.2:update")

    def test_text_of_kernels_does_not_mix_with_verdicts(self):
        done = self.record(RUN, "--agent", RUNTIME, KEPT, KERNELS, "text")
        self.assertEqual((done.stdout.count("the device says 7"), done.stderr.count("the device says 7")), (1, 1))
        for arguments, trace in (([], ""), (["--trace"], r"   1  .*\n")):
            done = run(HGCHECK, "replay", self.program, *arguments)
            self.assertRegex(done.stdout, rf"(?s)^{trace}agree\n$")
            self.assertNotIn("the device says", done.stdout)
            self.assertIn("the device says 7\n", done.stderr)

    def test_programs_whose_threads_share_a_device_are_recorded_whole(self):
        for mode, shown in (("pools", "free_async b"), ("collectives", "wait s"), ("mixed", "empty g")):
            with self.subTest(mode=mode):
                done = self.record(RUN, "--agent", RUNTIME, RANKS, mode)
                self.assertRegex(done.stdout, r"replayed on the model, all 3 reads hold the same bytes")
                text = self.program.read_text(encoding="utf-8")
                self.assertNotIn("not recorded", text)
                self.assertIn(shown, text)
                self.replays(self.program, "--subject", "rocm-soft@7.2:update")

    # The lines that a mode has to show, how many reads it has, and the points that are not kept.
    KEPT_MODES = {
        "memory": (r"malloc_async b1 128 s1\n(# .*\n)?on s1 memset dst=b1[^$]*free_async b1 s1\n[^$]*free_async b2 s1\n"
                   r"[^$]*alloc g1\.n0 b\d 128\nmemset g1\.n1[^$]*free g1\.n3 b\d after=n2", 3,
                   ["the contents of new memory of a graph: a memset of all of it is added"]),
        "hands": (r"\ncapture_after s1 none\non s1 memset [^\n]* by_hand\ncapture_after s1 n2 add\n[^$]*"
                  r"on s1 child g0 by_hand\n[^$]*set e0\.n0", 2, []),
        # The first read is of a variable that only the device has written: it had the contents of its code object.
        "variables": (r"buffer b\d 16 variable=factors@[0-9a-f]{16}\n[^$]*capture s1 [^$]*memcpy dst=b\d\+0 [^$]*"
                      r"memcpy g0\.n2 [^$]*set e0\.n2 memcpy [^$]*buffer b\d 1024 symbol=1 module=m0\n", 5, []),
        "modules": (r"unload m0\non s1 kernel inplace_u32 [^\n]*module=m1\nsync s1\nunload m1[^$]*module=m2", 2, []),
        "beside": (r"on s2 memcpy dst=b\d\+0 src=b\d\+0 bytes=16 kind=h2d wait[^$]*endcapture s1[^$]*endcapture s2", 4,
                   ["hipMalloc answered 900", "hipStreamEndCapture answered 901"]),
        "turns": (r"(write b\d at=0 hex=[^$]*){4}set g0\.n0 kernel \S+ a0=b\d\+0 a1=5 grid=1,1,1 block=16,1,1", 2, []),
        # Only the host's own bytes are written: the kernel's, the copy's and the memset's are not.
        "pinned": (r"memory=pinned\nwrite b1 [^\n]*\n(# [^\n]*\n)?on s1 kernel \S*put_in[^\n]*\nsync s1\non s0 memcpy "
                   r"dst=b1\+0 [^\n]*\nread b0\nwrite b1 [^\n]*\non s0 memset dst=b1\+0 [^\n]* wait\nread b1\n", 2,
                   ["whether a0.0 of _Z6put_in5Cells is a pointer: it equals an address and is taken for one"]),
        "rows": (r"on s0 memcpy3d dst=b0\+\d+ src=b\d\+0 width=20 height=4 [^\n]* spitch=20 [^\n]* wait\n[^$]*"
                 r"on s1 memcpy3d [^$]*on s1 memcpy3d [^$]*capture s1 [^$]*on s1 memcpy3d [^\n]*\non s1 memset "
                 r"dst=b1\+0 [^\n]* height=6 pitch=40\nendcapture s1", 2, []),
        "forms": (r"kernel g0\.n0 [^\n]* form=generic\nmemset g0\.n1 [^\n]* form=generic after=n0\nmemcpy3d g0\.n2 "
                  r"[^\n]* form=driver after=n1\nset g0\.n0 [^\n]* a1=13 [^\n]* form=generic\nattribute g0\.n0 "
                  r"cooperative=0\n[^$]*set e0\.n1 memset [^\n]* form=generic", 2, []),
        "resources": (r"pool p0\npool_attribute p0 release_threshold=1048576\n[^$]*malloc_async b2 128 s1 pool=p0\n"
                      r"[^$]*userobject u0\nretain u0 g0 move\n[^$]*pool_trim p0 0\ndestroy p0", 1, []),
    }

    def test_memory_of_graphs_nodes_by_hand_modules_and_what_is_beside_captures_are_kept(self):
        for mode, (shown, reads, not_kept) in self.KEPT_MODES.items():
            with self.subTest(mode=mode):
                done = self.record(RUN, "--agent", RUNTIME, KEPT, KERNELS, mode)
                self.assertIn(f"replayed on the model, all {reads} reads hold the same bytes", done.stdout)
                text = self.program.read_text(encoding="utf-8")
                self.assertRegex(text, shown)
                self.assertEqual(re.findall("# not recorded: (.*)", text), not_kept)
                # Open: 7.2 poisons three of five replays where a user object is moved into a graph.
                real = mode != "resources"
                self.replays(self.program, "--subject", "rocm-soft@7.2:patch" if real else "model:patch")

    def logs_of(self, *command):
        """The logs of the processes of a command into which only the recorder is preloaded."""
        library = shutil.copy(pathlib.Path(HGCHECK).parent.with_name("lib") / "libhgrecorder.so", self.folder)
        subprocess.run(command, timeout=PATIENCE, check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "LD_PRELOAD": library})
        return [log.read_text("latin-1") for log in self.folder.glob("log.*")]

    def test_a_variable_is_said_once_at_each_address(self):
        log, = self.logs_of(RUN, "--agent", RUNTIME, KEPT, KERNELS, "variables")
        said = collections.Counter(re.findall(r"^variable (\S+ \S+ \S+ \S+ \S+)$", log, re.M))
        self.assertEqual((len(said), set(said.values())), (5, {1}), said)  # weights has two addresses

    def test_a_thread_may_name_a_variable_while_it_captures(self):
        done = self.record(RUN, "--agent", RUNTIME, TOGETHER, KERNELS, "variables")
        self.assertIn("replayed on the model, all 2 reads hold the same bytes", done.stdout)
        text = self.program.read_text(encoding="utf-8")
        self.assertNotIn("not recorded", text)
        self.assertRegex(text, r"\ncapture s1 mode=thread\non s1 memset [^\n]*\non s1 kernel [^\n]*\n"
                               r"endcapture s1 g0\n")
        self.replays(self.program, "--subject", "rocm-soft@7.2:patch")

    def test_cooperative_launches_are_recorded(self):
        done = self.record(RUN, "--agent", RUNTIME, TOGETHER, KERNELS, "cooperative")
        self.assertIn("replayed on the model, all 2 reads hold the same bytes", done.stdout)
        text = self.program.read_text(encoding="utf-8")
        self.assertNotIn("not recorded", text)
        self.assertRegex(text, r"\non s1 kernel inplace_u32 [^\n]*module=m0 cooperative\non s1 kernel [^\n]*by_symbol "
                               r"cooperative\n[^$]*\ncapture s1 [^\n]*\non s1 kernel [^\n]* by_symbol cooperative\n")
        self.replays(self.program, "--subject", "rocm-soft@7.2:patch")

    def test_a_child_does_not_wait_for_locks_of_threads_that_it_does_not_have(self):
        logs = self.logs_of(FORKING)
        self.assertEqual(len(logs), 1 + 10)
        self.assertEqual([log for log in logs if not re.search("^(@ [0-9a-f]+ )?work .* fill ", log, re.M)], [])

    def test_what_could_not_be_recorded_is_said_and_shows_in_the_bytes(self):
        done = self.record(*self.watched("pitched"), status=1)
        self.assertIn("not recorded: hipStreamWriteValue32 has no command (x1)", done.stderr)
        self.assertIn("# not recorded: hipStreamWriteValue32 has no command",
                      self.program.read_text(encoding="utf-8"))
        self.assertRegex(done.stdout, r"other bytes: line \d+: 512 bytes from b2\+0")

    def test_large_contents_are_recorded_in_pieces_up_to_a_bound(self):
        done = self.record(*self.watched("large"), status=1)
        self.has_large_contents(self.program)
        self.assertIn("not recorded: contents past 4 MiB at once or 8 MiB in all: a pattern of their hash stands for "
                      "them (x2)", done.stderr)
        self.assertEqual(done.stdout.count("other bytes"), 2)
        for number, size in ((1, 5), (3, 4)):
            self.assertRegex(done.stdout, rf"other bytes: line \d+: {size << 20} bytes from b{number}\+0")

    # 150,000 bytes, and 5, 4, 4 and 3 MiB: the first of 4 MiB leaves no room for the second, and room for 3 MiB.
    def has_large_contents(self, program):
        text = program.read_text(encoding="utf-8")
        self.assertEqual([text.count(f"write b{i} at=") for i in range(5)], [3, 0, 64, 0, 48])

    # On the model's runtime: AMD's does not work in the child of a process that has used it.
    def test_the_log_of_a_child_has_room_of_its_own_for_large_contents(self):
        self.record(RUN, "--agent", pathlib.Path(RUNTIME).with_name("dropin"), PROGRAM, KERNELS, "anew", status=1)
        for program in (self.program, self.folder / "a-2.program"):
            self.has_large_contents(program)

    def test_an_interrupt_is_the_commands_to_answer(self):
        # To the whole group, as a terminal does it, before the command has made its first call. A shell cannot trap
        # what was ignored when it began: the trap works only if the command was given back what hgcheck ignores.
        script = "trap 'echo interrupted' INT; kill -INT 0; exec \"$@\""
        done = subprocess.run([HGCHECK, "record", "-o", self.program, "--", "sh", "-c", script, "sh",
                               *self.watched("graph")],
                              capture_output=True, text=True, timeout=PATIENCE, check=False, start_new_session=True,
                              preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue(done.stdout.startswith("interrupted\n"), done.stdout)
        self.assertIn("hold the same bytes", done.stdout)

    def test_a_command_without_hip_is_refused_with_a_reason(self):
        self.assertIn("no call of HIP was seen", self.record("true", status=2).stderr)
        done = self.record("/no/such/command", status=2)
        self.assertIn("No such file or directory", done.stderr)
        self.assertFalse(self.program.exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
