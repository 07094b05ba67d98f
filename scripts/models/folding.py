"""Folds what follows a convolution with fixed values for each channel into its weights.

That is BatchNormalization, and Mul and Add of constants. Static quantisers expect models in this
form: the optimiser that is run before them folds the same.
"""

import numpy as np
from onnx import numpy_helper

from models import reference
from models.graph_edit import GraphEdit, attribute


def fold_normalization(model):
    """Returns a copy of the model with fewer nodes and, up to rounding, the same results."""
    edit = GraphEdit(model)
    fold_constants(edit)
    folded = set()  # ids of nodes whose work a convolution does
    for node in edit.nodes:
        if id(node) in folded:
            continue
        if node.op_type == "Conv":
            fold_into(edit, node, folded)
        edit.keep(node)
    return edit.finish()


def fold_constants(edit):
    """Turns the results of Unsqueeze of initializers into initializers."""
    for node in edit.nodes:
        inputs = [edit.constant(name) for name in node.input]
        if node.op_type == "Unsqueeze" and all(value is not None for value in inputs):
            value = reference.KERNELS["Unsqueeze"](*inputs)
            edit.store_tensor(numpy_helper.from_array(value, node.output[0]))
    edit.nodes = [node for node in edit.nodes if node.output[0] not in edit.constants]


def fold_into(edit, conv, folded):
    weight = edit.constant(conv.input[1]).astype(np.float64)
    channels = len(weight)
    bias = edit.constant(conv.input[2]) if len(conv.input) > 2 else np.zeros(channels, np.float32)
    bias = bias.astype(np.float64)
    output = conv.output[0]
    while (reader := edit.only_reader(output)) is not None:
        affine = factor_and_offset(edit, reader, channels)
        if affine is None:
            break
        factor, offset = affine
        weight *= factor.reshape(-1, *[1] * (weight.ndim - 1))
        bias = bias * factor + offset
        output = reader.output[0]
        folded.add(id(reader))
    if output == conv.output[0]:
        return
    names = [edit.store(f"{conv.name}.folded.{part}", values.astype(np.float32))
             for part, values in (("weight", weight), ("bias", bias))]
    conv.input[1:] = names
    conv.output[0] = output


def factor_and_offset(edit, node, channels):
    """A node as a multiplication and an addition for each channel, None if it is something else."""
    constants = [edit.constant(name) for name in node.input[1:]]
    if any(values is None for values in constants):
        return None
    constants = [values.astype(np.float64) for values in constants]
    if node.op_type == "BatchNormalization":
        scale, offset, mean, variance = constants
        factor = scale / np.sqrt(variance + attribute(node, "epsilon", 1e-5))
        return factor, offset - mean * factor
    if node.op_type not in ("Mul", "Add") or constants[0].shape != (channels, 1, 1):
        return None
    values = constants[0].reshape(-1)
    if node.op_type == "Mul":
        return values, np.zeros(channels)
    return np.ones(channels), values
