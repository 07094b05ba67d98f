#!/usr/bin/python3
"""Every check of the kit has a fixture that fails it, and every fixture is tried."""

import json
import pathlib
import re
import unittest

import defects_cases
import fixtures_cases
import kit

FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "fixtures" / "CMakeLists.txt"

# Checks that no plugin alone can fail, with what would have to be wrong.
WITHOUT_FIXTURE = {
    "6.4": "the host: get_api is asked for the common minor version, whatever else a host knows",
    "23.4": "the host, which checks options against the manifest before a plugin sees them",
}

# Builds of misbehaving_plugin.c that the kit has to take (good_plugins_cases.py).
GOOD = {"good", "two_providers", "newer_minors", "stays_loaded", "next_version"}
# Those of which other tests have to say why they are here.
FOR_OTHER_TESTS = {
    "next_null_create": "null_create in a higher version, for the search of versions",
    "dependent": "depends on a library beside it, and keeps all rules",
    "distant": "depends on a library that depends on another one, and keeps all rules",
}


class CoverageCases(kit.KitTest):
    def checks(self):
        return json.loads(self.validate("--list", "--format", "json").stdout)["checks"]

    def test_every_check_has_a_fixture_that_fails_it(self):
        failed = set(fixtures_cases.OTHERS).union(*(set(cases.values()) for cases in (
            fixtures_cases.DEFECTS, fixtures_cases.FAULTS, fixtures_cases.CARELESS, fixtures_cases.OPERATORS,
            fixtures_cases.STREAMS)))
        by_name = set().union(*defects_cases.DEFECTS.values())
        without = {one["id"] for one in self.checks() if one["id"] not in failed and one["name"] not in by_name}
        self.assertEqual(without, set(WITHOUT_FIXTURE))

    def test_the_tests_name_no_check_that_does_not_exist(self):
        names = {one["name"] for one in self.checks()}
        self.assertLessEqual(set().union(*defects_cases.DEFECTS.values()), names)

    def test_every_build_of_the_misbehaving_plugin_is_tried(self):
        built = set(re.findall(r"^ephost_add_fixture\((\w+)", FIXTURES.read_text(), re.MULTILINE))
        self.assertEqual(built, set(fixtures_cases.DEFECTS) | GOOD | set(FOR_OTHER_TESTS))

    def test_plugins_with_libraries_beside_them_pass(self):
        for name in ("dependent", "distant"):
            with self.subTest(fixture=name):
                rules = [word for rule in (1, 2, 3, 8, 10) for word in ("--check", rule)]
                results = self.results(kit.fixture(name), *rules)
                self.assertEqual(results["10.1"]["result"], "passed")


if __name__ == "__main__":
    unittest.main()
