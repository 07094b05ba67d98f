#!/usr/bin/python3
"""Writes models of one operator each, at sizes from real models, for
scripts/bench_operators_vs_onnxruntime.sh and the test of allocations. Weights are random but seeded.

  make_operator_models.py OUT_DIR [--copies N]

OUT_DIR/<name>/model.onnx holds N copies of one node, all of the same inputs, so that a run takes much
longer than what surrounds it; one copy where a node takes long by itself. A GatherND, the "reader", takes
one element of each result, and a Concat of these elements is the output, so that handling of large
outputs does not count and no copy is dead code. OUT_DIR/readers/<n>/model.onnx holds n readers and nothing
else, and OUT_DIR/cases.json says for each name how many copies and readers its model has.
"""

import argparse
import json
import os
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT
INT64 = TensorProto.INT64


def make_model(name, nodes, inputs, outputs, initializers, opset):
    graph = helper.make_graph(nodes, name, inputs, outputs, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 8
    return onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)


def readers(output, results, element_type, rank):
    """Makes an output of the first elements of the results: returns nodes, initializers and the output."""
    index = numpy_helper.from_array(np.zeros((1, rank), np.int64), f"{output}_index")
    firsts = [f"{output}_{i}" for i in range(len(results))]
    nodes = [helper.make_node("GatherND", [result, index.name], [first])
             for result, first in zip(results, firsts)]
    nodes.append(helper.make_node("Concat", firsts, [output], axis=0))
    return nodes, [index], helper.make_tensor_value_info(output, element_type, [len(results)])


def readers_model(count):
    nodes, initializers, output = readers("output", ["input"] * count, FLOAT, 3)
    return make_model("readers", nodes, [helper.make_tensor_value_info("input", FLOAT, (1, 1, 1))], [output],
                      initializers, 17)


class Case:
    """A node. `inputs` are shapes of graph inputs, with a type unless it is float, or arrays, which
    become constants. `is_long` means that it takes about a millisecond."""

    def __init__(self, name, op_type, inputs, outputs=1, opset=17, is_long=False, **attributes):
        self.name = name
        self.op_type = op_type
        self.inputs = inputs
        self.outputs = outputs
        self.opset = opset
        self.is_long = is_long
        self.attributes = attributes

    def model(self, copies):
        graph_inputs, initializers, names = [], [], []
        for i, given in enumerate(self.inputs):
            name = "" if given is None else f"input{i}"
            names.append(name)
            if isinstance(given, tuple):
                element, shape = given if isinstance(given[-1], tuple) else (FLOAT, given)
                graph_inputs.append(helper.make_tensor_value_info(name, element, shape))
            elif given is not None:
                initializers.append(numpy_helper.from_array(given, name))
        results = [[f"result{i}_{copy}" for i in range(self.outputs)] for copy in range(copies)]
        nodes = [helper.make_node(self.op_type, names, mine, f"{self.name} {copy}", **self.attributes)
                 for copy, mine in enumerate(results)]
        infos = [helper.make_empty_tensor_value_info(result) for result in results[0]]
        inferred = make_model(self.name, nodes[:1], graph_inputs, infos, initializers, self.opset)
        outputs = []
        for i, info in enumerate(inferred.graph.output):
            tensor = info.type.tensor_type
            more, index, output = readers(f"output{i}", [mine[i] for mine in results],
                                          tensor.elem_type, len(tensor.shape.dim))
            nodes += more
            initializers += index
            outputs.append(output)
        return make_model(self.name, nodes, graph_inputs, outputs, initializers, self.opset)


def weights(name, *shape, scale=0.05):
    random = np.random.default_rng(zlib.crc32(name.encode()))
    return (random.standard_normal(shape) * scale).astype(np.float32)


def integers(name, high, *shape, dtype=np.int64):
    random = np.random.default_rng(zlib.crc32(name.encode()))
    return random.integers(0, high, shape, dtype=dtype)


def scalar(value, dtype=np.float32):
    return np.array(value, dtype)


IMAGE = (1, 64, 56, 56)
TEXT = (1, 128, 768)
HEADS = (1, 12, 128, 128)


def products():
    yield Case("Conv 3x3", "Conv", [IMAGE, weights("c3", 64, 64, 3, 3), weights("b", 64)],
               pads=[1] * 4, is_long=True)
    yield Case("Conv 1x1", "Conv", [(1, 256, 56, 56), weights("c1", 64, 256, 1, 1)], is_long=True)
    yield Case("Conv 7x7, stride 2", "Conv", [(1, 3, 224, 224), weights("c7", 64, 3, 7, 7)],
               pads=[3] * 4, strides=[2, 2], is_long=True)
    yield Case("Conv 3x3, depthwise", "Conv", [(1, 144, 56, 56), weights("dw", 144, 1, 3, 3)],
               pads=[1] * 4, group=144, is_long=True)
    yield Case("ConvTranspose 2x2", "ConvTranspose", [(1, 64, 64, 64), weights("ct", 64, 32, 2, 2)],
               strides=[2, 2], is_long=True)
    yield Case("MatMul", "MatMul", [TEXT, weights("mm", 768, 768)], is_long=True)
    yield Case("MatMul, batched", "MatMul", [(1, 12, 128, 64), (1, 12, 64, 128)], is_long=True)
    yield Case("Gemm", "Gemm", [(1, 2048), weights("g", 1000, 2048), weights("gb", 1000)],
               transB=1, is_long=True)
    yield Case("Einsum", "Einsum", [(1, 12, 128, 64), (1, 12, 128, 64)],
               equation="bhid,bhjd->bhij", is_long=True)


def elementwise():
    yield Case("Add", "Add", [(1, 256, 56, 56), (1, 256, 56, 56)])
    yield Case("Add, broadcast row", "Add", [TEXT, weights("bias", 768)])
    yield Case("Mul, broadcast channel", "Mul", [(1, 256, 56, 56), weights("s", 1, 256, 1, 1)])
    yield Case("Div by scalar", "Div", [HEADS, scalar(8)])
    yield Case("Sub", "Sub", [TEXT, (1, 128, 1)])
    yield Case("Pow", "Pow", [TEXT, scalar(2)])
    yield Case("Max", "Max", [TEXT, TEXT])
    yield Case("Where", "Where", [integers("w", 2, 1, 1, 128, 128).astype(bool), HEADS, scalar(-1e4)])
    yield Case("Equal", "Equal", [HEADS, HEADS])
    for op_type in ("Relu", "Sigmoid", "Tanh", "Erf", "Exp", "Sqrt", "LeakyRelu", "HardSwish"):
        yield Case(op_type, op_type, [(1, 256, 56, 56)])
    yield Case("Clip", "Clip", [(1, 256, 56, 56), scalar(0), scalar(6)])
    yield Case("Cast to int64", "Cast", [TEXT], to=INT64)


def reductions():
    yield Case("Softmax", "Softmax", [HEADS], axis=-1)
    yield Case("LogSoftmax", "LogSoftmax", [(128, 1000)], axis=-1)
    yield Case("LayerNormalization", "LayerNormalization", [TEXT, weights("ls", 768), weights("lb", 768)])
    yield Case("BatchNormalization", "BatchNormalization",
               [(1, 64, 112, 112), weights("s", 64), weights("b", 64), weights("m", 64),
                np.abs(weights("v", 64)) + 1])
    yield Case("InstanceNormalization", "InstanceNormalization", [IMAGE, weights("s", 64), weights("b", 64)])
    yield Case("MaxPool 3x3", "MaxPool", [(1, 64, 112, 112)], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    yield Case("AveragePool 2x2", "AveragePool", [(1, 64, 112, 112)], kernel_shape=[2, 2], strides=[2, 2])
    yield Case("GlobalAveragePool", "GlobalAveragePool", [(1, 2048, 7, 7)])
    yield Case("ReduceMean of rows", "ReduceMean", [TEXT], axes=[-1])
    yield Case("ReduceSum of columns", "ReduceSum", [TEXT, np.array([1])])
    yield Case("ReduceMax of images", "ReduceMax", [(1, 256, 56, 56)], axes=[2, 3])
    yield Case("ArgMax", "ArgMax", [(1, 21, 128, 128)], axis=1)
    yield Case("TopK", "TopK", [(1, 1000), np.array([5])], outputs=2)
    yield Case("CumSum", "CumSum", [TEXT, scalar(1, np.int64)])


def movement():
    yield Case("Transpose of heads", "Transpose", [(1, 128, 12, 64)], perm=[0, 2, 1, 3])
    yield Case("Transpose to channels last", "Transpose", [(1, 256, 56, 56)], perm=[0, 2, 3, 1])
    yield Case("Concat", "Concat", [(1, 128, 56, 56), (1, 128, 56, 56)], axis=1)
    yield Case("Split", "Split", [(1, 128, 2304), np.array([768] * 3)], outputs=3, axis=2)
    yield Case("Slice", "Slice", [IMAGE, np.array([1, 1]), np.array([55, 55]), np.array([2, 3])])
    yield Case("Pad", "Pad", [IMAGE, np.array([0, 0, 3, 3, 0, 0, 3, 3])])
    yield Case("Expand", "Expand", [(1, 1, 128, 128), np.array([1, 12, 128, 128])])
    yield Case("Tile", "Tile", [(1, 64, 28, 28), np.array([1, 1, 2, 2])])
    yield Case("Gather", "Gather", [weights("e", 30522, 768), (INT64, (1, 128))])
    yield Case("GatherElements", "GatherElements", [TEXT, integers("ge", 128, 1, 128, 768)], axis=1)
    yield Case("ScatterND", "ScatterND", [(128, 768), integers("sn", 128, 64, 1), (64, 768)])
    yield Case("Resize, nearest", "Resize", [(1, 64, 64, 64), None, np.array([1, 1, 2, 2], np.float32)])
    yield Case("Resize, linear", "Resize", [(1, 64, 64, 64), None, np.array([1, 1, 2, 2], np.float32)],
               mode="linear")
    yield Case("DepthToSpace", "DepthToSpace", [(1, 256, 64, 64)], blocksize=2)


def others():
    yield Case("LSTM", "LSTM", [(64, 1, 256), weights("lw", 1, 1024, 256), weights("lr", 1, 1024, 256),
                                weights("lb", 1, 2048)], outputs=3, hidden_size=256, is_long=True)
    yield Case("GRU", "GRU", [(64, 1, 256), weights("gw", 1, 768, 256), weights("gr", 1, 768, 256),
                              weights("gb", 1, 1536)], outputs=2, hidden_size=256, is_long=True)
    yield Case("NonZero", "NonZero", [TEXT])
    yield Case("Unique", "Unique", [(1000,)], outputs=4)
    yield Case("NonMaxSuppression", "NonMaxSuppression",
               [(1, 1000, 4), (1, 1, 1000), np.array([100]), scalar(0.5)])
    yield Case("QuantizeLinear", "QuantizeLinear", [TEXT, scalar(0.02), scalar(128, np.uint8)])
    yield Case("DequantizeLinear", "DequantizeLinear",
               [(TensorProto.UINT8, TEXT), scalar(0.02), scalar(128, np.uint8)])


def cases():
    for family in (products, elementwise, reductions, movement, others):
        yield from family()


def write(model, *folder):
    path = os.path.join(*folder)
    os.makedirs(path, exist_ok=True)
    onnx.save(model, os.path.join(path, "model.onnx"))


def main():
    parser = argparse.ArgumentParser(description="Writes models of one operator each.")
    parser.add_argument("out_dir", metavar="OUT_DIR")
    parser.add_argument("--copies", type=int, default=32, metavar="N", help="copies of a short node (default 32)")
    flags = parser.parse_args()
    described = {}
    for case in cases():
        copies = 1 if case.is_long else flags.copies
        write(case.model(copies), flags.out_dir, case.name)
        described[case.name] = {"copies": copies, "readers": copies * case.outputs}
    for count in {each["readers"] for each in described.values()}:
        write(readers_model(count), flags.out_dir, "readers", str(count))
    with open(os.path.join(flags.out_dir, "cases.json"), "w", encoding="utf-8") as file:
        json.dump(described, file, indent=2)


if __name__ == "__main__":
    main()
