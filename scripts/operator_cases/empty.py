"""Tensors without elements, and scalars."""

import numpy as np

from operator_cases.case import Case, array, flags, floats, integers, longs, texts


NONE, IMAGE = floats(0, 3), floats(0, 2, 5, 5)


def elementwise():
    for op_type in ("Relu", "Exp", "Tanh", "Neg", "Erf"):
        yield Case(op_type, "of nothing", [NONE], 14)
        yield Case(op_type, "of a scalar", [floats()], 14)
    for op_type in ("Add", "Mul", "Sub", "Div", "Pow", "Max", "Less"):
        yield Case(op_type, "nothing and a row", [NONE, floats(3)], 15)
        yield Case(op_type, "nothing and one", [floats(0), floats(1)], 15)
        yield Case(op_type, "scalars", [floats(low=0.5), floats(low=0.5)], 15)
    yield Case("Where", "nothing", [flags(0, 1), floats(3), floats(1, 1)], 16)


def windows_and_products():
    windows = {"kernel_shape": [2, 2]}
    yield Case("MaxPool", "no images", [IMAGE], 12, 2, **windows)
    yield Case("AveragePool", "no images", [IMAGE], 19, **windows)
    yield Case("GlobalAveragePool", "no images", [IMAGE], 7)
    yield Case("ConvTranspose", "no images", [IMAGE, floats(2, 3, 2, 2)], 11)
    yield Case("Conv", "no channels out", [floats(1, 2, 5, 5), floats(0, 2, 2, 2)], 11)
    yield Case("BatchNormalization", "no images", [IMAGE, floats(2), floats(2), floats(2), floats(2, low=0.5)], 15)
    yield Case("InstanceNormalization", "no images", [IMAGE, floats(2), floats(2)], 7)
    yield Case("LayerNormalization", "no rows", [NONE, floats(3), floats(3)], 17)
    yield Case("Gemm", "no rows", [NONE, floats(3, 4), floats(4)], 13)
    yield Case("Gemm", "no sum", [floats(2, 0), floats(0, 4), floats(4)], 13)
    yield Case("MatMul", "no rows", [NONE, floats(3, 2)], 13)
    yield Case("MatMul", "no batches", [floats(0, 2, 3), floats(3, 2)], 13)
    yield Case("MatMulInteger", "no rows", [integers(0, 3, dtype=np.uint8), integers(3, 2, dtype=np.uint8)], 10)
    yield Case("Einsum", "no sum", [floats(2, 0), floats(0, 3)], 12, equation="ij,jk->ik")
    yield Case("Softmax", "no rows", [NONE], 13)


def movement():
    yield Case("CumSum", "nothing", [NONE, array(0, np.int64)], 14)
    yield Case("Transpose", "nothing", [floats(2, 0, 3)], 13)
    yield Case("Expand", "nothing", [floats(1, 0), longs(3, 0)], 13)
    yield Case("Tile", "of nothing", [NONE, longs(2, 2)], 13)
    yield Case("Concat", "nothing", [NONE, NONE], 13, axis=0)
    yield Case("Split", "nothing", [NONE], 13, 2, axis=0)
    yield Case("Slice", "of nothing", [NONE, longs(0), longs(2)], 13)
    yield Case("Pad", "nothing cut", [floats(2, 3), longs(-1, 0, -1, 0)], 13)
    yield Case("Gather", "no rows", [NONE, longs()], 13)
    yield Case("GatherElements", "nothing", [floats(2, 3), np.zeros((0, 3), np.int64)], 13)
    yield Case("GatherND", "nothing", [floats(2, 3), np.zeros((0, 1), np.int64)], 13)
    yield Case("ScatterElements", "nothing", [floats(2, 3), np.zeros((0, 3), np.int64), floats(0, 3)], 18)
    yield Case("Unique", "nothing", [floats(0)], 11, 4)
    yield Case("OneHot", "nothing", [longs(), longs(3), array([0, 1])], 11)
    yield Case("Compress", "nothing", [floats(3), array([False, False], bool)], 11)


def others():
    yield Case("TopK", "no rows", [NONE, longs(2)], 11, 2)
    yield Case("ArgMax", "no rows", [NONE], 13, axis=1)
    yield Case("ArgMax", "of nothing", [NONE], 13, axis=0, is_valid=False)
    yield Case("ReduceMax", "no rows", [NONE, longs(1)], 20)
    yield Case("NonZero", "nothing", [NONE], 13)
    yield Case("Resize", "no images", [IMAGE, None, array([1, 1, 2, 2])], 13)
    yield Case("DepthToSpace", "nothing", [floats(0, 4, 2, 2)], 13, blocksize=2)
    yield Case("QuantizeLinear", "nothing", [NONE, array(0.1), array(3, np.uint8)], 13)
    yield Case("DynamicQuantizeLinear", "nothing", [NONE], 11, 3)
    yield Case("Cast", "nothing", [NONE], 13, to=7)
    yield Case("Cast", "scalar", [floats()], 13, to=7)
    yield Case("Shape", "scalar", [floats()], 15)
    yield Case("Size", "nothing", [NONE], 13)
    yield Case("Reshape", "scalar", [floats(1), longs()], 13)
    yield Case("Flatten", "scalar", [floats()], 13, axis=0)
    yield Case("Flatten", "nothing", [NONE], 13)
    yield Case("Unsqueeze", "scalar", [floats(), longs(0)], 13)
    yield Case("ReduceMean", "scalar", [floats()], 13)
    yield Case("Gather", "of a row by a scalar", [floats(4), array(2, np.int64)], 13)
    yield Case("NonMaxSuppression", "no boxes", [floats(1, 0, 4), floats(1, 2, 0), longs(3)], 11)
    yield Case("NonMaxSuppression", "no output", [floats(1, 4, 4), floats(1, 2, 4)], 11)
    yield Case("Range", "nothing", [array(3), array(1), array(1)], 11)
    yield Case("ConstantOfShape", "nothing", [longs(0, 2)], 9)
    yield Case("EyeLike", "nothing", [NONE], 9)
    yield Case("Trilu", "nothing", [NONE], 14)
    yield Case("Equal", "no texts", [texts([]), texts([])], 19)
    yield Case("GRU", "no steps", [floats(0, 2, 3), floats(1, 12, 3), floats(1, 12, 4)], 14, 2, hidden_size=4)
    yield Case("LSTM", "no batch", [floats(4, 0, 3), floats(1, 16, 3), floats(1, 16, 4)], 14, 3, hidden_size=4)


def cases():
    for family in (elementwise, windows_and_products, movement, others):
        yield from family()
