"""Tensors of 4-bit integers, which the onnx package of Debian 12 does not know.

Two elements share a byte, the first in its low half; an odd last element leaves the high half 0.
"""

import math

import numpy as np
from onnx import TensorProto, numpy_helper

UINT4, INT4 = 21, 22  # of TensorProto.DataType


def pack(values):
    """Bytes that hold the low half of each element of an array of integers."""
    halves = np.asarray(values).astype(np.uint8).reshape(-1) & 15
    halves = np.append(halves, np.zeros(halves.size % 2, np.uint8))
    return halves[::2] | halves[1::2] << 4


def unpack(data, count, signed):
    """The first `count` elements as int8 or uint8."""
    halves = np.stack([data & 15, data >> 4], -1).reshape(-1)[:count]
    return ((halves ^ 8).astype(np.int8) - np.int8(8)) if signed else halves


def from_array(values, name, signed):
    """A TensorProto of type INT4 or UINT4."""
    return TensorProto(name=name, dims=values.shape, data_type=INT4 if signed else UINT4,
                       raw_data=pack(values).tobytes())


def to_array(tensor):
    """The elements of any TensorProto; 4-bit ones come as int8 or uint8."""
    if tensor.data_type not in (UINT4, INT4):
        return numpy_helper.to_array(tensor)
    data = np.frombuffer(tensor.raw_data, np.uint8)
    values = unpack(data, math.prod(tensor.dims), tensor.data_type == INT4)
    return values.reshape(tensor.dims)
