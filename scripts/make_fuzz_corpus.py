#!/usr/bin/python3
"""Makes the seeds of the fuzz targets' corpus (tests/fuzz/corpus) from tiny models and tiny images.

What a fuzzer found once is committed beside them under a name that begins with `found_`; this script
leaves such files alone. Context models and binaries are those of the machine that it runs on; the
targets take any.
"""

import argparse
import pathlib
import shutil
import subprocess
import tempfile

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

IMPORTED = ("tiny_constants", "tiny_diamond", "tiny_if", "tiny_loop", "tiny_mlp", "tiny_two_branches")
COMPILED = ("tiny_mlp", "tiny_two_branches", "tiny_diamond", "tiny_residual_qdq")
FLOAT = TensorProto.FLOAT


def tensor(name, extents=(2, 2)):
    return helper.make_tensor_value_info(name, FLOAT, extents)


def model_of(graph, domain="", version=1, **fields):
    opsets = [helper.make_opsetid("", 16)]
    if domain:
        opsets.append(helper.make_opsetid(domain, version))
    return helper.make_model(graph, opset_imports=opsets, **fields)


def kinds_of_everything():
    """One of each: attribute kinds, element types, value types, a function, sparse and string data."""
    body = helper.make_graph([helper.make_node("Identity", ["x"], ["inner"])], "body", [], [tensor("inner")])
    numbers = numpy_helper.from_array(numpy.arange(4, dtype=numpy.float32), "numbers")
    attributes = helper.make_node(
        "Anything", ["x", "", "names"], ["y"], domain="test", i=1, f=0.5, s="text", t=numbers,
        g=body, ints=[1, -2], floats=[0.5, 2.0], strings=["a", "b"], tensors=[numbers], graphs=[body])
    function = helper.make_function(
        "test", "Twice", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])],
        [helper.make_opsetid("", 16)])
    sparse = helper.make_sparse_tensor(
        helper.make_tensor("sparse", FLOAT, [2], [1, 2]),
        helper.make_tensor("places", TensorProto.INT64, [2], [0, 3]), [2, 2])
    constants = [helper.make_tensor("names", TensorProto.STRING, [2], [b"one", b"two"])]
    for kind in ("FLOAT16", "DOUBLE", "INT8", "UINT64", "BOOL", "COMPLEX64", "BFLOAT16"):
        constants.append(helper.make_tensor("of_" + kind, getattr(TensorProto, kind), [1], [1]))
    sequence = helper.make_tensor_sequence_value_info("list", FLOAT, [None, "n"])
    nodes = [attributes, helper.make_node("Twice", ["y"], ["z"], domain="test"),
             helper.make_node("SequenceConstruct", ["z", "x"], ["list"])]
    graph = helper.make_graph(nodes, "kinds", [tensor("x", ["n", 2])], [tensor("z"), sequence],
                              constants, sparse_initializer=[sparse])
    return model_of(graph, "test", functions=[function])


def reshapes():
    """Operators whose inference computes with the values of constants."""
    def integers(name, *values):
        return helper.make_tensor(name, TensorProto.INT64, [len(values)], values)

    nodes = [helper.make_node("Reshape", ["x", "shape"], ["a"]),
             helper.make_node("Slice", ["a", "starts", "ends", "axes"], ["b"]),
             helper.make_node("Tile", ["b", "repeats"], ["c"]),
             helper.make_node("Expand", ["c", "wide"], ["d"]),
             helper.make_node("Resize", ["d", "", "", "sizes"], ["e"]),
             helper.make_node("Unsqueeze", ["e", "axes"], ["f"]),
             helper.make_node("Split", ["f"], ["g", "h"], axis=1),
             helper.make_node("Transpose", ["g"], ["i"], perm=[1, 0, 2]),
             helper.make_node("Range", ["zero", "limit", "step"], ["j"]),
             helper.make_node("ConstantOfShape", ["shape"], ["k"]),
             helper.make_node("Einsum", ["x", "x"], ["l"], equation="ij,jk->ik"),
             helper.make_node("Pad", ["x", "pads"], ["m"]),
             helper.make_node("OneHot", ["shape", "limit", "shape"], ["n"])]
    constants = [integers("shape", 4, -1), integers("starts", 1), integers("ends", 3),
                 integers("axes", 0), integers("repeats", 2, 2), integers("wide", 3, 4, 1),
                 integers("sizes", 2, 2, 2), integers("pads", 0, 1, 1, 0)]
    constants += [helper.make_tensor(name, TensorProto.INT64, [], [value])
                  for name, value in (("zero", 0), ("limit", 5), ("step", 1))]
    return model_of(helper.make_graph(nodes, "reshapes", [tensor("x", [2, 2])],
                                      [tensor(name, None) for name in "hijklmn"], constants))


def context_node(name, inputs, outputs, **attributes):
    return helper.make_node("EPContext", inputs, outputs, name, domain="com.microsoft",
                            partition_name=name, source="ephost.dnnl", **attributes)


def context_nodes():
    """Primary and secondary nodes, embedded and in files, one of them in a body."""
    body = helper.make_graph([context_node("inner", ["b"], ["inner"], main_context=0,
                                           ep_cache_context="first")], "body", [], [tensor("inner")])
    nodes = [
        context_node("first", ["x"], ["a"], ep_cache_context=b"payload", notes="n", max_size=7,
                     hardware_architecture="x86", ep_sdk_version="1", onnx_model_filename="m.onnx"),
        context_node("second", ["a"], ["b"], embed_mode=0, ep_cache_context="model_dnnl.bin"),
        context_node("third", ["b"], ["c"], main_context=0, embed_mode=0,
                     ep_cache_context="model_dnnl.bin"),
        helper.make_node("If", ["condition"], ["y"], then_branch=body, else_branch=body)]
    return model_of(helper.make_graph(
        nodes, "contexts", [tensor("x"), helper.make_tensor_value_info("condition", TensorProto.BOOL, [])],
        [tensor("c"), tensor("y")]), "com.microsoft")


def compile_model(ephost, model, output, *arguments):
    subprocess.run([ephost, "compile", model, "--ep", "dnnl", "-o", output, "--quiet", *arguments],
                   check=True, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ephost", type=pathlib.Path, help="the program that compiles the contexts")
    parser.add_argument("models", type=pathlib.Path, help="folder of the tiny models")
    parser.add_argument("samples", type=pathlib.Path, help="the program write_image_samples of the build")
    parser.add_argument("corpus", type=pathlib.Path, nargs="?", help="default: tests/fuzz/corpus",
                        default=pathlib.Path(__file__).parent.parent / "tests/fuzz/corpus")
    arguments = parser.parse_args()
    imports, contexts, containers, images = (
        arguments.corpus / name for name in ("onnx_import", "context_model", "dnnl_container", "image_decoder"))
    for folder in (imports, contexts, containers, images):
        folder.mkdir(parents=True, exist_ok=True)
        for seed in folder.iterdir():
            if not seed.name.startswith("found_"):
                seed.unlink()

    subprocess.run([arguments.samples, images], check=True)
    for name in IMPORTED:
        shutil.copyfile(arguments.models / name / "model.onnx", imports / name)
    onnx.save(kinds_of_everything(), str(imports / "kinds_of_everything"))
    onnx.save(reshapes(), str(imports / "reshapes"))
    onnx.save(context_nodes(), str(contexts / "context_nodes"))
    with tempfile.TemporaryDirectory() as temporary:
        scratch = pathlib.Path(temporary)
        for name in COMPILED:
            model = arguments.models / name / "model.onnx"
            output = scratch / "model_ctx.onnx"
            compile_model(arguments.ephost, model, output)
            shutil.copyfile(output, contexts / name)
            shutil.copyfile(scratch / "model_dnnl.bin", containers / name)
        compile_model(arguments.ephost, arguments.models / "tiny_two_branches" / "model.onnx",
                      contexts / "tiny_two_branches_embedded", "--embed")


if __name__ == "__main__":
    main()
