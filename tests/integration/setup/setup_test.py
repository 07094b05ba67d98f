#!/usr/bin/python3
"""Tries scripts/setup.sh and scripts/on_debian.sh as far as that needs neither root rights nor a network."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[3] / "scripts"
RELEASES = ("bookworm", "trixie")
NOBODY = 65534


def run(script, *arguments, folder=SCRIPTS, **options):
    return subprocess.run([folder / script, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=60, check=False, **options)


def packages(*arguments):
    done = run("setup.sh", "--print", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


class Setup(unittest.TestCase):
    def test_lists_no_package_twice(self):
        for release in RELEASES:
            for part in ("--build", "--test", "--all"):
                found = packages("--release", release, part)
                self.assertEqual(sorted(found), sorted(set(found)), (release, part))

    def test_adds_packages_from_part_to_part(self):
        for release in RELEASES:
            build, test, everything = (set(packages("--release", release, part))
                                       for part in ("--build", "--test", "--all"))
            self.assertLess(build, test, release)
            self.assertLess(test, everything, release)

    def test_installs_everything_by_default(self):
        self.assertEqual(packages("--release", "trixie"), packages("--release", "trixie", "--all"))

    def test_needs_no_browser_and_no_tests_to_run_the_program(self):
        for release in RELEASES:
            build = packages("--release", release, "--build")
            self.assertFalse({"chromium", "clang", "libgtest-dev"} & set(build), release)

    def test_knows_the_names_of_each_release(self):
        self.assertIn("libclang-rt-14-dev", packages("--release", "bookworm"))
        self.assertIn("libclang-rt-19-dev", packages("--release", "trixie"))

    def test_prints_what_this_machine_needs(self):
        text = pathlib.Path("/etc/os-release").read_text(encoding="utf-8")
        release = next((name for name in RELEASES if f"VERSION_CODENAME={name}\n" in text), None)
        if release is None:
            self.skipTest("not on a Debian release that setup.sh knows")
        self.assertEqual(packages("--build"), packages("--build", "--release", release))

    def test_each_script_asks_for_what_it_needs(self):
        for script, part in (("run.sh", "--build"), ("test.sh", "--test")):
            self.assertIn(f"\nscripts/setup.sh {part}\n", (SCRIPTS / script).read_text(encoding="utf-8"))

    def refuse(self, message, *arguments):
        done = run("setup.sh", *arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn(message, done.stderr)

    def test_refuses_what_it_does_not_know(self):
        self.refuse("there is no option '--everything'", "--everything")
        self.refuse("the packages of 'jammy' are not known", "--print", "--release", "jammy")
        self.refuse("--release needs a name", "--print", "--release")
        self.refuse("--release is for --print only", "--release", "trixie")


class OnDebian(unittest.TestCase):
    def setUp(self):
        self.cache = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.cache)

    def refuse(self, message, *arguments, **options):
        done = run("on_debian.sh", "--cache", self.cache, *arguments, **options)
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertIn(message, done.stderr)
        self.assertEqual(os.listdir(self.cache), [], "something was made before the arguments were checked")

    def test_refuses_a_suite_that_setup_does_not_know(self):
        self.refuse("there is no suite 'jammy' to run on", "jammy", "true")
        self.refuse("there is no suite '../trixie' to run on", "../trixie", "true")

    def test_refuses_to_run_nothing(self):
        self.refuse("give a suite and a command", "trixie")
        self.refuse("give a suite and a command")

    def test_refuses_unknown_options(self):
        self.refuse("there is no option '--suite'", "--suite", "trixie", "true")
        self.refuse("--mirror needs a value", "--mirror")

    def test_says_that_it_needs_root_rights(self):
        options = {}
        if os.geteuid() == 0:  # another user, who may not see this tree
            scripts = pathlib.Path(tempfile.mkdtemp())
            self.addCleanup(shutil.rmtree, scripts)
            scripts.chmod(0o755)
            (scripts / "scripts").mkdir()
            for name in ("setup.sh", "on_debian.sh"):
                shutil.copy(SCRIPTS / name, scripts / "scripts")
            options = {"folder": scripts / "scripts", "user": NOBODY, "group": NOBODY, "extra_groups": []}
        self.refuse("takes root rights", "trixie", "true", **options)


if __name__ == "__main__":
    unittest.main()
