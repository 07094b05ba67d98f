"""Sizes that reach the fast paths: vectors with a remainder, threads, blocked layouts. Compared, not recorded."""

import itertools

import numpy as np

from operator_cases.case import Case, array, flags, floats, integers, longs

HALF, DOUBLE = np.float16, np.float64


def case(op_type, name, inputs, opset, outputs=1, **attributes):
    return Case(op_type, "large " + name, inputs, opset, outputs, is_recorded=False, **attributes)


def cases():
    yield from elementwise()
    yield from rows()
    yield from windows()
    yield from products()
    yield from moved()


def elementwise():
    x = floats(37, 1013, low=-8, high=8)
    for op_type in ("Relu", "Sigmoid", "Tanh", "Erf", "Exp", "Gelu", "HardSwish", "Softplus", "Elu", "Mish", "Round",
                    "Sin",
                    "Floor", "Abs"):
        opset = {"Gelu": 20, "Mish": 18, "HardSwish": 14}.get(op_type, 13)
        yield case(op_type, "plain", [x], opset)
        yield case(op_type, "half", [floats(3, 1013, low=-4, high=4, dtype=HALF)], opset)
    for op_type, (name, a, b) in itertools.product(
            ("Add", "Mul", "Div", "Sub", "Pow", "Max", "Less", "Equal"),
            (("same", (19, 1021), (19, 1021)), ("row", (19, 1021), (1021,)), ("column", (19, 1021), (19, 1)),
             ("both", (31, 1, 67), (1, 45, 1)), ("channels", (2, 33, 29, 3), (33, 1, 1)), ("scalar", (19, 1021), ()))):
        yield case(op_type, name, [floats(*a, low=0.1), floats(*b, low=0.1)], 13)
    yield case("Where", "broadcast", [flags(17, 1, 131), floats(23, 131), floats()], 16)
    for to in (1, 2, 3, 6, 7, 9, 10, 11):
        yield case("Cast", f"to {to}", [floats(5, 1031, low=0, high=100)], 13, to=to)
        yield case("Cast", f"int32 to {to}", [integers(5, 1031, high=100, dtype=np.int32)], 13, to=to)
    for dtype in (np.uint8, np.int8):
        yield case("QuantizeLinear", np.dtype(dtype).name, [floats(9, 1031), array(0.017), array(5, dtype)], 13)
        yield case("DequantizeLinear", np.dtype(dtype).name + " rows",
                   [integers(67, 131, high=127, dtype=dtype), floats(67), integers(67, high=9, dtype=dtype)], 13,
                   axis=0)


def rows():
    for shape, axis in (((65, 1027), 1), ((65, 1027), 0), ((9, 67, 33), 1), ((3, 5, 7, 131), 2)):
        name = f"{len(shape)} {axis}"
        x = floats(*shape)
        for op_type in ("Softmax", "LogSoftmax"):
            yield case(op_type, name, [x], 13, axis=axis)
        for op_type in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceL2", "ReduceLogSumExp", "ReduceProd"):
            opset = {"ReduceSum": 13, "ReduceMax": 20}.get(op_type, 18)
            yield case(op_type, name, [floats(*shape, low=0.99, high=1.01), longs(axis)], opset)
            yield case(op_type, name + " half", [floats(*shape, low=0.99, high=1.01, dtype=HALF), longs(axis)], opset)
        yield case("ArgMax", name, [x], 13, axis=axis)
        yield case("CumSum", name, [floats(*shape, low=0), array(axis, np.int64)], 14)
        yield case("TopK", name, [x, longs(3)], 11, 2, axis=axis)
    for size in (256, 1000, 771):
        yield case("LayerNormalization", f"{size}", [floats(33, size), floats(size), floats(size)], 17)
        yield case("RMSNormalization", f"{size}", [floats(33, size), floats(size)], 23)
        yield case("DFT", f"{size}", [floats(3, size, 1)], 17, axis=1)
    yield case("DFT", "prime", [floats(1, 1009, 2)], 17, axis=1)
    yield case("BatchNormalization", "image", [floats(2, 65, 17, 19), floats(65), floats(65), floats(65),
                                               floats(65, low=0.5)], 15)
    yield case("BatchNormalization", "training", [floats(4, 33, 17, 19), floats(33), floats(33), floats(33),
                                                  floats(33, low=0.5)], 15, 3, training_mode=1)
    yield case("InstanceNormalization", "image", [floats(2, 33, 31, 17), floats(33), floats(33)], 6 + 1)
    yield case("GroupNormalization", "image", [floats(2, 64, 31, 17), floats(64), floats(64)], 21, num_groups=8)
    yield case("LRN", "image", [floats(2, 64, 31, 17)], 13, size=5)


def windows():
    x = floats(2, 33, 37, 41)
    for kernel, stride, pad in ((3, 1, 1), (3, 2, 1), (2, 2, 0), (7, 3, 3)):
        given = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [pad] * 4}
        name = f"{kernel} {stride}"
        for op_type in ("MaxPool", "AveragePool"):
            yield case(op_type, name, [x], 12 if op_type == "MaxPool" else 19, **given)
        for channels, groups in ((17, 1), (66, 33)):
            yield case("Conv", f"{name} {groups}", [x, floats(channels, 33 // groups, kernel, kernel, low=-0.3,
                                                              high=0.3),
                                                    floats(channels)], 11, group=groups, **given)
        yield case("ConvTranspose", name, [floats(1, 33, 13, 11), floats(33, 18, kernel, kernel, low=-0.3, high=0.3)],
                   11,
                   strides=[stride] * 2, pads=[pad] * 4)
    yield case("Conv", "half", [floats(1, 16, 17, 19, dtype=HALF), floats(8, 16, 3, 3, dtype=HALF, low=-0.1, high=0.1)],
               22)
    for op_type in ("GlobalAveragePool", "GlobalMaxPool"):
        yield case(op_type, "image", [x], 13)
    for mode, form in itertools.product(("nearest", "linear", "cubic"), ("half_pixel", "asymmetric")):
        for scale in (1.37, 0.71):
            yield case("Resize", f"{mode} {form} {scale}", [floats(2, 5, 67, 71), None, array([1, 1, scale, scale])],
                       19,
                       mode=mode, coordinate_transformation_mode=form)
    for mode in ("linear", "cubic"):
        yield case("Resize", f"{mode} antialias", [floats(1, 3, 67, 71), None, None, longs(1, 3, 19, 23)], 19,
                   mode=mode,
                   antialias=1)
    yield case("GridSample", "image", [floats(2, 9, 31, 33), floats(2, 29, 41, 2, low=-1.2, high=1.2)], 20)
    yield case("DeformConv", "image", [floats(1, 16, 17, 19), floats(8, 16, 3, 3, low=-0.3, high=0.3),
                                       floats(1, 18, 15, 17)],
               19)


def products():
    for m, k, n in ((1, 257, 129), (65, 33, 17), (127, 129, 131), (3, 1030, 5)):
        yield case("MatMul", f"{m} {k} {n}", [floats(m, k, low=-0.5, high=0.5), floats(k, n)], 13)
        yield case("Gemm", f"{m} {k} {n}", [floats(k, m, low=-0.5, high=0.5), floats(n, k), floats(n)], 13, transA=1,
                   transB=1)
        yield case("MatMulInteger", f"{m} {k} {n}", [integers(m, k, high=255, dtype=np.uint8),
                                                     integers(k, n, low=-128, high=127, dtype=np.int8),
                                                     array(99, np.uint8)], 10)
    yield case("MatMul", "batched", [floats(3, 4, 33, 65, low=-0.5, high=0.5), floats(4, 65, 17)], 13)
    yield case("MatMul", "half", [floats(33, 65, dtype=HALF, low=-0.2, high=0.2), floats(65, 17, dtype=HALF)], 13)
    yield case("Einsum", "heads", [floats(2, 4, 37, 16), floats(2, 4, 41, 16)], 12, equation="bhid,bhjd->bhij")
    for causal, kv in ((0, 8), (1, 2)):
        yield case("Attention", f"heads {causal}", [floats(2, 8, 67, 32), floats(2, kv, 67, 32), floats(2, kv, 67, 48)],
                   23,
                   is_causal=causal)
    for op_type, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        for size, hidden in ((65, 33), (32, 64)):
            yield case(op_type, f"{size} {hidden}", [floats(11, 5, size),
                                                     floats(2, gates * hidden, size, low=-0.2, high=0.2),
                                                     floats(2, gates * hidden, hidden, low=-0.2, high=0.2),
                                                     floats(2, 2 * gates * hidden)], 14, 2, hidden_size=hidden,
                       direction="bidirectional")


def moved():
    for perm in ((0, 2, 1, 3), (0, 2, 3, 1), (3, 2, 1, 0), (1, 0, 3, 2), (0, 1, 3, 2)):
        for dtype in (np.float32, np.uint8, np.int64):
            yield case("Transpose", f"{perm[0]}{perm[1]}{perm[2]}{perm[3]} {np.dtype(dtype).name}",
                       [integers(5, 17, 33, 19, high=100, dtype=dtype)], 13, perm=list(perm))
    x = floats(33, 67, 35)
    for axis in (0, 1, 2):
        yield case("Gather", f"{axis}", [x, integers(7, 11, low=-33, high=33)], 13, axis=axis)
        yield case("GatherElements", f"{axis}", [x, integers(31, 21, 13, high=33)], 13, axis=axis)
        yield case("ScatterElements", f"{axis}", [x, integers(31, 21, 13, high=33), floats(31, 21, 13)], 18, axis=axis,
                   reduction="max")
        yield case("Concat", f"{axis}", [x, x, x], 13, axis=axis)
        yield case("Split", f"{axis}", [x], 18, 3, axis=axis, num_outputs=3)
    yield case("ScatterND", "rows", [floats(331, 65), integers(97, 1, high=331), floats(97, 65)], 18, reduction="add")
    yield case("Slice", "steps", [x, longs(31, 1, -1), longs(-100, 100, -100), longs(0, 1, 2), longs(-2, 3, -1)], 13)
    yield case("Pad", "reflect", [x, longs(3, 0, 5, 7, 2, 0)], 18, mode="reflect")
    yield case("Expand", "rows", [floats(31, 1, 67), longs(3, 31, 17, 67)], 13)
    yield case("Tile", "plain", [x, longs(2, 1, 3)], 13)
    yield case("Unique", "line", [integers(3001, high=97)], 11, 4)
    yield case("NonZero", "flags", [flags(131, 97)], 13)
    yield case("Compress", "rows", [x, flags(67)], 11, axis=1)
    yield case("OneHot", "plain", [integers(517, high=37), longs(37), array([0, 1])], 11)
    yield case("NonMaxSuppression", "plain", [floats(1, 300, 4, low=0, high=20), floats(1, 3, 300, low=0, high=1),
                                              longs(50),
                                              array(0.5), array(0.3)], 11)
