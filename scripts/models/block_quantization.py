"""Makes a model of a float one whose matrix weights have 4 bits, with a scale for each block.

A block is a run of weights that one output adds up. Two forms are in use: the operator MatMulNBits
of the domain com.microsoft, and DequantizeLinear with a block_size (operator set 21) before MatMul.
"""

import dataclasses

import numpy as np

from models.builder import IR_VERSIONS
from models.four_bits import from_array, pack
from models.graph_edit import GraphEdit
from models.quantization import rounded_up

BLOCK_OPSET = 21
# Operators whose form of operator set 17 is not one of operator set 21.
CHANGED_SINCE_17 = {"ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "Pad"}


@dataclasses.dataclass(frozen=True)
class Options:
    block_size: int = 32
    zero_points: bool = False  # one for each block, or the middle of the range for all


def quantized_blocks(weight, options):
    """Weights [K, N] as values from 0 to 15 with scales and zero points [blocks, N]."""
    rows, columns = weight.shape
    padding = -rows % options.block_size
    blocks = np.pad(weight.astype(np.float64), [(0, padding), (0, 0)])
    blocks = blocks.reshape(-1, options.block_size, columns)
    if options.zero_points:
        low, high = np.minimum(blocks.min(1), 0), np.maximum(blocks.max(1), 0)
        scale = rounded_up((high - low) / 15)
        zero_point = np.clip(np.rint(-low / scale.astype(np.float64)), 0, 15)
    else:
        scale = rounded_up(np.abs(blocks).max(1) / 7)
        zero_point = np.full(scale.shape, 8.0)
    values = np.rint(blocks / scale[:, None].astype(np.float64)) + zero_point[:, None]
    values = np.clip(values, 0, 15).astype(np.uint8).reshape(-1, columns)[:rows]
    return values, scale, zero_point.astype(np.uint8)


def weights_of(edit):
    """Each node with its weight, None unless it is a MatMul with a constant matrix."""
    for node in edit.nodes:
        weight = edit.constant(node.input[1]) if node.op_type == "MatMul" else None
        yield node, weight if weight is not None and weight.ndim == 2 else None


def with_matmul_n_bits(model, options=Options()):
    """A copy of a ModelProto with MatMulNBits in place of MatMul."""
    edit = GraphEdit(model)
    for node, weight in weights_of(edit):
        if weight is None:
            edit.keep(node)
            continue
        name, (rows, columns) = node.input[1], weight.shape
        values, scale, zero_point = quantized_blocks(weight, options)
        padding = -rows % options.block_size
        values = np.pad(values, [(0, padding), (0, 0)], constant_values=8).T
        blob = pack(values).reshape(columns, -1, options.block_size // 2)
        inputs = [node.input[0], edit.store(f"{name}.blocks", blob),
                  edit.store(f"{name}.scales", np.ascontiguousarray(scale.T).reshape(-1))]
        if options.zero_points:
            odd = len(zero_point) % 2
            points = np.pad(zero_point, [(0, odd), (0, 0)]).T
            inputs.append(edit.store(f"{name}.zero_points", pack(points)))
        edit.add("MatMulNBits", inputs, node.output[0], domain="com.microsoft", K=rows, N=columns,
                 bits=4, block_size=options.block_size)
    result = edit.finish()
    result.opset_import.add(domain="com.microsoft", version=1)
    return result


def with_dequantize_linear(model, options=Options()):
    """A copy of a ModelProto in operator set 21 with a DequantizeLinear before each MatMul. The
    weights are INT4, or UINT4 where they have zero points."""
    edit = GraphEdit(model)
    for node, weight in weights_of(edit):
        if node.op_type in CHANGED_SINCE_17:
            raise ValueError(f"{node.op_type} '{node.name}' has no such form in operator set 21")
        if weight is not None:
            node.input[1] = dequantized(edit, node.input[1], weight, options)
        edit.keep(node)
    result = edit.finish()
    (standard,) = (opset for opset in result.opset_import if opset.domain == "")
    standard.version, result.ir_version = BLOCK_OPSET, IR_VERSIONS[BLOCK_OPSET]
    return result


def dequantized(edit, name, weight, options):
    output = f"{name}.dequantized"
    if f"{name}.scales" in edit.constants:
        return output
    values, scale, zero_point = quantized_blocks(weight, options)
    signed = not options.zero_points
    values = values.astype(np.int8) - np.int8(8) if signed else values
    inputs = [edit.store_tensor(from_array(values, f"{name}.blocks", signed)),
              edit.store(f"{name}.scales", scale)]
    if options.zero_points:
        inputs.append(edit.store_tensor(from_array(zero_point, f"{name}.zero_points", signed)))
    return edit.add("DequantizeLinear", inputs, output, axis=0, block_size=options.block_size)
