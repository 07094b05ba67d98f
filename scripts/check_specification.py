#!/usr/bin/python3
"""Compares the specification of the context cache with the list of its tests, and that list with the sources.

Prints every clause without a test, every clause that only one of the two documents has, and every test that does not
exist, and exits with 1 if there is one.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLAUSE = re.compile(r"^- \*\*`([a-z_]+\.[a-z_]+)`\*\*", re.MULTILINE)
CC_TEST = re.compile(r"\bTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)")
PYTHON_TEST = re.compile(r"^    def (test_\w+)\(", re.MULTILINE)


def clauses(document):
    """Name of each clause -> what the document says about it."""
    parts = CLAUSE.split((ROOT / "host/context" / document).read_text())
    names = parts[1::2]
    for name in {name for name in names if names.count(name) > 1}:
        raise SystemExit(f"{document}: clause {name} is there twice")
    return dict(zip(names, parts[2::2]))


def existing_tests():
    found = set()
    for path in (ROOT / "tests").rglob("*_test.cc"):
        found.update(f"{suite}.{name}" for suite, name in CC_TEST.findall(path.read_text()))
    for path in (ROOT / "tests/integration/cli").glob("*_cases.py"):
        found.update(f"{path.stem}.{name}" for name in PYTHON_TEST.findall(path.read_text()))
    return found


def main():
    specified = clauses("SPECIFICATION.md")
    tested = {name: re.findall(r"`([^`]+)`", text) for name, text in clauses("SPECIFICATION_TESTS.md").items()}
    exists = existing_tests()
    faults = [f"clause {name} has no test" for name in specified if not tested.get(name)]
    faults += [f"clause {name} is not in the specification" for name in tested if name not in specified]
    faults += [f"test {test} of clause {name} does not exist" for name, tests in tested.items() for test in tests
               if not ((ROOT / test).is_file() if "/" in test else test in exists)]
    print("\n".join(faults or [f"{len(specified)} clauses, each with tests"]))
    return 1 if faults else 0


sys.exit(main())
