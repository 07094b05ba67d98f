"""Makes a quantised model of a float one in the form that static quantisers write (QDQ).

Each value that a quantised operator reads or writes passes through a QuantizeLinear and a
DequantizeLinear; the operators themselves stay those of the float model. Weights are stored in
int8, biases in int32, and dequantised. Operators that only move elements keep the scale of their
input. A Relu or Clip behind a quantised operator disappears: the quantisation saturates where it
would have.
"""

import dataclasses

import numpy as np

from models import reference
from models.folding import fold_normalization
from models.graph_edit import GraphEdit, attribute
from models.quantization import activation_parameters, quantized_bias, quantized_weight

MOVEMENTS = {"MaxPool", "Reshape", "Flatten", "Transpose"}
PRODUCTS = {"MatMul", "Gemm"}
# What quantisers take by default, and what they are told to take of transformers: there the sum
# with a mask has a range that leaves no precision.
CONVOLUTIONAL = PRODUCTS | {"Conv", "Add", "Concat", "AveragePool", "GlobalAveragePool"}


@dataclasses.dataclass(frozen=True)
class Options:
    activations: type = np.uint8
    per_channel: bool = True  # scales of weights: one for each output channel, or one


def operators_of(model):
    convolutional = any(node.op_type == "Conv" for node in model.graph.node)
    return CONVOLUTIONAL if convolutional else PRODUCTS


def calibrate(model, data_sets):
    """The smallest and the largest element of each float value, over all data sets."""
    ranges = {}

    def observe(name, value):
        if value.dtype.kind == "f" and value.size:
            low, high = ranges.get(name, (np.inf, -np.inf))
            ranges[name] = min(low, value.min()), max(high, value.max())

    for inputs in data_sets:
        reference.run(model, inputs, observe)
    return ranges


def quantize(model, data_sets, options=Options()):
    """A quantised copy of a ModelProto, with scales from running it on data_sets."""
    folded = fold_normalization(model)
    return StaticQuantizer(folded, calibrate(folded, data_sets), options).run()


class StaticQuantizer:
    """Rewrites the nodes in order. `renamed` tells what the readers of a value read instead."""

    def __init__(self, model, ranges, options):
        self.edit, self.ranges, self.options = GraphEdit(model), ranges, options
        self.operators = operators_of(model)
        self.absorbed = self.find_absorbed()
        self.replaced_by = {source: value for value, source in self.absorbed.items()}
        self.parameters = {}  # quantised value -> names of its scale and zero point
        self.quantized = self.find_quantized()
        self.renamed = {}
        self.restored = set()  # dequantised constants

    def run(self):
        for declared in self.edit.graph.input:
            if declared.name in self.quantized:
                self.round_trip(declared.name, declared.name)
        for node in self.edit.nodes:
            self.rewrite(node)
        return self.edit.finish()

    # What is quantised

    def computes(self, node):
        """Whether a node is one of the quantised operators, on floating-point numbers."""
        return node.op_type in self.operators and node.output[0] in self.ranges

    def is_quantized(self, node):
        return self.computes(node) or (
            node.op_type in MOVEMENTS and node.input[0] in self.quantized)

    def find_absorbed(self):
        """Output of an activation -> the value that it is computed from, where it disappears."""
        absorbed = {}
        for node in self.edit.nodes:
            source = self.edit.producers.get(node.input[0]) if node.input else None
            if (self.starts_at_zero(node) and source is not None and self.computes(source)
                    and self.edit.only_reader(node.input[0]) is node):
                absorbed[node.output[0]] = node.input[0]
        return absorbed

    def starts_at_zero(self, node):
        if node.op_type == "Relu":
            return True
        return node.op_type == "Clip" and self.edit.constant(node.input[1]) == 0

    def find_quantized(self):
        """Float values that quantised operators read or write, and those moved from such."""
        quantized = set(self.absorbed)
        for node in self.edit.nodes:
            if self.computes(node):
                quantized.update(self.activations(node), node.output)
        quantized -= set(self.absorbed.values())  # nothing reads those
        for node in self.edit.nodes:
            if node.op_type in MOVEMENTS and node.input[0] in quantized:
                quantized.update(node.output)
        return quantized & set(self.ranges)

    def weight_axis(self, node):
        """The axis of the output channels in the weight of a node, None if it has no weight."""
        weight = self.edit.constant(node.input[1]) if len(node.input) > 1 else None
        if weight is None or node.op_type not in PRODUCTS | {"Conv"}:
            return None
        if node.op_type == "Conv":
            return 0
        transposed = attribute(node, "transB", 0)
        return 0 if transposed else weight.ndim - 1

    def activations(self, node):
        """The float inputs of a quantised operator that are neither weights nor biases."""
        return node.input[:1] if self.weight_axis(node) is not None else node.input

    # Rewriting

    def rewrite(self, node):
        if node.output[0] in self.absorbed:
            return
        quantized, moved = self.is_quantized(node), node.input[0] if node.input else None
        constants = self.constant_inputs(node) if quantized else {}
        for i, name in enumerate(node.input):
            node.input[i] = constants.get(i) or self.renamed.get(name, name)
        value = self.replaced_by.get(node.output[0], node.output[0])
        is_output = quantized and value in self.edit.outputs
        if is_output:
            node.output[0] = f"{value}.float"
        self.edit.keep(node)
        if value in self.quantized:
            if quantized and node.op_type in MOVEMENTS:
                self.parameters[value] = self.parameters[moved]
            self.round_trip(value, node.output[0], is_output)

    def constant_inputs(self, node):
        """Index of an input -> the dequantised constant that takes its place."""
        axis = self.weight_axis(node)
        if axis is None:
            float_constants = {i: name for i, name in enumerate(node.input)
                               if self.computes(node) and name in self.edit.constants}
            return {i: self.constant_activation(name) for i, name in float_constants.items()}
        weight, scale = self.weight(node.input[1], axis)
        replaced = {1: weight}
        if len(node.input) > 2:
            replaced[2] = self.bias(node, scale)
        return replaced

    def parameters_of(self, value):
        """Names of the scale and the zero point of a value, which are stored at the first use."""
        if value not in self.parameters:
            if value in self.edit.constants:
                constant = self.edit.constant(value)
                low, high = constant.min(), constant.max()
            else:
                low, high = self.ranges[value]
            scale, zero_point = activation_parameters(low, high, self.options.activations)
            self.parameters[value] = (self.edit.store(f"{value}.scale", scale),
                                      self.edit.store(f"{value}.zero_point", zero_point))
        return self.parameters[value]

    def round_trip(self, value, produced, is_output=False):
        """Quantises `produced` as `value` and dequantises it for all readers."""
        parameters = self.parameters_of(value)
        quantized = self.edit.add("QuantizeLinear", [produced, *parameters], f"{value}.quantized")
        restored = value if is_output else f"{value}.dequantized"
        self.renamed[value] = self.edit.add("DequantizeLinear", [quantized, *parameters], restored)

    def constant_activation(self, name):
        """A constant operand of a sum, say, in the type of the activations."""
        scale, zero_point = self.parameters_of(name)
        values = reference.KERNELS["QuantizeLinear"](
            self.edit.constant(name).astype(np.float64), self.edit.constant(scale),
            self.edit.constant(zero_point))
        stored = self.edit.store(f"{name}.quantized", values)
        return self.dequantized(stored, scale, zero_point, f"{name}.dequantized")

    def weight(self, name, axis):
        """The dequantised weight and its scales."""
        axis = axis if self.options.per_channel else None
        values, scale = quantized_weight(self.edit.constant(name), axis)
        stored = [self.edit.store(f"{name}.quantized", values),
                  self.edit.store(f"{name}.scale", scale),
                  self.edit.store(f"{name}.zero_point", np.zeros(scale.shape, np.int8))]
        return self.dequantized(*stored, f"{name}.dequantized", axis), scale

    def bias(self, node, weight_scale):
        name = f"{node.name}.bias"  # of this node: the scale depends on its input
        input_scale = self.edit.constant(self.parameters_of(node.input[0])[0])
        scale = (input_scale.astype(np.float64) * weight_scale).astype(np.float32)
        values = quantized_bias(self.edit.constant(node.input[2]), scale, node.name)
        stored = [self.edit.store(f"{name}.quantized", values),
                  self.edit.store(f"{name}.scale", scale),
                  self.edit.store(f"{name}.zero_point", np.zeros(scale.shape, np.int32))]
        axis = 0 if self.options.per_channel else None
        return self.dequantized(*stored, f"{name}.dequantized", axis)

    def dequantized(self, values, scale, zero_point, output, axis=None):
        if output in self.restored:  # for another reader
            return output
        self.restored.add(output)
        attributes = {} if axis is None else {"axis": axis}
        return self.edit.add("DequantizeLinear", [values, scale, zero_point], output, **attributes)
