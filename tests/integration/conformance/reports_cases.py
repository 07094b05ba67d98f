#!/usr/bin/python3
"""The reports of the kit, and its list of checks."""

import json
import pathlib
import re
import sys
import unittest
import xml.etree.ElementTree

import kit

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import html_page

README = pathlib.Path(__file__).resolve().parents[3] / "host" / "conformance" / "README.md"


class ReportCases(kit.KitTest):
    def checks(self):
        return json.loads(self.validate("--list", "--format", "json").stdout)["checks"]

    def test_ids_and_names_are_unique(self):
        checks = self.checks()
        for key in ("id", "name"):
            values = [check[key] for check in checks]
            self.assertEqual(len(values), len(set(values)), values)

    def test_every_check_has_a_rule_and_a_sentence(self):
        for check in self.checks():
            with self.subTest(check=check["id"]):
                self.assertRegex(check["rule_title"], r"^[A-Z`]")
                self.assertEqual(check["id"].split(".")[0], str(check["rule"]))
                self.assertRegex(check["name"], r"^[a-z0-9]+(-[a-z0-9]+)*$")
                self.assertRegex(check["title"], r"^[A-Za-z].*[^.]$")

    def test_the_page_lists_every_check(self):
        listed = re.findall(r"^\| (\d+\.\d+) \| `([^`]+)` \| (.*) \|$", README.read_text(), re.MULTILINE)
        wanted = [(check["id"], check["name"], check["title"] + ("" if check["level"] == "basic" else " (full)"))
                  for check in self.checks()]
        self.assertEqual(sorted(listed), sorted(wanted))

    def test_the_table_groups_checks_by_rule_and_explains_failures(self):
        said = self.validate(kit.fixture("other_vendor"), "--check", "8", "--check", "21.1", "--reproduce", 77,
                             status=1).stdout
        self.assertIn("rule 8: The manifest is a promise.\n  passed    8.1", said)
        self.assertIn("left out  21.1", said)
        self.assertRegex(said, r"FAILED 8\.2 manifest-and-library \(rule 8: .*\)\n  the vendor is .*\n    what to do: ")
        self.assertRegex(said, r"again: ephost validate \S+other_vendor.yaml --check 8.2 --level basic --reproduce 77\n")
        self.assertRegex(said, r"fixture: 1 passed, 1 failed, 2 left out, 0 excluded in ")

    def test_the_line_that_repeats_a_check_has_what_decided_it(self):
        data = self.folder / "my data"
        data.mkdir()
        exclusions = self.folder / "exclusions.yaml"
        exclusions.write_text("exclusions: []\n")
        manifest = self.copy("other_vendor")
        said = self.validate(manifest, "--check", "8.2", "--reproduce", 7, "--isolation", "worker", "--plugin-path",
                             "plugins", "--data", data, "--exclusions", exclusions, status=1).stdout
        self.assertIn(f"again: ephost validate {manifest} --check 8.2 --level basic --reproduce 7 --isolation worker "
                      f"--plugin-path {self.folder}/plugins --data '{data}' --exclusions {exclusions}\n", said)

    def test_what_is_to_be_reproduced_gets_more_time(self):
        def tried(*arguments):
            said = self.validate(kit.PLUGINS / "cpu.yaml", "--check", "backend-tests", "--reproduce", 1, *arguments,
                                 "--format", "json")
            return json.loads(said.stdout)["plugins"][0]["checks"][0]["figures"]["backend tests tried"]
        self.assertGreater(tried(), tried("--time-factor", 1))

    def test_output_of_a_failure_is_shown_on_demand(self):
        arguments = (kit.fixture("faulty"), "--check", "40.1")
        fault = "eph_provider_api.create:segv"
        self.assertNotIn("  output:", self.validate(*arguments, status=1, fault=fault).stdout)
        self.assertIn("  output:", self.validate(*arguments, "--output-on-failure", status=1, fault=fault).stdout)

    def test_each_run_has_another_seed_and_says_which(self):
        seeds = {json.loads(self.validate(kit.fixture("good"), "--check", "21.1", "--format", "json").stdout)
                 ["plugins"][0]["seed"] for _ in range(3)}
        self.assertGreater(len(seeds), 1)

    def test_junit_has_a_case_for_each_check(self):
        file = self.folder / "results.xml"
        self.validate(kit.fixture("other_vendor"), "--check", "8", "--junit", file, status=1)
        suite, = xml.etree.ElementTree.parse(file).getroot()
        self.assertEqual((suite.get("tests"), suite.get("failures"), suite.get("skipped")), ("3", "1", "1"))
        cases = suite.findall("testcase")
        failed = [case for case in cases if case.find("failure") is not None]
        self.assertEqual([case.get("name") for case in failed], ["8.2 manifest-and-library"])
        self.assertIn("vendor", failed[0].find("failure").get("message"))

    def test_junit_survives_what_a_plugin_prints(self):
        file = self.folder / "results.xml"
        self.validate(kit.fixture("faulty"), "--check", "40.1", "--junit", file, status=1,
                      fault="eph_provider_api.create:segv")
        suite, = xml.etree.ElementTree.parse(file).getroot()
        self.assertIsNotNone(suite.find("testcase/system-out"))

    def test_the_page_has_data_and_fetches_nothing(self):
        file = self.folder / "results.html"
        self.validate(kit.fixture("other_vendor"), "--check", "8", "--html", file, status=1)
        page = file.read_text()
        data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page).group(1))
        checks = data["graphs"][0]["checks"]
        self.assertEqual([check["id"] for check in checks], ["8.2", "8.1", "8.3"])  # failures first
        self.assertNotIn("http:", page)
        self.assertIn("default-src 'none'", page)


    def test_the_page_shows_failures_and_filters(self):
        file = "results.html"
        self.validate(kit.fixture("other_vendor"), "--check", "8", "--html", self.folder / file, status=1)
        html_page.check_is_self_contained(self, file)
        root = html_page.page(self.folder, file)
        html_page.check_is_named(self, root)
        rows = root.rows()
        self.assertEqual([row[0] for row in rows], ["failed", "passed", "left out"])
        self.assertIn("What to do: make both the same", rows[0][1])
        script = ("const filter = document.querySelector('input'); filter.value = 'CHECKSUM';"
                  "filter.dispatchEvent(new Event('input'));")
        root = html_page.page(self.folder, file, script)
        shown = [row for row in root.first("tbody").all("tr") if row["hidden"] is None]
        self.assertEqual([row.first("th").text for row in shown], ["8.3 manifest-checksum"])
        self.assertEqual(root.first("span", role="status").text, "1 of 3 checks")


if __name__ == "__main__":
    unittest.main()
