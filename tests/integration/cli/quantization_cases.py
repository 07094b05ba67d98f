"""Cases of the commands with a quantised model, whose results numpy computes in its own way."""

import os
import pathlib
import re
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from command_line import CommandLineTest

SCRIPTED = pathlib.Path(os.environ["EPHOST_FIXTURES"]) / "scripted"
INT8 = TensorProto.INT8
OPERATORS = ["QuantizeLinear", "DequantizeLinear", "DequantizeLinear", "DequantizeLinear", "Conv",
             "QuantizeLinear", "DequantizeLinear", "MaxPool", "QuantizeLinear", "DequantizeLinear",
             "Flatten", "QuantizeLinear", "DequantizeLinear", "DequantizeLinear", "MatMul",
             "QuantizeLinear", "DequantizeLinear", "Relu"]
REFINED = ["QuantizeLinear", "QLinearConv", "MaxPool", "Flatten", "QLinearMatMul", "DequantizeLinear",
           "Relu"]


class Network:
    """Conv, MaxPool, Flatten, MatMul and Relu, with DequantizeLinear and QuantizeLinear around them."""

    def __init__(self):
        random = np.random.default_rng(5)
        self.x_scale, self.x_zero = np.float32(0.0213), np.uint8(117)
        self.weights = random.integers(-127, 128, (4, 3, 3, 3), dtype=np.int8)
        self.weight_scales = random.uniform(0.002, 0.01, 4).astype(np.float32)
        self.bias = random.integers(-4000, 4000, 4, dtype=np.int32)
        self.c_scale, self.c_zero = np.float32(0.0471), np.uint8(121)
        self.matrix = random.integers(-127, 128, (64, 5), dtype=np.int8)
        self.matrix_scale = np.float32(0.0067)
        self.y_scale, self.y_zero = np.float32(0.113), np.int8(-9)
        self.x = random.uniform(-2.4, 2.8, (1, 3, 8, 8)).astype(np.float32)

    def save(self, path):
        nodes, constants = [], []

        def constant(name, value):
            constants.append(numpy_helper.from_array(np.asarray(value), name))

        def node(op, inputs, output, **attributes):
            nodes.append(helper.make_node(op, inputs, [output], output, **attributes))

        def round_trip(name):
            node("QuantizeLinear", [name, "c_scale", "c_zero"], "q" + name)
            node("DequantizeLinear", ["q" + name, "c_scale", "c_zero"], "f" + name)

        for name in ("x", "c", "y"):
            constant(f"{name}_scale", getattr(self, f"{name}_scale"))
            constant(f"{name}_zero", getattr(self, f"{name}_zero"))
        constant("weights", self.weights)
        constant("weight_scales", self.weight_scales)
        constant("bias", self.bias)
        constant("bias_scales", self.x_scale * self.weight_scales)
        constant("matrix", self.matrix)
        constant("matrix_scale", self.matrix_scale)
        node("QuantizeLinear", ["x", "x_scale", "x_zero"], "qx")
        node("DequantizeLinear", ["qx", "x_scale", "x_zero"], "fx")
        node("DequantizeLinear", ["weights", "weight_scales"], "fw", axis=0)
        node("DequantizeLinear", ["bias", "bias_scales"], "fb", axis=0)
        node("Conv", ["fx", "fw", "fb"], "conv", pads=[1, 1, 1, 1])
        round_trip("conv")
        node("MaxPool", ["fconv"], "pool", kernel_shape=[2, 2], strides=[2, 2])
        round_trip("pool")
        node("Flatten", ["fpool"], "flat")
        round_trip("flat")
        node("DequantizeLinear", ["matrix", "matrix_scale"], "fm")
        node("MatMul", ["fflat", "fm"], "product")
        node("QuantizeLinear", ["product", "y_scale", "y_zero"], "qy")
        node("DequantizeLinear", ["qy", "y_scale", "y_zero"], "fy")
        node("Relu", ["fy"], "y")
        graph = helper.make_graph(nodes, "quantised",
                                  [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8])],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 5])], constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
        onnx.checker.check_model(model)
        onnx.save(model, str(path))

    def expected(self):
        """The outputs: float64 between the roundings to integers."""
        def round_to(values, scale, zero):
            kind = np.iinfo(np.asarray(zero).dtype)
            return np.clip(np.rint(values / np.float64(scale)) + int(zero), kind.min, kind.max) - int(zero)

        x = round_to(np.float64(self.x), self.x_scale, self.x_zero)
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
        sums = np.einsum("nchwij,ocij->nohw", windows, np.float64(self.weights))
        sums += self.bias.reshape(1, 4, 1, 1)
        factors = np.float64(self.x_scale) * np.float64(self.weight_scales).reshape(1, 4, 1, 1)
        conv = round_to(sums * factors, self.c_scale, self.c_zero)
        pooled = conv.reshape(1, 4, 4, 2, 4, 2).max(axis=(3, 5)).reshape(1, 64)
        product = pooled @ np.float64(self.matrix) * np.float64(self.c_scale) * np.float64(self.matrix_scale)
        y = round_to(product, self.y_scale, self.y_zero) * np.float64(self.y_scale)
        return np.maximum(y, 0)


class QuantizationTest(CommandLineTest):
    def setUp(self):
        super().setUp()
        self.network = Network()
        self.network.save(self.folder / "model.onnx")
        np.save(self.folder / "x.npy", self.network.x)

    def scripted(self, command, *arguments):
        return (command, "model.onnx", "--plugin-path", SCRIPTED, "--ep", "scripted", *arguments)

    def run_model(self, *arguments):
        self.ephost("run", *arguments, "--input", "x=x.npy", "--output", "y=y.npy")
        return np.load(self.folder / "y.npy")

    def test_integers_reach_the_providers(self):
        report = self.json(*self.scripted("partition", "--explain"))
        self.assertEqual([node["op"] for node in report["nodes"]], OPERATORS)
        declined = {decline["node"]: decline["reason"] for decline in report["declines"]
                    if decline["provider"].startswith("Scripted")}
        of_constants = {node["name"]: declined[node["id"]] for node in report["nodes"]
                        if node["name"] in ("fw", "fb", "fm")}
        for name, element_type in (("fw", INT8), ("fb", TensorProto.INT32), ("fm", INT8)):
            self.assertEqual(of_constants[name], "the script has no such operator; it reads a constant of "
                                                 f"element type {element_type}")
        folded = self.json(*self.scripted("partition", "--explain", "--config", "session.disable_quant_qdq=1"))
        self.assertEqual([node["op"] for node in folded["nodes"]],
                         [op for node, op in zip(report["nodes"], OPERATORS) if node["name"] not in of_constants])

    def test_steps_of_the_cpu_provider_work_on_integers(self):
        text = self.ephost("plan", "model.onnx").stdout
        self.assertEqual(re.findall(r"(?m)^ *\d+  (\w+) node ", text), REFINED)

    def test_results_are_those_of_numpy(self):
        step = float(self.network.y_scale)
        expected = self.network.expected()
        self.assertGreater(np.count_nonzero(expected), 1)
        for arguments in (("model.onnx",), self.scripted("x")[1:],
                          ("model.onnx", "--ep", "dnnl"), ("model.onnx", "--config", "session.disable_quant_qdq=1"),
                          ("model.onnx", "--disable-optimizer", "QDQSelectorActionTransformer")):
            with self.subTest(arguments):
                np.testing.assert_allclose(self.run_model(*arguments), expected, rtol=0, atol=1.001 * step)

    def test_context_models_keep_the_integers(self):
        before = self.run_model("model.onnx")
        self.json(*self.scripted("compile", "-o", "ctx.onnx"))
        written = onnx.load(str(self.folder / "ctx.onnx"))
        self.assertEqual([node.op_type for node in written.graph.node], [*OPERATORS[:-1], "EPContext"])
        types = {constant.name: constant.data_type for constant in written.graph.initializer}
        self.assertEqual((types["weights"], types["matrix"]), (INT8, INT8))
        after = self.run_model("ctx.onnx", *self.scripted("x")[2:])
        np.testing.assert_array_equal(before, after)


class BlockWeightsTest(CommandLineTest):
    """Constant weights of 4 bits with a scale for each block: no run dequantises them as a step of its own."""

    def check(self, op, rows, steps):
        random = np.random.default_rng(3)
        codes = random.integers(-8, 8, (64, 24))
        scales = random.uniform(0.01, 0.1, (2, 24)).astype(np.float32)
        packed = (codes.reshape(-1, 2) & 15).astype(np.uint8)
        weights = onnx.TensorProto(name="w", data_type=22, dims=codes.shape,
                                   raw_data=(packed[:, 0] | packed[:, 1] << 4).tobytes())
        nodes = [helper.make_node("DequantizeLinear", ["w", "s"], ["f"], axis=0, block_size=32),
                 helper.make_node(op, ["x", "f"], ["y"])]
        graph = helper.make_graph(nodes, "blocks",
                                  [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", 64])],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                                  [weights, numpy_helper.from_array(scales, "s")])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10),
                  str(self.folder / "model.onnx"))
        x = random.normal(size=(rows, 64)).astype(np.float32)
        np.save(self.folder / "x.npy", x)
        model = ("model.onnx", "--ep", "dnnl", "--dim", f"rows={rows}")
        text = self.ephost("plan", *model).stdout
        self.assertEqual(re.findall(r"(?m)^ *\d+  (\w+) ", text), steps, text)
        self.ephost("run", *model, "--input", "x=x.npy", "--output", "y=y.npy")
        expected = x.astype(np.float64) @ (codes * np.repeat(scales.astype(np.float64), 32, axis=0))
        np.testing.assert_allclose(np.load(self.folder / "y.npy"), expected, rtol=1e-4, atol=1e-4)

    def test_products_of_few_rows_read_the_weights_as_they_are_stored(self):
        for rows in (1, 8):
            self.check("MatMul", rows, ["MatMulNBits"])

    def test_others_get_dequantised_constants(self):
        self.check("MatMul", 9, ["partition"])
        self.check("Gemm", 1, ["partition"])


if __name__ == "__main__":
    unittest.main()
