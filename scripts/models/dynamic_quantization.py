"""Makes a model of a float one whose matrix products quantise their left side as they run.

The form is that of dynamic quantisers: DynamicQuantizeLinear, MatMulInteger with int8 weights, Cast
and Mul with the product of both scales. Tables of embeddings are stored in int8, and what Gather
takes from them is dequantised.
"""

import numpy as np
from onnx import TensorProto

from models.graph_edit import GraphEdit, attribute
from models.quantization import quantized_weight


WEIGHT_INPUT = {"MatMul": 1, "Gemm": 1, "Gather": 0}


def quantize(model, per_column=True):
    """A copy of a ModelProto with MatMul, Gemm and Gather of float matrices quantised."""
    edit = GraphEdit(model)
    quantized = set()  # values with a DynamicQuantizeLinear
    for node in edit.nodes:
        index = WEIGHT_INPUT.get(node.op_type)
        constant = None if index is None else edit.constant(node.input[index])
        if constant is None or constant.ndim != 2 or constant.dtype != np.float32:
            edit.keep(node)
        elif node.op_type == "Gather":
            gather(edit, node, constant)
        else:
            product(edit, node, constant, quantized, per_column)
    return edit.finish()


def gather(edit, node, table):
    if attribute(node, "axis", 0) != 0:
        edit.keep(node)
        return
    name, output = node.input[0], node.output[0]
    values, scale = quantized_weight(table, None)
    parameters = [edit.store(f"{name}.scale", scale),
                  edit.store(f"{name}.zero_point", np.array(0, np.int8))]
    rows = edit.add("Gather", [edit.store(f"{name}.quantized", values), node.input[1]],
                    f"{output}.quantized")
    edit.add("DequantizeLinear", [rows, *parameters], output)


def product(edit, node, weight, quantized, per_column):
    """MatMul, or Gemm without factors of its own, of a value and a constant."""
    factors = {name: attribute(node, name, default)
               for name, default in (("alpha", 1.0), ("beta", 1.0), ("transA", 0))}
    if factors != dict(alpha=1.0, beta=1.0, transA=0):
        raise ValueError(f"'{node.name}' has {factors}, which have no integer form")
    value, name, output = node.input[0], node.input[1], node.output[0]
    if attribute(node, "transB", 0):
        weight, name = weight.T, f"{name}.transposed"
    if value not in quantized:
        edit.add("DynamicQuantizeLinear", [value],
                 [f"{value}.{part}" for part in ("quantized", "scale", "zero_point")])
        quantized.add(value)
    values, scale = quantized_weight(weight, 1 if per_column else None)
    stored = [edit.store(f"{name}.quantized", np.ascontiguousarray(values)),
              edit.store(f"{name}.zero_point", np.zeros(scale.shape, np.int8))]
    integers = edit.add("MatMulInteger", [f"{value}.quantized", stored[0], f"{value}.zero_point",
                                          stored[1]], f"{output}.integers")
    cast = edit.add("Cast", [integers], f"{output}.cast", to=TensorProto.FLOAT)
    factor = edit.add("Mul", [f"{value}.scale", edit.store(f"{name}.scale", scale)],
                      f"{output}.scale")
    bias = node.input[2] if len(node.input) > 2 else None
    result = edit.add("Mul", [cast, factor], f"{output}.product" if bias else output)
    if bias:
        edit.add("Add", [result, bias], output)
