"""Normalization, and activations that came with it."""

import numpy as np

from operator_cases.case import Case, array, floats, longs

HALF, DOUBLE = np.float16, np.float64


def cases():
    yield from of_rows()
    yield from of_groups()
    yield from of_batches()
    yield from activations()


def of_rows():
    for axis in (-1, 1, 2, 0):
        shape = (2, 3, 4, 5)[axis:]
        yield Case("LayerNormalization", f"axis {axis}", [floats(2, 3, 4, 5), floats(*shape), floats(*shape)], 17, 3,
                   axis=axis)
        yield Case("RMSNormalization", f"axis {axis}", [floats(2, 3, 4, 5), floats(*shape)], 23, axis=axis)
    yield Case("LayerNormalization", "no bias", [floats(2, 3, 8), floats(8)], 17, 3, epsilon=0.1)
    yield Case("LayerNormalization", "double", [floats(2, 8, dtype=DOUBLE), floats(8, dtype=DOUBLE)], 17)
    yield Case("LayerNormalization", "half", [floats(2, 8, dtype=HALF), floats(8, dtype=HALF)], 17)
    yield Case("LayerNormalization", "broadcast scale", [floats(2, 3, 4, 5), floats(5), floats(1, 5)], 17, axis=2)
    yield Case("LayerNormalization", "of equal numbers", [np.full((2, 4), 3, np.float32), floats(4)], 17, 3)
    yield Case("RMSNormalization", "epsilon", [floats(2, 3, 8), floats(8)], 23, epsilon=0.5)
    yield Case("RMSNormalization", "half", [floats(2, 8, dtype=HALF), floats(8, dtype=HALF)], 23)
    yield Case("RMSNormalization", "half in half", [floats(2, 8, dtype=HALF), floats(8, dtype=HALF)], 23, stash_type=10)
    yield Case("RMSNormalization", "double", [floats(2, 8, dtype=DOUBLE), floats(8, dtype=DOUBLE)], 23)
    yield Case("RMSNormalization", "broadcast scale", [floats(2, 3, 4, 5), floats(5)], 23, axis=2)
    yield Case("RMSNormalization", "float with half scale", [floats(2, 8, dtype=HALF), floats(8)], 23)


def of_groups():
    for groups in (1, 2, 6):
        yield Case("GroupNormalization", f"{groups} groups", [floats(2, 6, 3, 3), floats(groups), floats(groups)], 18,
                   num_groups=groups, epsilon=0.01)
        yield Case("GroupNormalization", f"{groups} groups", [floats(2, 6, 3, 3), floats(6), floats(6)], 21,
                   num_groups=groups, epsilon=0.01)
    yield Case("GroupNormalization", "line", [floats(2, 4, 7), floats(4), floats(4)], 21, num_groups=2)
    yield Case("GroupNormalization", "no space", [floats(2, 4), floats(4), floats(4)], 21, num_groups=2)
    yield Case("GroupNormalization", "volume", [floats(1, 4, 2, 3, 2), floats(4), floats(4)], 21, num_groups=2)
    yield Case("GroupNormalization", "half", [floats(2, 4, 7, dtype=HALF), floats(4, dtype=HALF),
                                              floats(4, dtype=HALF)],
               21, num_groups=2)
    yield Case("GroupNormalization", "uneven", [floats(2, 5, 7), floats(5), floats(5)], 21, num_groups=2,
               is_valid=False)


def of_batches():
    def of(channels, dtype=np.float32):
        return [floats(channels, dtype=dtype), floats(channels, dtype=dtype), floats(channels, dtype=dtype),
                floats(channels, low=0.5, high=2, dtype=dtype)]

    for opset in (9, 14, 15):
        yield Case("BatchNormalization", "inference", [floats(2, 3, 4), *of(3)], opset, epsilon=0.1)
        yield Case("BatchNormalization", "double", [floats(2, 3, 4, dtype=DOUBLE), *of(3, DOUBLE)], opset)
    for opset in (14, 15):
        yield Case("BatchNormalization", "training", [floats(2, 3, 4, 4), *of(3)], opset, 3, training_mode=1)
        yield Case("BatchNormalization", "training momentum", [floats(4, 3), *of(3)], opset, 3, training_mode=1,
                   momentum=0.3, epsilon=0.01)
    yield Case("BatchNormalization", "mixed types", [floats(2, 3, 4, dtype=HALF), floats(3, dtype=HALF),
                                                     floats(3, dtype=HALF), *of(3)[2:]], 15)
    yield Case("BatchNormalization", "line", [floats(5), *of(1)], 15)
    for shape in ((2, 3, 5), (1, 3, 4, 4), (2, 2, 3, 2, 2)):
        channels = shape[1]
        yield Case("InstanceNormalization", f"rank {len(shape)}", [floats(*shape), floats(channels), floats(channels)],
                   22, epsilon=0.05)
    for p in (1, 2):
        for axis in (-1, 0, 1):
            yield Case("LpNormalization", f"{p} axis {axis}", [floats(3, 4, 5)], 22, p=p, axis=axis)
    yield Case("LpNormalization", "of zeros", [array(np.zeros((2, 3)))], 22)
    for size in (1, 3, 4):
        yield Case("LRN", f"size {size}", [floats(2, 6, 3, 3)], 13, size=size, alpha=0.5, beta=0.6, bias=1.5)
    yield Case("MeanVarianceNormalization", "default", [floats(2, 3, 4, 4)], 13)
    yield Case("MeanVarianceNormalization", "axes", [floats(2, 3, 4)], 13, axes=[1, 2])
    for opset in (1, 11, 13):
        for axis in ((0, 1, 2) if opset < 13 else (0, 1, -1)):
            for op_type in ("Softmax", "LogSoftmax", "Hardmax"):
                yield Case(op_type, f"axis {axis}", [floats(3, 4, 5)], opset, axis=axis)
    yield Case("Softmax", "half", [floats(3, 4, dtype=HALF)], 13)
    yield Case("Softmax", "double", [floats(3, 4, dtype=DOUBLE)], 13)
    yield Case("Softmax", "infinities", [array([[np.inf, 1, 2], [-np.inf, 1, 2], [1e30, -1e30, 1e30]])], 13)
    yield Case("Softmax", "empty", [floats(2, 0)], 13)
    yield Case("Hardmax", "ties", [array([[1, 3, 3], [2, 2, 2]])], 13)


def activations():
    x = array([-np.inf, -100, -3, -1, -0.5, -0.0, 0, 0.5, 1, 3, 100, np.inf, np.nan])
    spread = floats(3, 37, low=-6, high=6)
    listed = (
        ("Gelu", 20, {}), ("Gelu", 20, {"approximate": "tanh"}), ("Mish", 18, {}), ("Mish", 22, {}), ("Swish", 24, {}),
        ("Swish", 24, {"alpha": 1.7}), ("HardSwish", 14, {}), ("HardSigmoid", 6, {"alpha": 0.3, "beta": 0.4}),
        ("Elu", 6, {"alpha": 1.5}), ("Selu", 6, {}), ("Selu", 6, {"alpha": 1.2, "gamma": 2.0}),
        ("Celu", 12, {"alpha": 0.7}), ("LeakyRelu", 16, {"alpha": 0.2}), ("ThresholdedRelu", 22, {"alpha": 0.8}),
        ("Softplus", 22, {}), ("Softsign", 22, {}), ("Shrink", 9, {"lambd": 0.7, "bias": 0.3}), ("Relu", 14, {}),
        ("Sigmoid", 13, {}), ("Tanh", 13, {}), ("Erf", 13, {}), ("Exp", 13, {}), ("Sign", 13, {}), ("Abs", 13, {}),
        ("Ceil", 13, {}), ("Floor", 13, {}), ("Round", 22, {}), ("Reciprocal", 13, {}), ("Sin", 22, {}),
        ("Cos", 22, {}),
        ("Tan", 22, {}), ("Sinh", 22, {}), ("Cosh", 22, {}), ("Atan", 22, {}), ("Asinh", 22, {}), ("Neg", 13, {}),
        ("Log", 13, {}), ("Sqrt", 13, {}), ("Asin", 22, {}), ("Acos", 22, {}), ("Acosh", 22, {}), ("Atanh", 22, {}),
    )
    for i, (op_type, opset, attributes) in enumerate(listed):
        yield Case(op_type, f"{i}", [spread], opset, **attributes)
        yield Case(op_type, f"{i} edges", [x], opset, **attributes)
        yield Case(op_type, f"{i} double", [floats(9, dtype=DOUBLE)], opset, **attributes)
        yield Case(op_type, f"{i} half", [floats(9, dtype=HALF)], opset, **attributes)
    yield Case("PRelu", "channel slopes", [floats(2, 3, 4), floats(3, 1)], 16)
    yield Case("PRelu", "integers", [array([-2, 3], np.int32), array([2, 2], np.int32)], 16)
    yield Case("Clip", "no bounds", [floats(5)], 13)
    yield Case("Clip", "lower above upper", [floats(5), array(1), array(-1)], 13)
    yield Case("Clip", "bytes", [array([1, 5, 250], np.uint8), array(2, np.uint8), array(200, np.uint8)], 13)
    yield Case("Clip", "only upper", [floats(5), None, array(0.5)], 13)
    yield Case("Dropout", "inference", [floats(2, 3)], 22, 2)
    yield Case("CumSum", "exclusive reverse", [floats(2, 3, 4), array(1, np.int64)], 14, exclusive=1, reverse=1)
    yield Case("CumSum", "exclusive", [floats(2, 3, 4), array(-1, np.int64)], 14, exclusive=1)
    yield Case("CumSum", "reverse", [floats(2, 3, 4), longs(0)], 14, reverse=1)
