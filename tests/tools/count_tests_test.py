#!/usr/bin/env python3
"""tools/count-tests counts a JUnit file of ctest's and says where each failed test failed.

usage: count_tests_test.py COUNT_TESTS [TEST]
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

COUNT_TESTS = pathlib.Path(sys.argv.pop(1)).resolve()
PASSED = '<testcase name="A.Passes" status="run"><system-out>fine</system-out></testcase>'


def case(name, output):
    return (f'<testcase name="{name}" status="fail"><failure message="Failed"/>'
            f'<system-out>{output}</system-out></testcase>')


def count(path):
    return subprocess.run([sys.executable, "-B", COUNT_TESTS, path], capture_output=True, text=True, check=False)


def counted(*cases):
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
        file.write("<testsuite>" + "".join(cases) + "</testsuite>")
        file.flush()
        return count(file.name)


class CountTests(unittest.TestCase):
    def test_all_passed_is_one_line(self):
        done = counted(PASSED)
        self.assertEqual((done.returncode, done.stdout), (0, "1 passed, 0 failed\n"))

    def test_a_failed_test_says_where_before_the_last_line(self):
        noise = "".join(f"noise {i}\n" for i in range(100))
        done = counted(PASSED, case("B.Fails", noise + "b_test.cpp:7: Failure\nExpected: 1\n" + noise))
        lines = done.stdout.splitlines()
        self.assertEqual(done.returncode, 1)
        self.assertEqual(lines[:3], ["failed: B.Fails", "    b_test.cpp:7: Failure", "    Expected: 1"])
        self.assertEqual(len(lines), 50)
        self.assertEqual(lines[-1], "1 passed, 1 failed")

    def test_an_output_without_a_known_failure_shows_its_end(self):
        done = counted(case("C.Dies", "".join(f"line {i}\n" for i in range(100)) + "x" * 1000))
        lines = done.stdout.splitlines()
        self.assertEqual(lines[-2], "    " + "x" * 237 + "...")
        self.assertEqual(lines[-3], "    line 99")

    def test_the_surest_sign_of_a_failure_counts_wherever_it_stands(self):
        signs = ["tool: error: no such file", "Traceback (most recent call last):",
                 "==7==ERROR: AddressSanitizer: heap-use-after-free", "FAIL: test_it (Case)", "b_test.cpp:7: Failure"]
        for number, sign in enumerate(signs, 1):
            done = counted(case("B.Fails", "\n".join(signs[:number])))
            self.assertEqual(done.stdout.splitlines()[1:-1], [f"    {sign}"])

    def test_many_failures_share_the_lines(self):
        output = "".join(f"line {i}\n" for i in range(100))
        done = counted(*(case(f"D.Fails{i}", output) for i in range(12)))
        self.assertEqual(len(done.stdout.splitlines()), 12 * (1 + 4) + 1)

    def test_more_failures_than_are_shown_are_a_number(self):
        output = "".join(f"line {i}\n" for i in range(100))
        for number, rest in ((13, "and 1 more failed test"), (500, "and 488 more failed tests")):
            done = counted(PASSED, *(case(f"D.Fails{i}", output) for i in range(number)))
            lines = done.stdout.splitlines()
            self.assertEqual(lines[-2:], [rest, f"1 passed, {number} failed"])
            self.assertEqual(len(lines), 12 * (1 + 4) + 2)

    def test_a_test_that_did_not_start_failed_and_one_that_skips_itself_did_not(self):
        done = counted('<testcase name="E.Absent" status="notrun"><skipped message=""/></testcase>',
                       '<testcase name="E.Skips" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>'
                       '</testcase>')
        self.assertEqual(done.stdout.splitlines(), ["failed: E.Absent", "0 passed, 1 failed, 1 skipped"])
        self.assertEqual(done.returncode, 1)

    def test_no_file_and_half_a_file_fail(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "results.xml")
            for text in (None, "<testsuite><testcase"):
                if text:
                    path.write_text(text)
                done = count(path)
                self.assertEqual((done.returncode, done.stdout), (1, "0 passed, 0 failed\n"))
                self.assertIn("no test", done.stderr)


if __name__ == "__main__":
    unittest.main()
