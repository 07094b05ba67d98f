#!/usr/bin/python3
"""What the command does with processes that misbehave, and with its options."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest
from xml.etree import ElementTree

import kit


def processes_with(text):
    """Ids of the processes whose environment has the text."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if text.encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return [process for process in found if process != os.getpid()]


class HarnessCases(kit.KitTest):
    def assert_nothing_runs(self):
        """No process of this case is left."""
        for _ in range(100):
            if not processes_with(f"TMPDIR={self.scratch}"):
                return
            time.sleep(0.1)
        self.fail(f"left: {processes_with(f'TMPDIR={self.scratch}')}")

    def test_a_check_that_hangs_is_ended_at_its_deadline(self):
        begin = time.monotonic()
        result = self.only_result(kit.fixture("faulty"), "--check", "40.1", "--deadline", 2, status=1,
                                  fault="eph_provider_api.create:hang")
        self.assertIn("still busy after 2 s", result["findings"][-1]["what"])
        self.assertLess(time.monotonic() - begin, 60)
        self.assert_nothing_runs()

    def test_processes_that_the_plugin_leaves_are_found_and_ended(self):
        result = self.only_result(kit.fixture("faulty"), "--check", "40.1", status=1,
                                  fault="eph_provider_api.create:child")
        self.assertTrue(any("still there" in finding["what"] for finding in result["findings"]), result)
        self.assert_nothing_runs()

    def test_processes_that_leave_their_group_are_found_and_ended(self):
        result = self.only_result(kit.fixture("faulty"), "--check", "40.1", status=1,
                                  fault="eph_provider_api.create:daemon")
        self.assertTrue(any("still there" in finding["what"] for finding in result["findings"]), result)
        self.assert_nothing_runs()

    def test_what_the_loader_prints_is_no_part_of_an_answer(self):
        environment = {**self.environment(), "LD_PRELOAD": "/nowhere/libmissing.so"}
        said = subprocess.run([kit.EPHOST, "validate", kit.fixture("good"), "--check", "21.1"], cwd=self.folder,
                              env=environment, capture_output=True, text=True, timeout=60)
        self.assertIn("cannot be preloaded", said.stderr)
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)

    def test_output_without_end_is_bounded(self):
        result = self.only_result(kit.fixture("faulty"), "--check", "40.1", "--deadline", 3, status=1,
                                  fault="eph_provider_api.create:flood")
        self.assertIn("bytes are left out here", result["output"])
        self.assertLess(len(result["output"]), 2_000_000)

    def test_an_interrupt_ends_everything_in_order(self):
        command = [kit.EPHOST, "validate", kit.fixture("faulty"), "--check", "40", "--check", "39.1"]
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                process = subprocess.Popen(command, cwd=self.folder, text=True, stderr=subprocess.PIPE,
                                           stdout=subprocess.DEVNULL,
                                           env=self.environment("eph_provider_api.create:hang"))
                while not list(self.scratch.iterdir()):
                    time.sleep(0.05)
                process.send_signal(number)
                error = process.communicate(timeout=60)[1]
                self.assertEqual(process.returncode, 128 + number, error)
                self.assertIn("interrupted", error)
                self.assertEqual(list(self.scratch.iterdir()), [])
                self.assert_nothing_runs()

    def interrupt(self, number, *arguments):
        """Standard output of a run whose checks of rule 8 have ended, and which the signal ends while a check of
        rule 40 hangs."""
        process = subprocess.Popen(
            [kit.EPHOST, "validate", kit.fixture("faulty"), "--check", "8", "--check", "40", "-j", "1",
             *map(str, arguments)], cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=self.environment("eph_provider_api.create:hang"))
        self.wait_for_the_hang()
        process.send_signal(number)
        out, error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + number, out + error)
        self.assertIn("interrupted", error)
        return out

    def wait_for_the_hang(self):
        """Until a check of rule 40 has been running for a while."""
        for _ in range(600):
            lines = [pathlib.Path(f"/proc/{process}/cmdline") for process in processes_with(f"TMPDIR={self.scratch}")]
            if any(b"\0check\x0040." in line.read_bytes() for line in lines if line.exists()):
                return
            time.sleep(0.05)
        self.fail("no check of rule 40 began")

    def test_an_interrupted_run_reports_what_it_has_found(self):
        junit, page = self.folder / "results.xml", self.folder / "results.html"
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=number):
                plugin, = json.loads(self.interrupt(number, "--format", "json", "--junit", junit,
                                                    "--html", page))["plugins"]
                self.assertTrue(plugin["interrupted"])
                results = {check["id"]: check for check in plugin["checks"]}
                done = [one["result"] for name, one in results.items() if name.startswith("8.")]
                self.assertNotIn("not run", done)
                not_run = [one for one in results.values() if one["result"] == "not run"]
                self.assertEqual({one["id"].split(".")[0] for one in not_run}, {"40"})
                self.assertEqual(plugin["not_run"], len(not_run))
                suite, = ElementTree.parse(junit).getroot()
                self.assertEqual(int(suite.get("tests")), len(results))
                skipped = [case.find("skipped").get("message") for case in suite.iter("testcase")
                           if case.find("skipped") is not None]
                self.assertEqual(int(suite.get("skipped")), len(skipped))
                self.assertEqual(sum(one.startswith("not run: interrupted") for one in skipped), len(not_run))
                self.assertIn(f"{len(not_run)} not run (interrupted)", page.read_text())
                junit.unlink()
                page.unlink()
        text = self.interrupt(signal.SIGINT)
        self.assertRegex(text, r"(?m)^  (passed|left out) +8\.1 ")
        self.assertRegex(text, r"(?m)^scripted: .*, [1-9]\d* not run \(interrupted\) in ")
        self.assertNotRegex(text, r"(?m)^  not run")

    def test_plugins_after_the_interrupt_are_reported_as_not_run(self):
        shutil.copytree(kit.FIXTURES / "faulty", self.folder / "two")
        shutil.copy(kit.fixture("faulty"), self.folder / "two" / "second.yaml")
        process = subprocess.Popen([kit.EPHOST, "validate", self.folder / "two", "--check", "40", "-j", "1",
                                    "--format", "json"], cwd=self.folder, text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, env=self.environment("eph_provider_api.create:hang"))
        self.wait_for_the_hang()
        process.send_signal(signal.SIGTERM)
        plugins = json.loads(process.communicate(timeout=60)[0])["plugins"]
        self.assertEqual([plugin["interrupted"] for plugin in plugins], [True, True])
        self.assertEqual(plugins[1]["not_run"], len(plugins[1]["checks"]))

    def test_an_exclusion_beside_the_manifest_lets_a_check_fail(self):
        manifest = self.copy("other_vendor")
        exclusions = manifest.parent / "fixture.exclusions.yaml"
        exclusions.write_text("exclusions:\n  - {check: 8.2, reason: renamed last week}\n"
                              "  - {check: host-loads-plugin, reason: the same}\n")
        results = self.results(manifest, "--check", "8.2", "--check", "10.1")
        self.assertEqual({one["result"] for one in results.values()}, {"excluded"})
        self.assertEqual(results["8.2"]["reason"], "renamed last week")

    def test_an_excluded_check_that_passes_fails_unless_it_is_optional(self):
        exclusions = self.folder / "exclusions.yaml"
        exclusions.write_text("exclusions:\n  - {check: 21.1, reason: crashes}\n")
        arguments = (kit.fixture("good"), "--check", "21.1", "--exclusions", exclusions)
        self.assertIn("although it is excluded", self.only_result(*arguments, status=1)["findings"][0]["what"])
        exclusions.write_text("exclusions:\n  - {check: 21.1, reason: crashes at times, optional: true}\n")
        self.assertEqual(self.only_result(*arguments)["result"], "passed")

    def test_exclusions_that_make_no_sense_are_refused_with_their_place(self):
        for text, what in {
                "exclusions:\n  - {check: 21.99, reason: none}\n": ":2:13: unknown check",
                "exclusions:\n  - {check: 21.1}\n": "needs \"check\" and \"reason\"",
                "exclusions:\n  - {check: 21.1, reason: x, until: 2030}\n": "key \"until\"",
                "exclusions:\n  - {check: 21.1, reason: x}\n  - {check: destroy-null, reason: y}\n": "twice",
                "excluded: []\n": "one key, \"exclusions\"",
        }.items():
            with self.subTest(text=text):
                exclusions = self.folder / "exclusions.yaml"
                exclusions.write_text(text)
                error = self.validate(kit.fixture("good"), "--exclusions", exclusions, status=2).stderr
                self.assertIn(what, error)

    def test_wrong_arguments_are_refused(self):
        good = kit.fixture("good")
        for arguments, status, what in (
                ((good, "--check", "destroy-nul"), 2, "did you mean destroy-null?"),
                ((good, "--check", "99"), 2, "--list"),
                ((good, "--ep", "other"), 2, "not one of the providers there, which are fixture"),
                ((good, "--data", self.folder / "missing"), 4, "is not a folder"),
                ((self.folder / "missing.yaml",), 4, "missing.yaml"),
                ((self.scratch,), 4, "has no manifests"),
                ((), 2, "--list")):
            with self.subTest(arguments=arguments):
                self.assertIn(what, self.validate(*arguments, status=status).stderr)

    def test_a_broken_manifest_is_named(self):
        manifest = self.folder / "broken.yaml"
        manifest.write_text("schema: 1\n")
        self.assertIn("broken.yaml:1:1", self.validate(manifest, status=2).stderr)

    def test_checks_are_chosen_by_id_name_and_rule(self):
        good = kit.fixture("good")
        self.assertEqual(set(self.results(good, "--check", "21.1", "--check", "table-sizes")), {"12.1", "21.1"})
        self.assertLessEqual({"6.1", "6.2", "6.3", "6.4"}, set(self.results(good, "--check", "6")))

    def test_a_folder_stands_for_all_its_manifests(self):
        shutil.copytree(kit.FIXTURES / "good", self.folder / "good")
        shutil.copy(kit.fixture("good"), self.folder / "good" / "second.yaml")
        said = self.validate(self.folder / "good", "--check", "21.1", "-j", 1)
        self.assertEqual(said.stdout.count("1 passed, 0 failed"), 2)


if __name__ == "__main__":
    unittest.main()
