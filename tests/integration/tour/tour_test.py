"""Runs host/TOUR.md: every command has to print what the page says."""

import os
import pathlib
import re
import tempfile
import unittest

import tour

SOURCE = pathlib.Path(__file__).resolve().parents[3]
PAGE = SOURCE / "host" / "TOUR.md"


class ParserTest(unittest.TestCase):
    """What the page is compared by."""

    def test_reads_commands_and_what_they_print(self):
        steps = tour.read_steps("text\n```console\n$ one\nfirst\n\nsecond\n$ two \\\n> more # status 3\n```\n"
                                "```sh\n$ none\n```\n```console\n$ three\n```\n")
        self.assertEqual([(step.line, step.command, step.status, step.expected) for step in steps],
                         [(3, "one", 0, ["first", "", "second"]), (7, "two \\\nmore # status 3", 3, []),
                          (14, "three", 0, [])])
        with self.assertRaisesRegex(ValueError, "line 2"):
            tour.read_steps("```console\nlost\n```\n")

    def test_compares_lines(self):
        self.assertTrue(tour.agrees(["a  b", "", "c ... d"], ["a b", "c 1 2 d", ""]))
        self.assertTrue(tour.agrees(["a", "...", "b"], ["a", "x", "y", "b"]))
        self.assertTrue(tour.agrees(["a", "...", "b"], ["a", "b"]))
        self.assertTrue(tour.agrees([], ["", ""]))
        for expected, printed in [(["a"], ["a", "b"]), (["a", "b"], ["a"]), (["a.c"], ["abc"]), ([], ["a"]),
                                  (["a ..."], ["b 1"]), (["a", "...", "b"], ["a", "x"])]:
            with self.subTest(expected=expected, printed=printed):
                self.assertFalse(tour.agrees(expected, printed))

    def test_runs_all_steps_in_one_shell(self):
        steps = tour.read_steps("```console\n$ x=1; cd /\n$ echo $x; pwd\n$ false\n$ printf end; echo wrong >&2\n```\n")
        results = [(status, [line for line in printed if line])
                   for _, status, printed in tour.run(steps, "/tmp", {"PATH": "/usr/bin:/bin"})]
        self.assertEqual(results, [(0, []), (0, ["1", "/"]), (1, []), (0, ["endwrong"])])


class TourTest(unittest.TestCase):
    def test_every_command_prints_what_the_page_says(self):
        page = PAGE.read_text()
        titles = re.findall(r"(?m)^## (\d+)\. ", page)
        self.assertEqual(titles, [str(number) for number in range(1, 11)], "the page says that it has ten steps")
        steps = tour.read_steps(page)
        self.assertGreater(len(steps), 20)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name).resolve()
            environment = tour.environment_of(os.environ["EPHOST"], SOURCE, folder)
            ran = 0
            for step, status, printed in tour.run(steps, folder, environment):
                ran += 1
                with self.subTest(step.command):
                    text = "\n".join(printed)
                    self.assertEqual(status, step.status, f"{PAGE}:{step.line}: printed\n{text}")
                    self.assertTrue(tour.agrees(step.expected, printed), f"{PAGE}:{step.line}: printed\n{text}")
            self.assertEqual(ran, len(steps))


if __name__ == "__main__":
    unittest.main()
