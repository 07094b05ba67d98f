#!/usr/bin/python3
"""Installs ephost and the SDK below a prefix, writes a plugin of each kind with `ephost new-plugin`, and takes it from
there as a vendor would: builds it without a warning, runs and caches a model with it, has ctest validate it, and
makes a package of it.
"""
import argparse
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tarfile

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

import installation

KINDS = [(language, kind) for language in ("c", "cpp") for kind in ("kernels", "compiler")]
CHAIN = ["mul_node", "add_node", "relu_node", "scale_node"]


def write_model(folder):
    """y = relu(a * b + k) * 0.5 + row: a chain with two constants, then a node that broadcasts."""
    rng = numpy.random.default_rng(3)
    constant = rng.normal(size=(40, 50)).astype(numpy.float32)
    nodes = [helper.make_node("Mul", ["a", "b"], ["product"], "mul_node"),
             helper.make_node("Add", ["k", "product"], ["sum"], "add_node"),
             helper.make_node("Relu", ["sum"], ["relu"], "relu_node"),
             helper.make_node("Mul", ["relu", "half"], ["half_relu"], "scale_node"),
             helper.make_node("Add", ["row", "half_relu"], ["y"], "row_node")]
    shapes = {"a": (40, 50), "b": (40, 50), "row": (1, 50)}
    graph = helper.make_graph(
        nodes, "new_plugin",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (40, 50))],
        [numpy_helper.from_array(constant, "k"), numpy_helper.from_array(numpy.float32(0.5), "half")])
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8),
              str(folder / "model.onnx"))
    inputs = {name: rng.normal(size=shape).astype(numpy.float32) for name, shape in shapes.items()}
    for index, (name, array) in enumerate(inputs.items()):
        (data / f"input_{index}.pb").write_bytes(numpy_helper.from_array(array, name).SerializeToString())
    y = numpy.maximum(inputs["a"] * inputs["b"] + constant, 0) * numpy.float32(0.5) + inputs["row"]
    (data / "output_0.pb").write_bytes(numpy_helper.from_array(y, "y").SerializeToString())
    return folder


class Vendor:
    def __init__(self, arguments):
        self.arguments = arguments
        self.work = pathlib.Path(arguments.work)
        shutil.rmtree(self.work, ignore_errors=True)
        self.prefix = self.work / "prefix"
        self.prefix.mkdir(parents=True)
        self.environment = {name: value for name, value in os.environ.items()
                            if name == "EPHOST_ALLOW_WRITABLE_PLUGINS" or
                            not name.startswith(("EPHOST_", "XDG_", "CMAKE_"))}
        self.environment.update(HOME=str(self.work), XDG_DATA_DIRS=str(self.work), DESTDIR="",
                                CMAKE_PREFIX_PATH=str(self.prefix))
        installation.install(arguments.cmake, arguments.build, self.prefix)
        self.model = write_model(self.work / "model")

    def run(self, *arguments, folder=None, **environment):
        print("$", *arguments, flush=True)
        done = subprocess.run([str(argument) for argument in arguments], text=True,
                              env={**self.environment, **environment},
                              stdout=subprocess.PIPE, cwd=folder or self.work, timeout=800)
        assert done.returncode == 0, f"ends with {done.returncode}\n{done.stdout}"
        return done.stdout

    def ephost(self, *arguments):
        return self.run(self.prefix / "bin/ephost", *arguments)

    def build(self, name, language, kind):
        self.ephost("new-plugin", name, "--language", language, "--kind", kind, "--vendor", "Müller & Söhne",
                    "-o", name)
        flags = f"-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror {self.arguments.compiler_flags}"
        build = self.work / name / "build"
        self.run(self.arguments.cmake, "-S", self.work / name, "-B", build, "-G", self.arguments.generator,
                 "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_C_COMPILER={self.arguments.compiler}",
                 f"-DCMAKE_CXX_COMPILER={self.arguments.cxx_compiler}", f"-DCMAKE_C_FLAGS={flags}",
                 f"-DCMAKE_CXX_FLAGS={flags}")
        self.run(self.arguments.cmake, "--build", build)
        return build

    def check_partitioning(self, name, kind, flags):
        report = json.loads(self.ephost("partition", self.model / "model.onnx", *flags, "--format", "json"))
        own = [node["name"] for node in report["nodes"] if node["provider"] != "CPUExecutionProvider"]
        assert own == (CHAIN + ["row_node"] if kind == "kernels" else CHAIN), report["nodes"]
        partitions = [one["nodes"] for one in report["partitions"]]
        assert len(partitions) == (kind == "compiler"), report["partitions"]
        option = "min_elements=2001" if kind == "kernels" else "min_nodes=5"
        explained = self.ephost("partition", self.model / "model.onnx", *flags, "--ep-option", f"{name}:{option}",
                                "--explain")
        assert f"the option {option.split('=')[0]}" in explained, explained

    def check_runs(self, name, kind, flags):
        self.ephost("test", self.model, *flags)
        self.ephost("test", self.model, *flags, "--layer", "validate")
        if kind == "kernels":
            return
        context = self.work / f"{name}_context"
        context.mkdir()
        self.ephost("compile", self.model / "model.onnx", *flags, "-o", context / "model.onnx",
                    "--check-deterministic")
        shutil.copytree(self.model / "test_data_set_0", context / "test_data_set_0")
        payload = context / f"model_{name}.bin"
        assert payload.stat().st_size < 1000, "the payload contains the constants"
        self.ephost("test", context, *flags)
        self.ephost("verify", context / "model.onnx", "--load", *flags)

    def check_validated(self, build):
        """What `ctest` says, which runs the conformance kit."""
        said = self.run("ctest", "--output-on-failure", folder=build)
        assert "100% tests passed" in said and "validate" in said, said

    def check_ci(self, name):
        """What a build server runs, with a key to sign with."""
        self.ephost("keygen", f"{name}_key", "--no-passphrase")
        environment = {"PATH": f"{self.prefix / 'bin'}:{self.environment['PATH']}", "CC": self.arguments.compiler,
                       "CXX": self.arguments.cxx_compiler, "SIGNING_KEY": str(self.work / f"{name}_key.key")}
        self.run("sh", self.work / name / "ci.sh", folder=self.work, **environment)
        with tarfile.open(self.work / name / "build" / f"{name}-signed.tar.gz") as file:
            names = [pathlib.Path(one).name for one in file.getnames()]
        assert {f"{name}.yaml", f"{name}.yaml.minisig", f"lib{name}_provider.so"} <= set(names), names

    def check_package(self, name, build):
        """The archive has library and manifest where hosts look, with the checksum of the stripped library."""
        self.run("cpack", "-G", "TGZ", folder=build)
        archive, = build.glob("*.tar.gz")
        packed = self.work / f"{name}_package"
        with tarfile.open(archive) as file:
            file.extractall(packed)
        library, = packed.rglob(f"lib{name}_provider.so")
        manifest, = packed.rglob(f"{name}.yaml")
        assert str(manifest.parent).endswith("/share/ephost/plugins"), manifest
        assert hashlib.sha256(library.read_bytes()).hexdigest() in manifest.read_text(), manifest.read_text()
        self.ephost("test", self.model, "--plugin-path", manifest.parent, "--ep", name)

    def check_installed(self, name, build):
        self.run(self.arguments.cmake, "--install", build, "--prefix", self.prefix)
        listed = json.loads(self.ephost("list", "--format", "json"))["plugins"]
        plugin, = [one for one in listed if one["name"] == name]
        assert plugin["loadable"] and plugin["vendor"] == "Müller & Söhne", plugin
        self.ephost("test", self.model, "--ep", name)


def main():
    parser = argparse.ArgumentParser()
    for name in ("cmake", "generator", "compiler", "cxx-compiler", "compiler-flags", "build", "work"):
        parser.add_argument(f"--{name}", required=True)
    vendor = Vendor(parser.parse_args())
    for language, kind in KINDS:
        name = f"own_{kind}_{language}"
        build = vendor.build(name, language, kind)
        flags = ("--plugin-path", build, "--ep", name)
        vendor.check_partitioning(name, kind, flags)
        vendor.check_runs(name, kind, flags)
        vendor.check_validated(build)
        vendor.check_package(name, build)
        vendor.check_installed(name, build)
    if not vendor.arguments.compiler_flags:  # a package has no sanitizers
        vendor.ephost("new-plugin", "served", "--language", "c", "--kind", "kernels", "-o", "served")
        vendor.check_ci("served")
    print("new plugin: written, built, run, validated, packaged and installed")


if __name__ == "__main__":
    main()
