#!/usr/bin/python3
"""Tests of the quantisers: the form of what they write, its arithmetic, and its distance from the
float model."""

import collections
import os
import sys
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from models import (block_quantization, catalog, dynamic_quantization, files, folding,  # noqa: E402
                    four_bits, quantization, reference, static_quantization)
from models import quantized_reference as kernels  # noqa: E402
from models.builder import GraphBuilder  # noqa: E402
from models.graph_edit import GraphEdit, attribute  # noqa: E402

LARGEST_DISTANCE = {"qdq": 0.05, "dynamic": 0.05, "int4": 0.3}  # relative, by the form's first word


def entries():
    return [entry for entry in catalog.select(["quantized"]) if entry.name.startswith("tiny_")]


def counts(proto):
    return collections.Counter(node.op_type for node in proto.graph.node)


def weights(proto):
    return {tensor.name: four_bits.to_array(tensor) for tensor in proto.graph.initializer}


def one_conv(after):
    """A 1x1 convolution with weights 2 and -4 and a bias, then what `after` adds to the graph."""
    g = GraphBuilder("one_conv")
    x = g.input("x", [1, 1, 2, 2])
    weight = g.initializer("w", np.array([2, -4], np.float32).reshape(2, 1, 1, 1))
    bias = g.initializer("b", np.array([0.5, 1], np.float32))
    y = after(g, g.node("Conv", x, weight, bias, name="conv", width=2))
    g.output(y, [1, 2, 2, 2])
    data = np.array([-1, 0, 1, 4], np.float32).reshape(1, 1, 2, 2)
    return g.model(), [{"x": data}]


class QuantizedModelsTest(unittest.TestCase):
    def test_they_are_valid_and_their_types_and_shapes_are_inferred(self):
        for entry in entries():
            proto = entry.make().proto
            with self.subTest(entry.name):
                if files.is_known_to_checker(proto):
                    onnx.checker.check_model(proto, full_check=True)
                else:
                    self.assertTrue(entry.name.endswith("int4_dq"))

    def test_making_one_again_gives_the_same_bytes(self):
        for entry in entries():
            with self.subTest(entry.name):
                first, second = (entry.make().proto.SerializeToString(deterministic=True)
                                 for _ in range(2))
                self.assertEqual(first, second)

    def test_their_results_are_near_those_of_the_float_model_but_not_the_same(self):
        for entry in entries():
            model, original = entry.make(), entry.build()
            for inputs in model.data_sets:
                actual, expected = (reference.run(each.proto, inputs)[0]
                                    for each in (model, original))
                distance = np.linalg.norm(actual - expected) / np.linalg.norm(expected)
                with self.subTest(entry.name):
                    self.assertLess(distance, LARGEST_DISTANCE[entry.form.split("_")[0]])
                    self.assertGreater(distance, 1e-4)

    def test_the_float_model_stays_as_it_was(self):
        model = catalog.select(["tiny_residual"])[0].make()
        before = model.proto.SerializeToString(deterministic=True)
        static_quantization.quantize(model.proto, model.data_sets)
        dynamic_quantization.quantize(model.proto)
        block_quantization.with_matmul_n_bits(model.proto)
        self.assertEqual(model.proto.SerializeToString(deterministic=True), before)


class StaticTest(unittest.TestCase):
    def quantize(self, name, **options):
        model = catalog.select([name])[0].make()
        return static_quantization.quantize(model.proto, model.data_sets,
                                            static_quantization.Options(**options))

    def test_every_operand_of_a_convolution_comes_from_dequantize_linear(self):
        proto = self.quantize("tiny_residual")
        edit = GraphEdit(proto)
        for node in proto.graph.node:
            if node.op_type in ("Conv", "Gemm", "Add", "GlobalAveragePool"):
                for name in node.input:
                    self.assertEqual(edit.producers[name].op_type, "DequantizeLinear", node.name)
                (reader,) = edit.readers[node.output[0]]
                self.assertEqual(reader.op_type, "QuantizeLinear", node.name)

    def test_activations_and_normalisation_disappear(self):
        operators = counts(self.quantize("tiny_residual"))
        self.assertEqual((operators["Relu"], operators["BatchNormalization"]), (0, 0))
        self.assertEqual(operators["Conv"], 6)

    def test_a_relu_makes_zero_the_lowest_value(self):
        for dtype in (np.uint8, np.int8):
            model, data = one_conv(lambda g, y: g.relu(y, name="relu"))
            proto = static_quantization.quantize(model, data,
                                                 static_quantization.Options(activations=dtype))
            self.assertEqual(weights(proto)["relu.zero_point"], np.iinfo(dtype).min)
            result = reference.run(proto, {"x": -data[0]["x"]})[0]
            self.assertEqual(result.min(), 0)

    def test_a_clip_that_does_not_start_at_zero_stays(self):
        model, data = one_conv(lambda g, y: g.node("Clip", y, g.scalar("low", -1), name="clip"))
        self.assertEqual(counts(static_quantization.quantize(model, data))["Clip"], 1)

    def test_an_activation_stays_where_its_input_has_another_reader(self):
        model, data = one_conv(lambda g, y: g.add(y, g.relu(y)))
        self.assertEqual(counts(static_quantization.quantize(model, data))["Relu"], 1)

    def test_sums_of_integers_stay(self):
        def reshaped(g, y):
            shape = g.node("Add", g.node("Shape", y), g.ints("zeros", [0, 0, 0, 0]), name="sum")
            return g.node("Reshape", y, shape)

        model, data = one_conv(reshaped)
        proto = static_quantization.quantize(model, data)
        producers = GraphEdit(proto).producers
        self.assertEqual(list(producers["sum"].input), ["shape", "zeros"])
        onnx.checker.check_model(proto, full_check=True)

    def test_scales_follow_from_the_ranges(self):
        model, data = one_conv(lambda g, y: y)
        stored = weights(static_quantization.quantize(model, data))
        # x is in [-1, 4], the result in [-15, 8.5]; scales are rounded up by at most 1 / 2048.
        for name, width in (("x", 5), ("conv", 23.5)):
            self.assertGreaterEqual(stored[f"{name}.scale"], width / 255)
            self.assertLess(stored[f"{name}.scale"], width / 255 * (1 + 1 / 2048))
        self.assertEqual(stored["x.zero_point"], 51)
        self.assertEqual(stored["w.quantized"].reshape(-1).tolist(), [127, -127])
        np.testing.assert_array_equal(stored["conv.bias.scale"],
                                      stored["x.scale"] * stored["w.scale"])
        np.testing.assert_allclose(stored["conv.bias.quantized"] * stored["conv.bias.scale"],
                                   [0.5, 1], 1e-3)
        self.assertEqual(stored["conv.bias.quantized"].dtype, np.int32)

    def test_weights_have_a_scale_per_channel_or_one(self):
        model, data = one_conv(lambda g, y: y)
        for per_channel, shape in ((True, (2,)), (False, ())):
            options = static_quantization.Options(per_channel=per_channel)
            proto = static_quantization.quantize(model, data, options)
            self.assertEqual(weights(proto)["w.scale"].shape, shape)
            axes = [attribute(node, "axis", None) for node in proto.graph.node
                    if node.output[0] == "w.dequantized"]
            self.assertEqual(axes, [0 if per_channel else None])

    def test_movements_keep_the_scale_of_their_input(self):
        proto = self.quantize("tiny_cnn")
        scales = {node.output[0]: node.input[1] for node in proto.graph.node
                  if node.op_type == "QuantizeLinear"}
        self.assertEqual(scales["maxpool.quantized"], scales["block.relu.quantized"])
        self.assertEqual(scales["flatten.quantized"], scales["block.relu.quantized"])

    def test_outputs_keep_their_names_and_float_results_their_values(self):
        model = catalog.select(["tiny_decoder"])[0].make()
        proto = static_quantization.quantize(model.proto, model.data_sets)
        self.assertEqual(proto.graph.output, model.proto.graph.output)
        # The keys of the first layer are written in float: only the product before is quantised.
        producers = GraphEdit(proto).producers
        self.assertEqual(producers["present.0.key"].op_type, "Identity")
        self.assertEqual(producers["logits"].op_type, "DequantizeLinear")

    def test_a_bias_beyond_int32_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "the bias of 'fc' is too large"):
            quantization.quantized_bias(np.array([3e9]), np.float32(1), "fc")


class FoldingTest(unittest.TestCase):
    def test_it_keeps_the_results_and_folds_every_normalisation_behind_a_convolution(self):
        for name in ("tiny_residual", "tiny_two_branches"):
            model = catalog.select([name])[0].make()
            folded = folding.fold_normalization(model.proto)
            self.assertEqual(counts(folded)["BatchNormalization"], 0)
            for inputs in model.data_sets:
                for actual, expected in zip(reference.run(folded, inputs),
                                            reference.run(model.proto, inputs)):
                    np.testing.assert_allclose(actual, expected, 1e-5, 1e-6)

    def test_it_folds_unsqueezed_factors_and_offsets_per_channel(self):
        def scaled(g, y):
            axes = g.ints("axes", [1, 2])
            factor, offset = (g.node("Unsqueeze", g.seeded(name, (2,), 1, 2), axes)
                              for name in ("factor", "offset"))
            return g.node("Add", g.node("Mul", y, factor), offset, name="result")

        model, (inputs,) = one_conv(scaled)
        folded = folding.fold_normalization(model)
        self.assertEqual(counts(folded), {"Conv": 1})
        np.testing.assert_allclose(reference.run(folded, inputs)[0],
                                   reference.run(model, inputs)[0], 1e-6)

    def test_it_leaves_a_sum_with_something_else(self):
        for shape in ((1,), (2, 2), (1, 2, 1, 1, 1)):
            with self.subTest(shape):
                model, _ = one_conv(lambda g, y: g.add(y, g.seeded("c", shape, 0, 1)))
                self.assertEqual(counts(folding.fold_normalization(model))["Add"], 1)


class DynamicTest(unittest.TestCase):
    def test_readers_of_one_value_share_its_quantisation(self):
        operators = counts(catalog.select(["tiny_bert_dynamic"])[0].make().proto)
        self.assertEqual(operators["MatMulInteger"], 2 * 6 + 1)
        self.assertEqual(operators["DynamicQuantizeLinear"], 2 * 4 + 1)  # query, key, value share
        self.assertEqual(operators["MatMul"], 2 * 2)  # of two activations

    def test_a_product_with_factors_is_refused(self):
        g = GraphBuilder("factors")
        x = g.input("x", [2, 3])
        y = g.node("Gemm", x, g.seeded("w", (3, 4), -1, 1), name="scaled", alpha=2.0)
        g.output(y, [2, 4])
        with self.assertRaisesRegex(ValueError, "'scaled' has .* no integer form"):
            dynamic_quantization.quantize(g.model())


class BlockTest(unittest.TestCase):
    def quantize(self, rows, columns, convert, **options):
        """A MatMul with 4-bit weights: its result for a unit matrix, and the float weights."""
        g = GraphBuilder("product")
        x = g.input("x", ["n", rows])
        weight = np.random.Generator(np.random.PCG64(7)).random((rows, columns), np.float32)
        g.output(g.node("MatMul", x, g.initializer("w", weight - np.float32(0.3)), name="y"),
                 ["n", columns])
        proto = convert(g.model(), block_quantization.Options(**options))
        return reference.run(proto, {"x": np.eye(rows, dtype=np.float32)})[0], weight - 0.3

    def test_each_weight_is_within_half_a_step_of_its_block(self):
        for rows, columns, size, zero_points in [(64, 5, 32, False), (64, 5, 32, True),
                                                 (40, 3, 16, False), (40, 3, 16, True),
                                                 (96, 1, 32, True), (7, 2, 16, True)]:
            for convert in (block_quantization.with_matmul_n_bits,
                            block_quantization.with_dequantize_linear):
                actual, expected = self.quantize(rows, columns, convert, block_size=size,
                                                 zero_points=zero_points)
                with self.subTest(convert.__name__, rows=rows, zero_points=zero_points):
                    for start in range(0, rows, size):
                        block = slice(start, start + size)
                        part = expected[block]
                        step = (np.maximum(part.max(0), 0) - np.minimum(part.min(0), 0)) / 15 \
                            if zero_points else np.abs(part).max(0) / 7
                        # A zero point is rounded too, and may push the end of the range out.
                        limit = step * (1.01 if zero_points else 0.501)
                        self.assertTrue((np.abs(actual[block] - part) <= limit).all())

    def test_both_forms_store_the_same_weights(self):
        for zero_points in (False, True):
            results = [self.quantize(70, 6, convert, zero_points=zero_points)[0]
                       for convert in (block_quantization.with_matmul_n_bits,
                                       block_quantization.with_dequantize_linear)]
            np.testing.assert_array_equal(*results)

    def test_an_operator_that_changed_is_refused(self):
        model = catalog.select(["tiny_bert"])[0].make().proto
        with self.assertRaisesRegex(ValueError, "ReduceMean '.*' has no such form"):
            block_quantization.with_dequantize_linear(model)

    def test_four_bits_are_packed_low_half_first(self):
        self.assertEqual(four_bits.pack([1, 2, 15]).tolist(), [0x21, 0x0F])
        tensor = four_bits.from_array(np.array([[-8, 7, -1]]), "t", signed=True)
        self.assertEqual((tensor.data_type, tensor.raw_data), (four_bits.INT4, b"\x78\x0f"))
        np.testing.assert_array_equal(four_bits.to_array(tensor), [[-8, 7, -1]])
        tensor = four_bits.from_array(np.array([8, 15]), "t", signed=False)
        np.testing.assert_array_equal(four_bits.to_array(tensor), [8, 15])


class KernelsTest(unittest.TestCase):
    """The quantised kernels of the reference on examples worked out by hand."""

    def test_quantize_linear_rounds_half_to_even_then_saturates(self):
        x = np.array([-300, -1.5, -0.5, 0.5, 1.5, 2.5, 300])
        unsigned = kernels.quantize_linear(x, np.array(1.0), np.array(2, np.uint8))
        self.assertEqual(unsigned.tolist(), [0, 0, 2, 2, 4, 4, 255])
        signed = kernels.quantize_linear(x, np.array(1.0), np.array(0, np.int8))
        self.assertEqual(signed.tolist(), [-128, -2, 0, 0, 2, 2, 127])

    def test_quantize_linear_takes_a_scale_for_each_index_along_the_axis(self):
        x = np.array([[1.0, 2.0], [3.0, 4.0]])
        scale, zero = np.array([1.0, 0.5]), np.array([0, 1], np.uint8)
        self.assertEqual(kernels.quantize_linear(x, scale, zero, axis=0).tolist(), [[1, 2], [7, 9]])
        self.assertEqual(kernels.quantize_linear(x, scale, zero, axis=1).tolist(), [[1, 5], [3, 9]])

    def test_dequantize_linear_takes_a_scale_for_each_block(self):
        x = np.array([[10], [20], [30], [40], [50]], np.uint8)
        scale, zero = np.array([[1.0], [2.0], [3.0]]), np.array([[0], [20], [50]], np.uint8)
        result = kernels.dequantize_linear(x, scale, zero, axis=0, block_size=2)
        self.assertEqual(result.reshape(-1).tolist(), [10, 20, 20, 40, 0])

    def test_dynamic_quantize_linear_follows_the_examples_of_the_specification(self):
        for x, zero_point, expected in [
            ([-1.0, -2.1, -1.3, -2.5, -3.34, -4.0], 255, [191, 121, 172, 96, 42, 0]),
            ([1.0, 2.1, 1.3, 2.5, 3.34, 4.0], 0, [64, 134, 83, 159, 213, 255]),
        ]:
            values, scale, offset = kernels.dynamic_quantize_linear(np.array(x))
            self.assertAlmostEqual(float(scale), 0.0156862754, 8)
            self.assertEqual((offset, values.tolist()), (zero_point, expected))

    def test_matmul_integer_subtracts_zero_points_per_column(self):
        a, b = np.array([[255, 0]], np.uint8), np.array([[-128, 1], [5, 6]], np.int8)
        result = kernels.matmul_integer(a, b, np.uint8(1), np.array([0, 1], np.int8))
        self.assertEqual(result.tolist(), [[254 * -128 - 5, -5]])
        self.assertEqual(result.dtype, np.int32)


if __name__ == "__main__":
    unittest.main()
