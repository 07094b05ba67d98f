"""Makes wheels (PEP 517) with CMake and Python's own modules alone.

  pip wheel --no-build-isolation host/python

The wheel has the package, and below it in _installation what `cmake --install` puts below any prefix: the library, the
program that runs plugins in processes of their own, the plugins and their manifests. --config-settings=build-dir=FOLDER takes what is built in that folder; otherwise everything
is built in build/wheel, beside the sources.
"""
import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
COMPONENTS = ("libephost", "plugin_cpu", "plugin_dnnl", "plugin_image")
TARGETS = ("ephost_shared", "ephost_worker_main", "ephost_cpu", "ephost_dnnl", "ephost_image", "python_package")
OLDEST_TIME = (1980, 1, 1, 0, 0, 0)  # that a zip file can state; the same files make the same wheel


class UnsupportedOperation(Exception):
    """PEP 517's name for what a backend cannot do."""


def get_requires_for_build_wheel(config_settings=None):
    return []


def get_requires_for_build_sdist(config_settings=None):
    return []


def build_sdist(sdist_directory, config_settings=None):
    raise UnsupportedOperation("the package is built from the whole tree of ephost, so a source distribution of "
                               f"{HERE} alone would not do; make a wheel, or copy {ROOT}")


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    folder = pathlib.Path(metadata_directory) / info_folder()
    folder.mkdir()
    for name, text in info_files().items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    given = (config_settings or {}).get("build-dir")
    build = pathlib.Path(given).resolve() if given else build_tree()
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        install(build, tree)
        wheel = pathlib.Path(wheel_directory) / f"ephost-{version()}-{tag()}.whl"
        write_wheel(wheel, tree)
    return wheel.name


def version():
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"^project\(ephost VERSION ([\d.]+)", text, re.MULTILINE)[1]


def tag():
    """The tag of this interpreter: the extension is for it alone."""
    name = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{name}-{name}-{re.sub('[-.]', '_', sysconfig.get_platform())}"


def info_folder():
    return f"ephost-{version()}.dist-info"


def info_files():
    """The files of the wheel's dist-info but RECORD."""
    head = ("Metadata-Version: 2.1", "Name: ephost", f"Version: {version()}",
            "Summary: Runs ONNX models on execution-provider plugins, with the names of onnxruntime",
            "License: Apache-2.0", "Requires-Python: >=3.9", "Requires-External: python3-numpy",
            "Description-Content-Type: text/markdown")
    page = (HERE / "README.md").read_text(encoding="utf-8")
    wheel = ("Wheel-Version: 1.0", "Generator: ephost", "Root-Is-Purelib: false", f"Tag: {tag()}")
    return {"METADATA": "\n".join(head) + "\n\n" + page, "WHEEL": "\n".join(wheel) + "\n"}


def build_tree():
    build = ROOT / "build" / "wheel"
    run("cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DEPHOST_BUILD_TESTS=OFF",
        f"-DPython_EXECUTABLE={sys.executable}")
    run("cmake", "--build", build, "--target", *TARGETS)
    return build


def run(*command):
    subprocess.run([str(word) for word in command], check=True)


def cached(build, name):
    """What CMake has stored under a name."""
    text = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    found = re.search(rf"^{name}:\w+=(.*)$", text, re.MULTILINE)
    if found is None:
        raise RuntimeError(f"{build} has not configured the Python package ({name} is not in its CMakeCache.txt); "
                           "install python3-dev and pybind11-dev, and configure it again")
    return found[1]


def install(build, tree):
    """Package and installation below `tree`, as in the wheel."""
    if cached(build, "EPHOST_PYTHON_VERSION") != "{}.{}".format(*sys.version_info):
        raise RuntimeError(f"{build} has the extension for Python {cached(build, 'EPHOST_PYTHON_VERSION')}, and the wheel "
                           "is made with {}.{}; use the same Python".format(*sys.version_info))
    with tempfile.TemporaryDirectory() as folder:
        prefix = pathlib.Path(folder)
        for component in ("python", *COMPONENTS):
            run("cmake", "--install", build, "--prefix", prefix, "--component", component, "--strip")
        package = prefix / cached(build, "EPHOST_PYTHON_FOLDER") / "ephost"
        package.rename(tree / "ephost")
        copy_without_links(prefix, tree / "ephost" / "_installation")


def copy_without_links(source, target):
    """Zip files have no links: a library is in the wheel under the name that programs load."""
    files = [path for path in source.rglob("*") if path.is_file()]
    renamed = {path.resolve() for path in files if path.is_symlink()}
    for path in files:
        if path.is_symlink() or path.resolve() not in renamed:
            copy = target / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)


def write_wheel(wheel, tree):
    info, rows = info_folder(), []
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        def add(name, data, mode=0o644):
            entry = zipfile.ZipInfo(name, OLDEST_TIME)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append(f"{name},sha256={digest},{len(data)}")

        for path in sorted(tree.rglob("*")):
            if path.is_file():
                add(path.relative_to(tree).as_posix(), path.read_bytes(), 0o755 if os.access(path, os.X_OK) else 0o644)
        for name, text in info_files().items():
            add(f"{info}/{name}", text.encode())
        archive.writestr(zipfile.ZipInfo(f"{info}/RECORD", OLDEST_TIME), "\n".join([*rows, f"{info}/RECORD,,", ""]))
