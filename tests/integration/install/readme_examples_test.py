#!/usr/bin/python3
"""Tests of readme_examples.py."""
import pathlib
import tempfile
import unittest

import readme_examples


def section(heading, *blocks):
    return f"## {heading}\n\nText.\n\n" + "".join(f"```{language}\n{text}\n```\n\n" for language, text in blocks)


COMPLETE = (section("First", ("sh", "ls")) + section("Use it from C++", ("cpp", "in C++")) +
            section("Use it from C", ("c", "in C")) +
            section("Use it from Python", ("python", "in Python")) +
            section("Build an application", ("cmake", "build"), ("sh", "by hand")) + section("Last", ("c", "other")))


class ReadmeExamples(unittest.TestCase):
    def test_takes_each_example_from_below_its_heading(self):
        self.assertEqual(readme_examples.examples_of(COMPLETE),
                         {"main.cc": "in C++\n", "main.c": "in C\n", "main.py": "in Python\n", "CMakeLists.txt": "build\n",
                          "build.sh": "by hand\n"})

    def test_refuses_a_readme_without_one_of_them(self):
        for block in ("```cpp\nin C++\n```", "```c\nin C\n```", "```python\nin Python\n```",
                      "```cmake\nbuild\n```", "```sh\nby hand\n```"):
            self.assertEqual(COMPLETE.count(block), 1)
            with self.assertRaisesRegex(ValueError, "has 0 blocks"):
                readme_examples.examples_of(COMPLETE.replace(block, ""))

    def test_refuses_a_second_one_below_the_same_heading(self):
        twice = COMPLETE + section("Use it from C", ("c", "again"))
        with self.assertRaisesRegex(ValueError, "has 2 blocks of c below \"Use it from C\""):
            readme_examples.examples_of(twice)

    def test_writes_what_the_readme_has(self):
        with tempfile.TemporaryDirectory() as folder:
            readme_examples.write_examples(pathlib.Path(folder) / "new")
            written = {path.name for path in (pathlib.Path(folder) / "new").iterdir()}
        self.assertEqual(written, set(readme_examples.EXAMPLES))


if __name__ == "__main__":
    unittest.main()
