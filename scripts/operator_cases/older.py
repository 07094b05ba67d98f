"""Older versions of operators, which existing models still use."""

import numpy as np

from operator_cases.case import Case, array, flags, floats, integers, longs


def cases():
    yield from shapes()
    yield from numbers()
    yield from windows()


def shapes():
    x = floats(3, 4, 5)
    yield Case("Slice", "attributes", [x], 9, starts=[1, -3], ends=[3, 100], axes=[0, 2])
    yield Case("Slice", "attributes without axes", [x], 7, starts=[0, 1], ends=[-1, 3])
    yield Case("Slice", "inputs", [x, longs(3, -1), longs(0, -100), longs(1, 2), longs(-1, -2)], 10)
    yield Case("Upsample", "attribute", [floats(1, 2, 3, 3)], 7, scales=[1.0, 1.0, 2.0, 3.0])
    yield Case("Upsample", "linear", [floats(1, 2, 3, 3), array([1, 1, 2, 2])], 9, mode="linear")
    yield Case("Upsample", "nearest", [floats(1, 2, 3, 3), array([1, 1, 1.5, 2])], 9)
    for mode in ("nearest", "linear"):
        yield Case("Resize", f"{mode} up", [floats(1, 2, 3, 4), array([1, 1, 2, 1.5])], 10, mode=mode)
        yield Case("Resize", f"{mode} down", [floats(1, 2, 5, 4), array([1, 1, 0.6, 0.5])], 10, mode=mode)
        yield Case("Resize", f"{mode} crop", [floats(1, 2, 5, 4), array([0, 0, 0.2, 0.3, 1, 1, 0.8, 1.2]), array([]),
                                              longs(1, 2, 3, 3)], 11, mode=mode,
                   coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=3.0)
        yield Case("Resize", f"{mode} half pixel", [floats(1, 2, 5, 4), array([]), array([1, 1, 1.7, 0.6])], 11,
                   mode=mode)
        yield Case("Resize", f"{mode} for nearest mode", [floats(1, 2, 4, 4), array([]), array([1, 1, 0.5, 0.5])], 11,
                   mode=mode, coordinate_transformation_mode="tf_half_pixel_for_nn")
    yield Case("Squeeze", "axes", [floats(1, 3, 1)], 11, axes=[0, -1])
    yield Case("Unsqueeze", "axes", [x], 11, axes=[-1, 0])
    yield Case("Split", "attribute", [x], 7, 2, split=[1, 3], axis=1)
    yield Case("Split", "evenly", [x], 11, 3, axis=0)
    yield Case("Pad", "attributes", [x], 7, pads=[0, 1, 0, 2, 0, 1], value=2.5)
    yield Case("Pad", "reflect", [x], 10, pads=[1, 1, 2, 0, 2, 3], mode="reflect")
    yield Case("Scatter", "plain", [floats(3, 3), array([[1, 0, 2], [0, 2, 1]], np.int64), floats(2, 3)], 9, axis=0)
    yield Case("ScatterElements", "plain", [floats(3, 3), array([[1, 0, -1]], np.int64), floats(1, 3)], 11, axis=0)
    yield Case("ScatterND", "plain", [floats(4, 2), array([[1], [3]], np.int64), floats(2, 2)], 11)
    yield Case("GatherND", "plain", [x, array([[0, 1], [2, 3]], np.int64)], 11)
    yield Case("Gather", "plain", [x, array([[0, 2]], np.int32)], 7, axis=1)
    yield Case("Flatten", "plain", [x], 9, axis=2)
    yield Case("DepthToSpace", "plain", [floats(1, 8, 2, 3)], 7, blocksize=2)
    yield Case("TopK", "attribute", [floats(3, 6)], 7, 2, k=2)
    yield Case("TopK", "input", [floats(3, 6), longs(2)], 10, 2, axis=0)
    yield Case("OneHot", "plain", [longs(0, 2, -1), longs(3), array([2, 5])], 9)
    yield Case("Reshape", "plain", [x, longs(0, -1)], 7)
    yield Case("Concat", "plain", [x, x], 7, axis=1)
    yield Case("Where", "plain", [flags(3, 1), floats(3, 2), floats(2)], 9)


def numbers():
    x = floats(3, 4)
    yield Case("Clip", "attributes", [x], 6, min=-0.5, max=0.7)
    yield Case("Clip", "inputs", [x, array(-0.5), array(0.7)], 11)
    yield Case("Dropout", "inference", [x], 10, 2)
    yield Case("Dropout", "training without drops", [x, array(0), array(True, bool)], 12, 2)
    for opset in (7, 11):
        yield Case("Gemm", "row", [floats(2, 3), floats(3, 4), floats(4)], opset, alpha=0.5)
    yield Case("BatchNormalization", "inference", [floats(2, 3, 4), floats(3), floats(3), floats(3),
                                                   floats(3, low=0.5)], 7)
    yield Case("Mod", "plain", [integers(6, low=-9), integers(6, low=1, high=5)], 10)
    yield Case("Pow", "plain", [floats(5, low=0), floats(5)], 7)
    yield Case("Pow", "mixed", [integers(5, low=1, high=4, dtype=np.int32), floats(5)], 12)
    yield Case("Equal", "plain", [integers(5, high=2), integers(5, high=2)], 7)
    yield Case("ArgMax", "plain", [x], 11, axis=1, keepdims=0)
    for op_type in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceL2", "ReduceLogSumExp"):
        yield Case(op_type, "axes", [x], 7, axes=[1])
    yield Case("CumSum", "plain", [x, array(1, np.int32)], 11)
    yield Case("QuantizeLinear", "plain", [x, array(0.02), array(100, np.uint8)], 10)
    yield Case("DequantizeLinear", "plain", [integers(3, 4, dtype=np.int8), array(0.02), array(3, np.int8)], 10)
    yield Case("Cast", "plain", [x], 9, to=7)
    yield Case("PRelu", "plain", [floats(2, 3, 4), floats(3, 1)], 9)
    yield Case("Max", "plain", [x, floats(3, 4), floats(3, 4)], 7)
    yield Case("LRN", "plain", [floats(1, 5, 3, 3)], 7, size=3)
    yield Case("EyeLike", "plain", [x], 9, k=1)
    yield Case("NonMaxSuppression", "plain", [floats(1, 8, 4, low=0, high=3), floats(1, 2, 8, low=0, high=1), longs(4),
                                              array([0.4]), array([0.1])], 10)
    yield Case("MeanVarianceNormalization", "plain", [floats(2, 3, 4, 4)], 9)


def windows():
    x = floats(1, 2, 8, 9)
    yield Case("MaxPool", "indices", [x], 8, 2, kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1])
    yield Case("MaxPool", "ceil", [x], 10, 2, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1, dilations=[1, 2])
    yield Case("MaxPool", "plain", [x], 11, kernel_shape=[2, 2])
    for opset in (7, 10, 11):
        yield Case("AveragePool", "padded", [x], opset, kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)
    yield Case("AveragePool", "ceil", [x], 10, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)
    yield Case("LpPool", "plain", [x], 11, kernel_shape=[3, 3], strides=[2, 2], p=1)
    yield Case("Conv", "plain", [x, floats(3, 2, 3, 3), floats(3)], 7, pads=[1, 1, 1, 1], strides=[2, 2])
    yield Case("ConvTranspose", "plain", [x, floats(2, 3, 3, 3), floats(3)], 7, pads=[1, 1, 1, 1], strides=[2, 2])
    yield Case("ConvTranspose", "same", [x, floats(2, 3, 3, 3)], 11, auto_pad="SAME_LOWER", strides=[2, 2])
    yield Case("MaxUnpool", "plain", [floats(1, 1, 2, 2), array([[[[0, 3], [9, 14]]]], np.int64)], 9,
               kernel_shape=[2, 2], strides=[2, 2])
    for op_type, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        yield Case(op_type, "plain", [floats(4, 2, 3), floats(1, 4 * gates, 3), floats(1, 4 * gates, 4),
                                      floats(1, 8 * gates)], 7, 2, hidden_size=4)
