"""Runs `ephost` for the test cases beside this file, without regard to what the machine has installed."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

EPHOST = os.environ["EPHOST"]
TINY_MODELS = pathlib.Path(os.environ["EPHOST_TINY_MODELS"])
PLUGINS = pathlib.Path(EPHOST).parent.parent / "lib" / "ephost" / "plugins"


# host/cli/arguments/exit_status.cc
EXIT_STATUS = {"FAIL": 1, "INVALID_ARGUMENT": 2, "NO_SUCHFILE": 4, "NO_MODEL": 4, "INVALID_PROTOBUF": 4,
               "INVALID_GRAPH": 4, "NOT_IMPLEMENTED": 4, "MODEL_REQUIRES_COMPILATION": 4, "EP_FAIL": 5,
               "NOT_FOUND": 5, "ENGINE_ERROR": 6, "OUT_OF_MEMORY": 8, "DEVICE_LOST": 9, "CANCELLED": 10, "RUNTIME_EXCEPTION": 70,
               "DEADLINE_EXCEEDED": 124}


def tiny(name):
    return TINY_MODELS / name / "model.onnx"


class CommandLineTest(unittest.TestCase):
    """Each case has its own folder, in which the commands run."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name).resolve()

    def ephost(self, *arguments, status=0, program=EPHOST, variables=None):
        """
        The finished process; a failure of the test if it ends with another status. `variables` are added to its
        environment.
        """
        environment = {name: value for name, value in os.environ.items()
                       if name == "EPHOST_ALLOW_WRITABLE_PLUGINS" or not name.startswith(("EPHOST_", "XDG_"))}
        environment.update(HOME=str(self.folder), XDG_DATA_DIRS=str(self.folder),
                           XDG_STATE_HOME=str(self.folder / "state"), XDG_CACHE_HOME=str(self.folder / ".cache"),
                           **(variables or {}))
        result = subprocess.run([program, *map(str, arguments)], cwd=self.folder, env=environment,
                                capture_output=True, text=True, timeout=300)
        self.assertEqual(result.returncode, status, f"{arguments}\n{result.stdout}{result.stderr}")
        return result

    def json(self, *arguments, status=0, program=EPHOST):
        return json.loads(
            self.ephost(*arguments, "--format", "json", status=status, program=program).stdout)

    def refusal(self, code, *arguments, status=None, program=EPHOST):
        """
        What a command prints on standard error when it refuses; must be one line with this code. It ends with the
        status of the code, or with the one that is given.
        """
        status = EXIT_STATUS[code] if status is None else status
        error = self.ephost(*arguments, status=status, program=program).stderr
        lines = [line for line in error.splitlines() if line.startswith("error[")]
        self.assertEqual(len(lines), 1, error)
        self.assertTrue(lines[0].startswith(f"error[{code}]: "), error)
        return lines[0]

    def write(self, name, content=""):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        return path

    def copy_model(self, name):
        """A copy of a tiny model's folder; returns the path of its model."""
        shutil.copytree(TINY_MODELS / name, self.folder / name)
        return self.folder / name / "model.onnx"
