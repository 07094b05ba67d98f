#!/usr/bin/python3
"""Installs the SDK, builds its examples outside of the tree, and installs them into a directory of the host.

The host, which is not built again, has to list the plugins, give them their nodes, run them, and write and
load their EP contexts. It refuses a library once that is not the one that was installed.
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
    subprocess.run([str(argument) for argument in arguments], check=True, timeout=280)


def output_of(*arguments):
    print("$", *arguments, flush=True)
    return subprocess.run([str(argument) for argument in arguments], check=True, text=True,
                          stdout=subprocess.PIPE, timeout=280).stdout


def build_plugin(arguments, work):
    """The folders with the manifests and the libraries, built by CMake from the installed files alone."""
    sdk = work / "sdk"
    run(arguments.cmake, "--install", arguments.build, "--component", "plugin_sdk", "--prefix", sdk)
    stray = [path for path in sdk.rglob("*.h*")
             if not str(path.relative_to(sdk)).startswith(("include/ephost/", "share/ephost_plugin_sdk/templates/"))]
    assert not stray, f"the SDK installs more headers than its own: {stray}"
    shutil.copytree(sdk / "share/ephost_plugin_sdk/examples", work / "source")
    run(arguments.cmake, "-S", work / "source", "-B", work / "build", "-G", arguments.generator,
        f"-DCMAKE_PREFIX_PATH={sdk}", f"-DCMAKE_C_COMPILER={arguments.compiler}",
        f"-DCMAKE_CXX_COMPILER={arguments.cxx_compiler}", f"-DCMAKE_C_FLAGS={arguments.compiler_flags}",
        f"-DCMAKE_CXX_FLAGS={arguments.compiler_flags}")
    run(arguments.cmake, "--build", work / "build")
    run(arguments.cmake, "--install", work / "build", "--prefix", work / "installed")
    manifests = list((work / "installed").rglob("*.yaml"))
    assert sorted(path.name for path in manifests) == ["affine.yaml", "minimal.yaml", "queue.yaml"], manifests
    folder = manifests[0].parent
    assert str(folder).endswith("share/ephost/plugins"), folder
    libraries = [path for path in (work / "installed").rglob("*.so") if path.parent.parent.name == "ephost"]
    names = sorted(path.name for path in libraries)
    assert names == [f"lib{name}_provider.so" for name in ("affine", "minimal", "queue")], libraries
    return folder, libraries[0].parent


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


def check_checksum(ephost, plugins, libraries, flags):
    """The installed manifest has the library's checksum, once, however often it was installed."""
    library = libraries / "libminimal_provider.so"
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


def write_affine_model(folder):
    """y = relu(x * scale + shift) with a scale for each channel, large enough to tell where it is kept."""
    channels = 4096
    rng = numpy.random.default_rng(2)
    scale = rng.normal(size=channels).astype(numpy.float32)
    shift = rng.normal(size=1).astype(numpy.float32)
    nodes = [helper.make_node("Mul", ["scale", "x"], ["product"], "mul_node"),
             helper.make_node("Add", ["product", "shift"], ["affine"], "add_node"),
             helper.make_node("Relu", ["affine"], ["y"], "relu_node")]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", channels]) for name in "xy"]
    graph = helper.make_graph(nodes, "affine", values[:1], values[1:],
                              [numpy_helper.from_array(scale, "scale"), numpy_helper.from_array(shift, "shift")])
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8),
              str(folder / "model.onnx"))
    x = rng.normal(size=(3, channels)).astype(numpy.float32)
    (data / "input_0.pb").write_bytes(numpy_helper.from_array(x, "x").SerializeToString())
    y = numpy.maximum(x * scale + shift, 0)
    (data / "output_0.pb").write_bytes(numpy_helper.from_array(y, "y").SerializeToString())
    x[1, 7] = numpy.inf
    numpy.save(folder / "infinite.npy", x)
    return folder


def check_affine(ephost, plugins, work):
    """The example in C++: devices, weightless contexts, options of runs, profiles."""
    flags = ("--plugin-path", plugins, "--ep", "affine")
    model = write_affine_model(work / "affine")
    devices = json.loads(output_of(ephost, "devices", "--plugin-path", plugins, "--format", "json"))
    ids = {one["id"]: one for one in devices["devices"] if one["provider"] == "AffineExecutionProvider"}
    assert sorted(ids) == ["cpu:0", "simulator"], devices
    run(ephost, "test", model, *flags)
    run(ephost, "test", model, *flags, "--device", "affine:simulator")

    context = work / "affine_context"
    context.mkdir()
    run(ephost, "compile", model / "model.onnx", *flags, "-o", context / "model.onnx", "--check-deterministic")
    shutil.copytree(model / "test_data_set_0", context / "test_data_set_0")
    assert (context / "model_affine.bin").stat().st_size == 16, "the payload contains the constants"
    written = onnx.load(str(context / "model.onnx"))
    assert [one.name for one in written.graph.initializer] == ["scale", "shift"], written.graph.initializer
    run(ephost, "test", context, *flags)
    run(ephost, "verify", context / "model.onnx", "--plugin-path", plugins, "--device", "cpu:0")
    other = subprocess.run([ephost, "verify", context / "model.onnx", "--plugin-path", plugins, "--device", "simulator"],
                           timeout=280)
    assert other.returncode == 1, "a context for one device is fit for another"

    infinite = ("run", context / "model.onnx", *flags, "--input", f"x={model / 'infinite.npy'}")
    run(ephost, *infinite, "--profile", work / "profile.json")
    events = json.loads((work / "profile.json").read_text())["traceEvents"]
    assert any(one.get("cat") == "kernel" and one["args"].get("elements") == "12288"
               for one in events if one.get("name") == "affine"), events
    checked = subprocess.run([str(one) for one in (ephost, *infinite, "--run-option", "affine:check_finite=true")],
                             stderr=subprocess.PIPE, text=True, timeout=280)
    assert checked.returncode == 5 and "check_finite" in checked.stderr, checked.stderr


def check_queue(ephost, plugins, model):
    """The example with streams, which takes all but the Sigmoid."""
    flags = ("--plugin-path", plugins, "--ep", "queue")
    run(ephost, "test", model, *flags)
    steps = json.loads(output_of(ephost, "plan", model / "model.onnx", *flags, "--format", "json"))["steps"]
    assert {one["stream"] for one in steps} >= {"queue copy in", "queue compute 0", "queue copy out"}, steps


def main():
    parser = argparse.ArgumentParser()
    for name in ("cmake", "generator", "compiler", "cxx-compiler", "compiler-flags", "build", "ephost", "work"):
        parser.add_argument(f"--{name}", required=True)
    arguments = parser.parse_args()
    work = pathlib.Path(arguments.work)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    plugins, libraries = build_plugin(arguments, work)
    model = write_model(work / "model")
    selection = work / "selection.yaml"
    selection.write_text(f"selection: 1\nproviders:\n  - {PROVIDER}\n")
    flags = ("--plugin-path", plugins, "--selection", selection)
    check_listed(arguments.ephost, ("--plugin-path", plugins))
    check_partitioning(arguments.ephost, model, flags)
    run(arguments.ephost, "test", model, *flags)
    check_context(arguments.ephost, model, work / "context", flags)
    check_affine(arguments.ephost, plugins, work)
    check_queue(arguments.ephost, plugins, model)
    check_checksum(arguments.ephost, plugins, libraries, ("--plugin-path", plugins))
    print("external plugin: built, installed, found, partitioned, run, cached and guarded")


if __name__ == "__main__":
    main()
