#!/usr/bin/python3
"""Installs the SDK, builds its example outside of the tree, and installs that into a directory of the host.

The host, which is not built again, has to list the plugin, give it its nodes, run it, and write and load
its EP context. It refuses the library once that is not the one that was installed.
"""
import argparse
import hashlib
import json
import pathlib
import shutil
import subprocess

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

PROVIDER = "MinimalExecutionProvider"


def run(*arguments):
    print("$", *arguments, flush=True)
    subprocess.run([str(argument) for argument in arguments], check=True)


def output_of(*arguments):
    print("$", *arguments, flush=True)
    return subprocess.run([str(argument) for argument in arguments], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def build_plugin(arguments, work):
    """The folder with the plugin and its manifest, built by CMake from the installed files alone."""
    sdk = work / "sdk"
    run(arguments.cmake, "--install", arguments.build, "--component", "plugin_sdk", "--prefix", sdk)
    stray = [path for path in sdk.rglob("*.h*")
             if not str(path.relative_to(sdk)).startswith("include/ephost/")]
    assert not stray, f"the SDK installs more headers than its own: {stray}"
    shutil.copytree(sdk / "share/ephost_plugin_sdk/examples", work / "source")
    run(arguments.cmake, "-S", work / "source", "-B", work / "build", "-G", arguments.generator,
        f"-DCMAKE_PREFIX_PATH={sdk}", f"-DCMAKE_C_COMPILER={arguments.compiler}",
        f"-DCMAKE_C_FLAGS={arguments.compiler_flags}")
    run(arguments.cmake, "--build", work / "build")
    run(arguments.cmake, "--install", work / "build", "--prefix", work / "installed")
    (manifest,) = (work / "installed").rglob("*.yaml")
    return manifest.parent


def write_model(folder):
    """y = sigmoid(relu((a + b) * c + a)): a chain, a Relu, and a node that only the CPU provider has."""
    shape = [2, 3]
    nodes = [helper.make_node("Add", ["a", "b"], ["sum"], "sum_node"),
             helper.make_node("Mul", ["c", "sum"], ["product"], "product_node"),
             helper.make_node("Add", ["product", "a"], ["chain"], "chain_node"),
             helper.make_node("Relu", ["chain"], ["relu"], "relu_node"),
             helper.make_node("Sigmoid", ["relu"], ["y"], "sigmoid_node")]
    graph = helper.make_graph(
        nodes, "external_plugin",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in "abc"],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    onnx.save(model, str(folder / "model.onnx"))
    a, b, c = numpy.random.default_rng(1).normal(size=(3, 2, 3)).astype(numpy.float32)
    y = 1 / (1 + numpy.exp(-numpy.maximum((a + b) * c + a, 0)))
    for index, array in enumerate((a, b, c)):
        tensor = numpy_helper.from_array(array, "abc"[index])
        (data / f"input_{index}.pb").write_bytes(tensor.SerializeToString())
    (data / "output_0.pb").write_bytes(numpy_helper.from_array(y, "y").SerializeToString())
    return folder


def check_listed(ephost, flags):
    listed = json.loads(output_of(ephost, "list", *flags, "--format", "json"))
    assert PROVIDER in json.dumps(listed), listed


def check_checksum(ephost, plugins, flags):
    """The installed manifest has the library's checksum, once, however often it was installed."""
    library = plugins / "libminimal_provider.so"
    digest = hashlib.sha256(library.read_bytes()).hexdigest()
    manifest = (plugins / "minimal.yaml").read_text()
    assert manifest.count("sha256:") == 1 and manifest.count(digest) == 1, manifest
    with library.open("ab") as file:
        file.write(b"x")
    (listed,) = [one for one in json.loads(output_of(ephost, "list", *flags, "--format", "json"))["plugins"]
                 if one["provider"] == PROVIDER]
    assert not listed["loadable"] and "SHA-256" in json.dumps(listed["problem"]), listed


def check_partitioning(ephost, model, flags):
    report = json.loads(output_of(ephost, "partition", model / "model.onnx", *flags, "--format", "json"))
    owners = {node["name"]: node["provider"] for node in report["nodes"]}
    own = [name for name, provider in owners.items() if provider == PROVIDER]
    assert sorted(own) == ["chain_node", "product_node", "relu_node", "sum_node"], owners
    assert owners["sigmoid_node"] == "CPUExecutionProvider", owners
    partitions = [one for one in report["partitions"] if one["provider"] == PROVIDER]
    assert len(partitions) == 1 and len(partitions[0]["nodes"]) == 3, report["partitions"]


def check_context(ephost, model, folder, flags):
    folder.mkdir()
    run(ephost, "compile", model / "model.onnx", *flags, "-o", folder / "model.onnx")
    shutil.copytree(model / "test_data_set_0", folder / "test_data_set_0")
    written = onnx.load(str(folder / "model.onnx"))
    onnx.checker.check_model(written)
    nodes = [node for node in written.graph.node if node.op_type == "EPContext"]
    assert len(nodes) == 1, nodes
    attributes = {one.name: helper.get_attribute_value(one) for one in nodes[0].attribute}
    assert attributes["source"] == PROVIDER.encode(), attributes
    assert attributes["notes"] == b"0", attributes
    run(ephost, "test", folder, *flags)


def main():
    parser = argparse.ArgumentParser()
    for name in ("cmake", "generator", "compiler", "compiler-flags", "build", "ephost", "work"):
        parser.add_argument(f"--{name}", required=True)
    arguments = parser.parse_args()
    work = pathlib.Path(arguments.work)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    plugins = build_plugin(arguments, work)
    model = write_model(work / "model")
    selection = work / "selection.yaml"
    selection.write_text(f"selection: 1\nproviders:\n  - {PROVIDER}\n")
    flags = ("--plugin-path", plugins, "--selection", selection)
    check_listed(arguments.ephost, ("--plugin-path", plugins))
    check_partitioning(arguments.ephost, model, flags)
    run(arguments.ephost, "test", model, *flags)
    check_context(arguments.ephost, model, work / "context", flags)
    check_checksum(arguments.ephost, plugins, ("--plugin-path", plugins))
    print("external plugin: built, installed, found, partitioned, run, cached and guarded")


if __name__ == "__main__":
    main()
