#!/usr/bin/python3
"""Makes a wheel of what is built, installs it into a venv, and uses it there, with nothing of the build tree: the
program of README.md, each provider, and a run of the installation after it was moved. Uses no network."""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "integration" / "install"))

import readme_examples  # noqa: E402

# Prints the providers that are found, and which files the process has mapped of ephost.
PROVIDERS = """
import sys, numpy, ephost
for provider, isolation in (("dnnl", "worker"), ("cpu", "none"), ("dnnl", "none")):
    options = ephost.SessionOptions()
    options.add_session_config_entry("session.isolation", isolation)
    session = ephost.InferenceSession(sys.argv[1], options, [provider])
    session.run(None, {one.name: numpy.ones(one.shape, numpy.float32) for one in session.get_inputs()})
print(*ephost.get_available_providers(), ephost.ephost_version)
mapped = {line.split()[-1] for line in open("/proc/self/maps") if "ephost" in line.rsplit("/", 1)[-1]}
assert len(mapped) >= 4, mapped
assert all(file.startswith(sys.prefix + "/") for file in mapped), (sys.prefix, mapped)
"""


class Trial:
    def __init__(self, arguments):
        self.arguments, self.work = arguments, pathlib.Path(arguments.work)
        shutil.rmtree(self.work, ignore_errors=True)
        (self.work / "home").mkdir(parents=True)
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.work / "home"), "PIP_NO_INDEX": "1", "PYTHONDONTWRITEBYTECODE": "1",
                            "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_ROOT_USER_ACTION": "ignore"}
        self.model = shutil.copy(pathlib.Path(arguments.models) / "tiny_cnn" / "model.onnx", self.work)

    def run(self, *command, status=0):
        print("$", *(str(word) for word in command if "\n" not in str(word)), flush=True)
        done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env=self.environment, cwd=self.work, check=False, timeout=500)
        assert done.returncode == status, f"exit status {done.returncode}:\n{done.stdout}"
        return done.stdout

    def make_wheel(self):
        source = ROOT / "host" / "python"
        before = set(source.rglob("*"))
        self.run(self.arguments.python, "-m", "pip", "wheel", "--no-build-isolation",
                 f"--config-settings=build-dir={self.arguments.build}", "--wheel-dir", self.work, source)
        left = {path for path in set(source.rglob("*")) - before if "__pycache__" not in path.parts}
        assert not left, f"the wheel was made with files left in the sources: {left}"
        wheel, = self.work.glob("*.whl")
        return wheel

    def check_content(self, wheel):
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
        assert len(names) == len(set(names)), names
        for ending in ("/libephost.so.0", "/ephost/ephost-worker", "/plugins/libephost_cpu.so", "/plugins/libephost_dnnl.so", "/plugins/dnnl.yaml",
                       "/plugins/libephost_image.so", "ephost/_ephost.pyi", "ephost/py.typed", "ephost/backend/backend.py",
                       ".dist-info/RECORD"):
            assert sum(name.endswith(ending) for name in names) == 1, (ending, names)
        with zipfile.ZipFile(wheel) as archive:
            metadata = archive.read(next(name for name in names if name.endswith("/METADATA"))).decode()
        head = metadata.split("\n\n")[0].splitlines()
        assert "Requires-External: python3-numpy" in head and "Requires-Dist: numpy" not in head, head
        stray = [name for name in names if not name.startswith("ephost/") and ".dist-info/" not in name]
        assert not stray and not [name for name in names if "__pycache__" in name], names

    def check_refusals(self):
        """A build without the package cannot become a wheel."""
        (self.work / "empty").mkdir()
        (self.work / "empty" / "CMakeCache.txt").write_text("")
        said = self.run(self.arguments.python, "-m", "pip", "wheel", "--no-build-isolation",
                        f"--config-settings=build-dir={self.work / 'empty'}", "--wheel-dir", self.work / "none",
                        ROOT / "host" / "python", status=1)
        assert "has not configured the Python package" in said, said

    def check_installed(self, python):
        said = self.run(python, "-I", "-c", PROVIDERS, self.model).split()
        assert said[:-1] == ["DnnlExecutionProvider", "ImageExecutionProvider", "CPUExecutionProvider"], said
        said = self.run(python, "-I", self.work / "readme" / "main.py", self.model)
        assert said.startswith("logits: ") and len(said.split()) == 11, said


def main():
    parser = argparse.ArgumentParser()
    for name in ("python", "build", "models", "work"):
        parser.add_argument(f"--{name}", required=True)
    trial = Trial(parser.parse_args())
    wheel = trial.make_wheel()
    trial.check_content(wheel)
    trial.check_refusals()
    venv = trial.work / "venv"
    trial.run(trial.arguments.python, "-m", "venv", "--system-site-packages", venv)
    trial.run(venv / "bin" / "python", "-m", "pip", "install", wheel)
    readme_examples.write_examples(trial.work / "readme")
    trial.check_installed(venv / "bin" / "python")
    trial.run(venv / "bin" / "python", "-m", "pip", "uninstall", "--yes", "ephost")
    left = list(venv.glob("lib/*/site-packages/ephost*"))
    assert not left, f"files are left after the package was removed: {left}"
    print("wheel: made, installed, used and removed")


if __name__ == "__main__":
    main()
