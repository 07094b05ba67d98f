"""Runs plugin_sdk/VENDOR_GUIDE.md with what a vendor has installed: every command has to print what the page says."""

import os
import pathlib
import sys
import tempfile
import unittest

import installation

SOURCE = pathlib.Path(__file__).resolve().parents[3]
PAGE = SOURCE / "plugin_sdk" / "VENDOR_GUIDE.md"
sys.path.insert(0, str(SOURCE / "tests" / "integration" / "tour"))
import tour  # noqa: E402


class VendorGuideTest(unittest.TestCase):
    def test_every_command_prints_what_the_page_says(self):
        steps = tour.read_steps(PAGE.read_text())
        self.assertGreater(len(steps), 20)
        with tempfile.TemporaryDirectory() as name:
            prefix = pathlib.Path(name).resolve() / "prefix"
            folder = prefix.parent / "work"
            folder.mkdir()
            installation.install(os.environ["CMAKE"], os.environ["EPHOST_BUILD"], prefix)
            environment = tour.environment_of(prefix / "bin" / "ephost", SOURCE, folder)
            environment["PREFIX"] = str(prefix)
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
