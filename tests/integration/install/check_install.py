#!/usr/bin/python3
"""Installs ephost below a prefix, builds programs against it, and moves the prefix.

The programs are the examples of README.md, built as it says from the installed files alone, and one that lists the
plugins. They and the installed command find the installed plugins without any variable, wherever the prefix is.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess

import readme_examples

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[2]


class Trial:
    def __init__(self, arguments):
        self.arguments = arguments
        self.work = pathlib.Path(arguments.work)
        self.prefix = self.work / "prefix"
        home = self.work / "home"
        home.mkdir(parents=True)
        kept = ("PATH", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS")
        self.environment = {name: os.environ[name] for name in kept if name in os.environ}
        self.environment["HOME"] = str(home)

    def run(self, *arguments, **variables):
        print("$", *arguments, flush=True)
        return subprocess.run([str(argument) for argument in arguments], check=True, text=True,
                              stdout=subprocess.PIPE, env={**self.environment, **variables}, timeout=500).stdout

    def install(self):
        self.run(self.arguments.cmake, "--install", self.arguments.build, "--prefix", self.prefix)
        files = {str(path.relative_to(self.prefix)) for path in self.prefix.rglob("*") if not path.is_dir()}
        libdir = self.arguments.libdir
        expected = {f"{libdir}/libephost.so", f"{libdir}/libephost.so.0", f"{libdir}/cmake/ephost/ephostConfig.cmake",
                    f"{libdir}/pkgconfig/ephost.pc", "share/pkgconfig/ephost_plugin_sdk.pc",
                    f"{libdir}/ephost/plugins/libephost_cpu.so", "share/ephost/plugins/cpu.yaml",
                    f"{libdir}/ephost/plugins/libephost_dnnl.so", "share/ephost/plugins/dnnl.yaml",
                    f"{libdir}/ephost/plugins/libephost_image.so", "share/ephost/plugins/image.yaml",
                    "include/ephost/ephost.h", "include/ephost/c_api.h", "include/ephost/plugin_abi.h",
                    "share/ephost_plugin_sdk/templates/common/ci.sh", "share/doc/ephost_plugin_sdk/VENDOR_GUIDE.md",
                    f"{libdir}/ephost/ephost-conformance", f"{libdir}/ephost/ephost-worker", "bin/ephost",
                    "bin/ep_weight_sharing_ctx_gen"}
        assert expected <= files, f"not installed: {sorted(expected - files)}"
        stray = [file for file in files if file.endswith((".a", ".cc"))
                 and not file.startswith(("share/ephost_plugin_sdk/examples/", "share/ephost_plugin_sdk/templates/"))]
        assert not stray, f"internal files are installed: {stray}"

    def configure_and_build(self, source, build, *options):
        flags = self.arguments.compiler_flags
        self.run(self.arguments.cmake, "-S", source, "-B", build, "-G", self.arguments.generator,
                 f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCMAKE_C_COMPILER={self.arguments.compiler}",
                 f"-DCMAKE_CXX_COMPILER={self.arguments.cxx_compiler}", f"-DCMAKE_C_FLAGS={flags}",
                 f"-DCMAKE_CXX_FLAGS={flags}", *options)
        self.run(self.arguments.cmake, "--build", build)

    def install_list_plugins(self):
        """Into the same prefix, from where it finds the library by a relative path."""
        build = self.work / "list_plugins"
        rpath = f"$ORIGIN/{os.path.relpath(self.prefix / self.arguments.libdir, self.prefix / 'bin')}"
        self.configure_and_build(HERE / "list_plugins", build, f"-DCMAKE_INSTALL_RPATH={rpath}")
        self.run(self.arguments.cmake, "--install", build, "--prefix", self.prefix)

    def build_examples(self):
        """Both examples of README.md, each by CMake and by pkg-config."""
        source = self.work / "examples"
        readme_examples.write_examples(source)
        self.configure_and_build(source, source / "build")
        self.build_with_pkg_config(source)
        return [folder / name for folder in (source, source / "build") for name in ("run_cc", "run_c")]

    def build_with_pkg_config(self, source):
        """By the commands of README.md; the compilers are wrapped, so that they take the flags of this build."""
        folders = f"{self.prefix / self.arguments.libdir / 'pkgconfig'}:{self.prefix / 'share/pkgconfig'}"
        libdir = self.run("pkg-config", "--variable=libdir", "ephost", PKG_CONFIG_PATH=folders).strip()
        assert pathlib.Path(libdir).resolve() == self.prefix / self.arguments.libdir, libdir
        wrappers = self.work / "wrappers"
        wrappers.mkdir()
        for name, compiler in (("c++", self.arguments.cxx_compiler), ("cc", self.arguments.compiler)):
            (wrappers / name).write_text(f'#!/bin/sh\nexec {compiler} {self.arguments.compiler_flags} "$@" '
                                         f"-Wl,-rpath,{libdir}\n")
            (wrappers / name).chmod(0o755)
        self.run("sh", "-ec", 'cd "$0"; . ./build.sh', source, PKG_CONFIG_PATH=folders,
                 PATH=f"{wrappers}:{self.environment['PATH']}")
        sdk = self.run("pkg-config", "--cflags", "ephost_plugin_sdk", PKG_CONFIG_PATH=folders).split()
        example = self.prefix / "share/ephost_plugin_sdk/examples/minimal_provider.c"
        self.run(self.arguments.compiler, "-std=c11", "-fsyntax-only", *sdk, example)

    def check_programs(self, programs, **variables):
        """All print the same numbers, and the plugins that are found are those of the prefix."""
        outputs = {self.run(program, self.arguments.model, **variables) for program in programs}
        assert len(outputs) == 1 and all(re.fullmatch(r"\w+:( -?[\d.e-]+){10}\n", one) for one in outputs), outputs
        manifests = self.prefix / "share/ephost/plugins"
        listed = set(self.run(self.prefix / "bin/list_plugins").splitlines())
        assert listed == {str(manifests / name) for name in ("cpu.yaml", "dnnl.yaml", "image.yaml")}, listed

    def check_command(self):
        ephost = self.prefix / "bin/ephost"
        self.run(ephost, "run", self.arguments.model, "--ep", "dnnl")
        self.run(ephost, "run", self.arguments.model, "--ep", "dnnl", "--isolation", "worker")
        listed = self.run(ephost, "list", "--format", "json")
        assert str(self.prefix / "share/ephost/plugins/dnnl.yaml") in listed, listed
        validated = self.run(ephost, "validate", self.prefix / "share/ephost/plugins/dnnl.yaml", "--check", "8",
                             "--check", "unloads", "--check", "backend-tests")
        assert "dnnl: 5 passed, 0 failed, 0 left out" in validated, validated

    def check_tour(self):
        """host/TOUR.md holds for what is installed, too."""
        tour = SOURCE / "tests/integration/tour/tour_test.py"
        subprocess.run(["/usr/bin/python3", "-B", tour, "TourTest"], check=True,
                       env={**os.environ, "EPHOST": str(self.prefix / "bin/ephost")}, timeout=500)

    def check_python(self):
        """The example of README.md for Python, unless the build is without the package."""
        if not self.arguments.python:
            return
        folder, = self.prefix.glob("lib/python*/site-packages")
        example = self.work / "examples" / "main.py"
        said = self.run(self.arguments.python, "-B", example, self.arguments.model, PYTHONPATH=str(folder))
        assert re.fullmatch(r"logits:( -?[\d.e-]+){10}\n", said), said

    def subcommands(self, *path):
        """The subcommands of the command line `path`, from its help."""
        lines = self.run(self.prefix / "bin" / path[0], *path[1:], "--help").splitlines()
        if "Subcommands:" not in lines:
            return []
        end = lines.index("Examples:") if "Examples:" in lines else len(lines)
        listed = lines[lines.index("Subcommands:") + 1:end]
        return [line.split()[0] for line in listed if re.match("  [a-z]", line)]

    def check_man_pages(self, *path):
        """The command and all below it have pages without a fault that have all that --help has."""
        page = self.prefix / "share/man/man1" / f"{'-'.join(path)}.1"
        faults = subprocess.run(["groff", "-man", "-ww", "-Tutf8", page], check=True, text=True,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=500).stderr
        assert not faults, faults
        text = page.read_text().replace("\\-", "-")
        help_text = self.run(self.prefix / "bin" / path[0], *path[1:], "--help")
        options = re.findall(r"^  (-\S+)", help_text, re.MULTILINE)
        missing = [flag for option in options for flag in option.split(",") if f"\\fB{flag}\\fR" not in text]
        assert "-h,--help" in options and not missing, f"{page} lacks {missing}"
        below = self.subcommands(*path)
        assert all(f"{'-'.join(path)}-{one}" in text for one in below), f"{page} lacks one of {below}"
        for one in below:
            self.check_man_pages(*path, one)

    def check_completion(self):
        """The scripts are where the shells look for them; tests/integration/cli/completion_cases.py tries them."""
        share = self.prefix / "share"
        for name in ("ephost", "ep_weight_sharing_ctx_gen"):
            for script in (share / "bash-completion/completions" / name, share / "zsh/site-functions" / f"_{name}",
                           share / "fish/vendor_completions.d" / f"{name}.fish"):
                assert name in script.read_text(), script

    def move(self):
        moved = self.work / "moved" / "elsewhere"
        moved.parent.mkdir()
        self.prefix.rename(moved)
        self.prefix = moved


def main():
    parser = argparse.ArgumentParser()
    for name in ("cmake", "generator", "compiler", "cxx-compiler", "compiler-flags", "build", "libdir", "model", "python", "work"):
        parser.add_argument(f"--{name}", required=True)
    arguments = parser.parse_args()
    shutil.rmtree(arguments.work, ignore_errors=True)
    trial = Trial(arguments)
    trial.install()
    trial.install_list_plugins()
    examples = trial.build_examples()
    trial.check_programs(examples)
    trial.check_command()
    trial.check_python()
    for program in ("ephost", "ep_weight_sharing_ctx_gen"):
        trial.check_man_pages(program)
    trial.check_completion()
    trial.check_tour()
    trial.move()
    trial.check_programs(examples, LD_LIBRARY_PATH=str(trial.prefix / arguments.libdir))
    trial.check_command()
    trial.check_python()
    print("install: installed, built against, run and moved")


if __name__ == "__main__":
    main()
