"""Runs `ephost validate` for the test cases beside this file, without regard to what the machine has installed."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

EPHOST = pathlib.Path(os.environ["EPHOST"])
FIXTURES = pathlib.Path(os.environ["EPHOST_FIXTURES"])
EXAMPLES = pathlib.Path(os.environ["EPHOST_EXAMPLES"])
PLUGINS = EPHOST.parent.parent / "lib" / "ephost" / "plugins"

# The rules whose checks need no graph (host/conformance/README.md: loading, interface and devices).
RULES_WITHOUT_GRAPHS = (1, 2, 3, 5, 6, 8, 9, 10, 12, 13, 14, 15, 17, 18, 19, 23, 29, 31, 37, 38, 40, 42, 44, 45, 46, 47,
                        48, 59, 65)


def fixture(name):
    return FIXTURES / name / f"{name}.yaml"


class KitTest(unittest.TestCase):
    """Each case has its own folder, in which the command runs, and in which it makes its scratch folders."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name).resolve()
        self.device_fault = ""
        self.scratch = self.folder / "scratch"
        self.scratch.mkdir()

    def copy(self, name):
        """The manifest of a copy of a fixture, which a case may change, and beside which it may put files."""
        folder = self.folder / name
        shutil.copytree(FIXTURES / name, folder)
        return folder / f"{name}.yaml"

    def environment(self, fault=None):
        kept = {name: value for name, value in os.environ.items()
                if name == "EPHOST_ALLOW_WRITABLE_PLUGINS" or not name.startswith(("EPHOST_", "XDG_"))}
        kept["EPHOST_TEST_DEVICE_FAULT"] = self.device_fault
        kept.update(HOME=str(self.folder), XDG_DATA_DIRS=str(self.folder), TMPDIR=str(self.scratch))
        if fault:
            kept["EPHOST_FAULT"] = fault
        return kept

    def run_kit(self, *arguments, fault=None):
        result = subprocess.run([EPHOST, "validate", *map(str, arguments)], cwd=self.folder,
                                env=self.environment(fault), capture_output=True, text=True, timeout=600)
        self.assertEqual(list(self.scratch.iterdir()), [], "scratch folders were left")
        return result

    def validate(self, *arguments, status=0, fault=None):
        """The finished process; a failure of the test if it ends with another status."""
        result = self.run_kit(*arguments, fault=fault)
        self.assertEqual(result.returncode, status, f"{arguments}\n{result.stdout}{result.stderr}")
        return result

    def results(self, manifest, *arguments, status=0, fault=None):
        """Check id -> its result, of the one plugin; a failure of the test if the kit ends with another status."""
        time = [] if "--time-factor" in arguments else ["--time-factor", 1]
        said = self.run_kit(manifest, *arguments, "--reproduce", 1, *time, "--format", "json", fault=fault)
        plugins = json.loads(said.stdout)["plugins"] if said.stdout else []
        checks = {check["id"]: check for plugin in plugins for check in plugin["checks"]}
        failed = [check for check in checks.values() if check["result"] == "failed"]
        self.assertEqual(said.returncode, status, f"{json.dumps(failed, indent=1)}\n{said.stderr}")
        self.assertEqual(len(plugins), 1)
        return checks

    def only_result(self, *arguments, **keywords):
        result, = self.results(*arguments, **keywords).values()
        return result
