#!/usr/bin/python3
"""What the command does with processes that misbehave, and with its options."""

import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

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
                                           env=self.environment("eph_provider_api.create:hang"))
                while not list(self.scratch.iterdir()):
                    time.sleep(0.05)
                process.send_signal(number)
                error = process.communicate(timeout=60)[1]
                self.assertEqual(process.returncode, 128 + number, error)
                self.assertIn("interrupted", error)
                self.assertEqual(list(self.scratch.iterdir()), [])
                self.assert_nothing_runs()

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
                ((good, "--ep", "other"), 2, "none of the providers there, which are fixture"),
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
